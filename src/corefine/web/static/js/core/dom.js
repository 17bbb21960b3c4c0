/** Building the page. Text only ever becomes text nodes; there is no way here to turn a string into markup. */

/**
 * An element. `props` may have `class`, `on` (events), `data`, and attributes; true and false set and leave out.
 * Children are nodes, strings, numbers, or null for nothing.
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element of an SVG. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export const kbd = (key) => h("kbd", { "aria-hidden": "true" }, key);

/** A button with the key that does the same. */
export function button(label, { key = null, keys = null, run = null, ...props } = {}) {
  const shortcut = keys ?? (key && key.length === 1 ? key.toLowerCase() : key);
  return h(
    "button",
    { type: "button", "aria-keyshortcuts": shortcut, on: run ? { click: run } : {}, ...props },
    h("span", {}, label),
    key && kbd(key),
  );
}

/** Text from a document. Right-to-left characters in it do not change the direction of the text around it. */
export const quoted = (text, props = {}) => h("bdi", props, shortened(visible(text)));

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
const JOINERS = /[\u200c\u200d\ufe00-\ufe0f]/gu; // part of many scripts' words and of emoji, and nothing without them

/** Whether a text has nothing to see. */
export const blank = (text) => !text.replace(CONTROLS, "").replace(JOINERS, "").trim();

/** A text without control characters; where nothing is left, the names of its characters. */
export function visible(text) {
  if (!blank(text)) return text.replace(CONTROLS, "");
  const points = [...text].slice(0, 4).map((c) => `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
  return `[${points.join(" ") || "empty"}]`;
}

export function shortened(text, limit = 160) {
  return text.length <= limit ? text : `${[...text.slice(0, limit + 1)].slice(0, limit).join("")}…`;
}

export const replace = (element, ...children) => {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};
