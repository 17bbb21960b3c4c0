/** A list of entities and spans, each with its place, that typing filters and extends. A combobox with a listbox. */

import { h, kbd, quoted, replace, visible } from "../core/dom.js";
import { percent, plural } from "../core/format.js";

const SHOWN = 60;
let count = 0;

export class EntityList {
  /**
   * `choose(entry)` takes one; `preview(entry or null, {scroll})` follows the highlighted one; `search(words, shown)`
   * finds more entries than are listed.
   */
  constructor({ label = "Type to find an entity", choose, preview = () => {}, search = () => [], numbered = true }) {
    this.choose = choose;
    this.preview = preview;
    this.search = search;
    this.numbered = numbered;
    this.entries = [];
    this.found = [];
    this.at = -1;
    this.id = `entities-${(count += 1)}`;
    this.input = h("input", {
      type: "text",
      role: "combobox",
      placeholder: label,
      "aria-label": label,
      "aria-expanded": "true",
      "aria-controls": this.id,
      "aria-autocomplete": "list",
      "aria-keyshortcuts": "/",
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.filter(), keydown: (event) => this.key(event), blur: () => this.highlight(-1) },
    });
    this.list = h("ul", { id: this.id, role: "listbox", "aria-label": label });
    this.element = h("div", { class: "entity-list" }, h("div", { class: "filter" }, this.input, kbd("/")), this.list);
    this.list.addEventListener("pointerdown", (event) => event.preventDefault()); // the input keeps the focus
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) this.choose(this.found[Number(row.dataset.index)]);
    });
  }

  /** Entries as {name, place, spans, texts, probability}, as finder.js makes them, the likeliest first. */
  show(entries) {
    this.entries = entries;
    this.input.value = "";
    this.filter();
  }

  filter() {
    const wanted = this.input.value.trim().toLocaleLowerCase();
    const fits = ({ texts }) => !wanted || texts.some((text) => text.toLocaleLowerCase().includes(wanted));
    const starts = ({ texts }) => Number(!texts.some((text) => text.toLocaleLowerCase().startsWith(wanted)));
    let found = this.entries.filter(fits);
    if (wanted) found = [...found.sort((a, b) => starts(a) - starts(b)), ...this.search(wanted, found)];
    this.found = found.slice(0, SHOWN);
    this.at = -1;
    const rows = this.found.map((entry, index) => this.row(entry, index, wanted));
    const rest = found.length - this.found.length;
    if (!rows.length) rows.push(h("li", { class: "none", role: "presentation" }, wanted ? "These words do not occur before the mention." : "No entity is known yet. Select words in the text."));
    if (rest > 0) rows.push(h("li", { class: "none", role: "presentation" }, `and ${rest} more: type to filter`));
    replace(this.list, rows);
    this.input.removeAttribute("aria-activedescendant");
    if (wanted && this.found.length) this.highlight(0);
  }

  row(entry, index, wanted) {
    const { name, place, spans, probability } = entry;
    const times = spans.length > 1 ? `×${spans.length}` : "";
    const also = wanted && entry.texts.find((text) => text !== name && text.toLocaleLowerCase().includes(wanted));
    const other = also && !name.toLocaleLowerCase().includes(wanted) ? also : null;
    const bar = h("span", { class: "bar-fill" });
    bar.style.setProperty("--share", probability ?? 0);
    const hint = !wanted && this.numbered && index < 9 ? kbd(String(index + 1)) : h("kbd", { class: "no", "aria-hidden": "true" });
    return h(
      "li",
      {
        id: `${this.id}-${index}`,
        role: "option",
        "aria-selected": "false",
        data: { index },
        "aria-label": `${visible(name)}, sentence ${place}, ${entry.plain ? "text" : plural(spans.length, "mention")}${probability ? `, ${percent(probability)}` : ""}`,
        on: { pointerenter: () => this.preview(entry), pointerleave: () => this.preview(null) },
      },
      hint,
      h("span", { class: entry.plain ? "first plain" : "first" }, quoted(name), other && h("span", { class: "also" }, " also ", quoted(other))),
      h("span", { class: "count" }, `s. ${place}`, times && ` ${times}`, probability >= 0.005 ? ` · ${percent(probability)}` : ""),
      probability >= 0.005 ? bar : null,
    );
  }

  highlight(index) {
    this.list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    this.at = index;
    const row = this.list.children[index];
    if (!row || index < 0) {
      this.input.removeAttribute("aria-activedescendant");
      this.preview(null);
      return;
    }
    row.setAttribute("aria-selected", "true");
    row.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", row.id);
    this.preview(this.found[index], { scroll: true });
  }

  key(event) {
    const size = this.found.length;
    if (event.key === "ArrowDown" && size) this.highlight((this.at + 1) % size);
    else if (event.key === "ArrowUp" && size) this.highlight((this.at - 1 + size) % size);
    else if (event.key === "Enter" && this.at >= 0) this.choose(this.found[this.at]);
    else if (event.key === "Escape") this.input.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Take the entry with this number in the unfiltered list. */
  pick(number) {
    if (!this.input.value && this.found[number - 1]) this.choose(this.found[number - 1]);
  }

  focus() {
    this.input.focus();
    this.input.select();
  }
}
