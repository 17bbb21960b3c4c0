/** How documents that are added are read: their language, and what the entities that come with them are used as. */

import { get } from "../core/api.js";
import { h } from "../core/dom.js";
import { plural } from "../core/format.js";

const USES = {
  answers: ["answers already given", "are used as answers already given"],
  suggestions: ["suggestions", "are used as suggestions"],
  gold: ["gold to score the model on", "are used as gold: the model is scored on them, and nobody is asked about them"],
  ignore: ["nothing", "are not used"],
};

export class UploadOptions {
  constructor() {
    this.names = {};
    this.language = h("select", { name: "language" }, h("option", { value: "auto" }, "detected from the text"));
    this.annotations = h("select", { name: "annotations" }, ...Object.entries(USES).map(([value, [label]]) => h("option", { value }, label)));
    this.element = h(
      "div",
      { class: "upload-options row" },
      h("label", {}, "Language ", this.language),
      h("label", { title: "Some files come with entities that were annotated elsewhere" }, "Use their entities as ", this.annotations),
    );
    this.load();
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
    return `&language=${encodeURIComponent(this.language.value)}&annotations=${this.annotations.value}`;
  }

  /** The languages of what was added, and what became of its entities, in words. */
  told(results) {
    const codes = [...new Set(results.flatMap(({ languages }) => languages))];
    const names = codes.map((code) => this.names[code.toLowerCase().split("-")[0]] ?? code);
    const how = this.language.value === "auto" ? "detected as" : "language:";
    const annotated = results.reduce((sum, each) => sum + each.annotated, 0);
    const entities = annotated ? `; the entities of ${plural(annotated, "document")} ${USES[this.annotations.value][1]}` : "";
    return `${names.length ? `; ${how} ${names.join(", ")}` : ""}${entities}`;
  }
}
