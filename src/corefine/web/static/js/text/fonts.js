/** Whether the browser can draw a text's letters, or only boxes in their place. */

const SAMPLE = 12; // letters that are tried
const LATIN = /[\u0000-\u024f]/u; // every browser has these
const MISSING = "\u{10fffd}"; // a character that no font has
const SIZE = 24;

/** Whether most of the letters that are not Latin have no glyph in the fonts of `element`. */
export function lacksGlyphs(text, element) {
  const letters = [...new Set(text.match(/\p{L}/gu) ?? [])].filter((letter) => !LATIN.test(letter)).slice(0, SAMPLE);
  if (!letters.length) return false;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 2 * SIZE;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.font = `${SIZE}px ${getComputedStyle(element).fontFamily}`;
  pen.textBaseline = "top";
  const drawn = (letter) => {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.fillText(letter, SIZE / 2, SIZE / 2);
    return pen.getImageData(0, 0, canvas.width, canvas.height).data.join();
  };
  const box = drawn(MISSING);
  return 2 * letters.filter((letter) => drawn(letter) === box).length > letters.length;
}
