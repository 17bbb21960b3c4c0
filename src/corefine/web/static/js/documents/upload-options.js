/** How documents that are added are read: their language, and what the entities that come with them are used as. */

import { get } from "../core/api.js";
import { dialog } from "../core/dialog.js";
import { button, h } from "../core/dom.js";
import { plural } from "../core/format.js";

const PLAIN = /\.(txt|text)$/i; // files that cannot contain entities
const USES = {
  answers: ["Answers already given", "They stand until somebody withdraws them. The model learns from them.", "are used as answers already given"],
  suggestions: ["Suggestions", "People are asked about them, as about guesses of the model.", "are used as suggestions"],
  gold: ["Gold", "The model is scored on these documents, and nobody is asked about them.", "are used as gold: the model is scored on them, and nobody is asked about them"],
  ignore: ["Nothing", "The documents begin without entities.", "are not used"],
};

export class UploadOptions {
  constructor() {
    this.names = {};
    this.language = h("select", { name: "language" }, h("option", { value: "auto" }, "detected from the text"));
    this.use = "answers"; // as it was chosen last
    this.element = h("label", { class: "upload-options" }, "Language ", this.language);
    this.load();
  }

  /** Ask how to use the entities of files that can contain some. Resolves with false if the person thinks better of it. */
  async ask(files) {
    const able = files.filter(({ name }) => !PLAIN.test(name));
    if (!able.length) return true;
    const choice = ([value, [label, help]]) => {
      const box = h("input", { type: "radio", name: "use", value, checked: value === this.use });
      return h("label", { class: "check" }, box, h("span", {}, h("strong", {}, label), h("span", { class: "help" }, ` ${help}`)));
    };
    const form = h("form", { class: "stack" }, h("fieldset", { class: "stack" }, h("legend", {}, "If so, what are they?"), ...Object.entries(USES).map(choice)));
    const which = able.length === 1 ? `“${able[0].name}” may come` : `${plural(able.length, "file")} may come`;
    const use = await dialog({
      label: "Entities in the files",
      content: (close) => {
        form.addEventListener("submit", (event) => (event.preventDefault(), close(new FormData(form).get("use"))));
        form.append(h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Add"), button("Cancel", { key: "Esc", keys: "Escape", run: () => close(null) })));
        setTimeout(() => form.querySelector(":checked").focus());
        return [h("h2", {}, "Entities in the files"), h("p", {}, `${which} with entities that were annotated before.`), form];
      },
    });
    if (use) this.use = use;
    return Boolean(use);
  }

  async load() {
    const { names, chosen } = await get("/languages");
    this.names = names;
    const sorted = Object.entries(names).sort(([a, x], [b, y]) => Number(b === "auto") - Number(a === "auto") || x.localeCompare(y, "en"));
    this.language.replaceChildren(...sorted.map(([code, name]) => h("option", { value: code }, name)));
    this.language.value = chosen;
  }

  /** What is sent with a file. */
  get query() {
    return `&language=${encodeURIComponent(this.language.value)}&annotations=${this.use}`;
  }

  /** The languages of what was added, and what became of its entities, in words. */
  told(results) {
    const codes = [...new Set(results.flatMap(({ languages }) => languages))];
    const names = codes.map((code) => this.names[code.toLowerCase().split("-")[0]] ?? code);
    const how = this.language.value === "auto" ? "detected as" : "language:";
    const annotated = results.reduce((sum, each) => sum + each.annotated, 0);
    const entities = annotated ? `; the entities of ${plural(annotated, "document")} ${USES[this.use][2]}` : "";
    return `${names.length ? `; ${how} ${names.join(", ")}` : ""}${entities}`;
  }
}
