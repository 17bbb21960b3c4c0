/** Preferences kept in this browser: theme, text size, underlines, whether the tutorial was done, a message for the next visit. */

const read = (name, fallback) => {
  try {
    return localStorage.getItem(`corefine.${name}`) ?? fallback;
  } catch {
    return fallback;
  }
};
const write = (name, value) => {
  try {
    localStorage.setItem(`corefine.${name}`, value);
  } catch {
    // It is not stored, but holds until the page is left.
  }
};

const THEMES = ["auto", "light", "dark"];
const SIZES = [0.9, 1, 1.15, 1.3, 1.5];
let theme = read("theme", "auto");
let size = Number(read("size", "1"));

function apply() {
  const root = document.documentElement;
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  if (size === 1) root.style.removeProperty("--text-size");
  else root.style.setProperty("--text-size", `${1.1875 * size}rem`);
}

export function nextTheme() {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  write("theme", theme);
  apply();
  return theme;
}

export function resize(step) {
  const index = Math.max(0, SIZES.indexOf(size)) + step;
  size = SIZES[Math.min(Math.max(index, 0), SIZES.length - 1)];
  write("size", String(size));
  apply();
}

export const tutorial = {
  get done() {
    return read("tutorial", "") === "done";
  },
  set done(value) {
    write("tutorial", value ? "done" : "");
  },
};

/** A message to show when the page is loaded again; reading it takes it away. */
export const lastWords = {
  set text(value) {
    write("last-words", value);
  },
  take() {
    const text = read("last-words", "");
    write("last-words", "");
    return text;
  },
};

export const underlines = {
  get on() {
    return read("underlines", "off") === "on";
  },
  set on(value) {
    write("underlines", value ? "on" : "off");
  },
};

apply();
