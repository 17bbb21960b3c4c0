/** Numbers, times and steps in words. */

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;
export const plural = (count, word, many = `${word}s`) => `${count.toLocaleString("en")} ${count === 1 ? word : many}`;

/** "4 s", "12 min", "2.5 h" */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

export const fixed = (value, digits = 1) => (value === null || value === undefined ? "–" : value.toFixed(digits));

export function when(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.valueOf()) ? "" : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** What is said after an undo or redo; `did` is the entry that it was about, if there is one. A withdrawal that is undone brings it back. */
export function stepped(name, did, where = "") {
  const usual = name === "undo" ? "Undone" : "Redone";
  const word = !did || did.stands === (name === "redo") ? usual : did.stands ? "Brought back" : "Withdrawn again";
  return `${word}${where}${did ? `: ${did.said}` : ""}`;
}
