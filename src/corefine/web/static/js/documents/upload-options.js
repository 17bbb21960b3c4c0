/** How documents that are added are read: their language. */

import { get } from "../core/api.js";
import { h } from "../core/dom.js";

export class UploadOptions {
  constructor() {
    this.names = {};
    this.language = h("select", { name: "language" }, h("option", { value: "auto" }, "detected from the text"));
    this.element = h("p", { class: "row upload-options" }, h("label", {}, "Language ", this.language));
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
    return `&language=${encodeURIComponent(this.language.value)}`;
  }

  /** The languages of what was added, in words. */
  told(results) {
    const codes = [...new Set(results.flatMap(({ languages }) => languages))];
    if (!codes.length) return "";
    const names = codes.map((code) => this.names[code.toLowerCase().split("-")[0]] ?? code);
    const how = this.language.value === "auto" ? " (detected; if that is wrong, choose the language and add the file under another name)" : "";
    return `; language: ${names.join(", ")}${how}`;
  }
}
