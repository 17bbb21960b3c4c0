/** Writing the guidelines, with what annotators will see beside it. */

import { get, put } from "../core/api.js";
import { button, h, replace } from "../core/dom.js";
import { markdown } from "../core/markdown.js";

export async function show(body, app, page) {
  const { markdown: text } = await get("/guidelines");
  let saved = text;
  const state = h("span", { class: "help", role: "status" });
  const preview = h("div", { class: "panel-box preview", "aria-label": "Preview", role: "region", tabindex: "0" });
  const draw = () => replace(preview, markdown(area.value));
  const changed = () => {
    draw();
    state.textContent = area.value === saved ? "" : "Not saved yet";
  };
  const area = h("textarea", { rows: "22", maxlength: "200000", "aria-label": "Guidelines in Markdown", spellcheck: "true", on: { input: changed } });
  area.value = text;
  const save = async () => {
    await put("/guidelines", { markdown: area.value });
    saved = area.value;
    state.textContent = "Saved";
  };
  replace(
    body,
    h("h1", {}, "Guidelines"),
    h("p", { class: "soft" }, "What counts as a mention, and what as the same entity, in your project. Markdown: headings, lists, quotes, emphasis, code and links."),
    h("div", { class: "two" }, area, preview),
    h("div", { class: "row" }, button("Save", { key: "Ctrl S", keys: "Control+S", class: "primary", run: save }), state),
  );
  page.keys.push({ keys: ["Ctrl+s"], label: "Save the guidelines", group: "Guidelines", fields: true, run: save });
  draw();
}
