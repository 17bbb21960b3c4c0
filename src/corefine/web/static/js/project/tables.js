/** Tables of numbers. */

import { h } from "../core/dom.js";

/** `columns` are [title, value of a row, is a number]. */
export function table(caption, columns, rows) {
  return h(
    "div",
    { class: "scroll-x", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "sr" }, caption),
      h("thead", {}, h("tr", {}, ...columns.map(([title, , number]) => h("th", { scope: "col", class: number ? "number" : "" }, title)))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...columns.map(([, value, number]) => h("td", { class: number ? "number" : "" }, value(row)))))),
    ),
  );
}

/** Large numbers side by side: [label, value]. */
export const figures = (pairs) => h("dl", { class: "figures" }, ...pairs.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value))));
