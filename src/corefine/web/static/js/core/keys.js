/**
 * All keys in one place. A binding is {keys: ["y"], label, group, run, when?, fields?}; the layers (the app, its page, an
 * open dialog) are searched from the top, and an exclusive layer hides those below it.
 */

const layers = [];
const setting = "corefine.keys";

export const singleKeys = {
  get on() {
    return localStorage.getItem(setting) !== "off";
  },
  set on(value) {
    localStorage.setItem(setting, value ? "on" : "off");
  },
};

/** Add a layer; returns what removes it. */
export function layer(bindings, { exclusive = false } = {}) {
  const added = { bindings, exclusive };
  layers.push(added);
  return () => {
    const index = layers.indexOf(added);
    if (index >= 0) layers.splice(index, 1);
  };
}

/** Bindings that work now, the topmost layer first. */
export function active() {
  const found = [];
  for (const { bindings, exclusive } of [...layers].reverse()) {
    found.push(...bindings);
    if (exclusive) break;
  }
  return found;
}

/** "Shift+z", "Ctrl+z", "?", "ArrowLeft": letters small, Shift only named with letters and named keys. */
export function nameOf(event) {
  let key = event.key;
  // A layout without Latin letters: take the letter that stands on the key.
  if (/^Key[A-Z]$/.test(event.code) && !/^[\x20-\x7e]$/.test(key) && key.length === 1) key = event.code.slice(3);
  if (key === " ") key = "Space";
  const letter = key.length === 1;
  const named = letter ? key.toLowerCase() : key;
  const shift = event.shiftKey && (!letter || /[a-z]/i.test(key));
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${shift ? "Shift+" : ""}${named}`;
}

const FIELDS = "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]";

/** Whether the control in focus takes this key itself. */
const taken = (target, name) =>
  target instanceof Element &&
  ((name === "Enter" && target.closest("button, a, summary")) || (name === "Space" && target.closest("button, summary, input")));

function handle(event) {
  if (event.isComposing || event.defaultPrevented) return;
  const name = nameOf(event);
  const field = event.target instanceof Element && event.target.closest(FIELDS);
  if (!field && taken(event.target, name)) return;
  if (name.length === 1 && !singleKeys.on) return;
  for (const binding of active()) {
    if (!binding.keys.includes(name) || (field && !binding.fields) || (binding.when && !binding.when())) continue;
    if (event.repeat && !binding.repeats) {
      event.preventDefault();
      return;
    }
    event.preventDefault();
    binding.run(event);
    return;
  }
}

document.addEventListener("keydown", handle);

const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", Space: "Space" };
/** How a key is written on the page. */
export const written = (name) =>
  name
    .split(/(?<=.)\+(?=.)/)
    .map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(" ");
