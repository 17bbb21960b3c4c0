/** One question about several mentions with the same words: all of them marked, each can be struck out. */

import { h, kbd, quoted, replace } from "../core/dom.js";
import { first, holds, key, last } from "../text/spans.js";

const AROUND = 5; // words of context on each side
const LEAST = 2; // mentions that must be left for a yes

export class Group {
  /** `changed()` hears of every change. */
  constructor(reader, changed) {
    this.reader = reader;
    this.changed = changed;
    this.spans = [];
    this.out = new Set(); // keys of those that are struck out
    this.rows = [];
    this.at = 0;
    this.element = h("div", { class: "group", hidden: true });
  }

  /** Ask about these spans, none of them struck out; the one that was chosen comes first into view. */
  ask(spans, chosen) {
    this.spans = spans;
    this.out = new Set();
    this.at = Math.max(0, spans.findIndex((span) => key(span) === key(chosen)));
    this.rows = spans.map((span, index) => this.row(span, index));
    replace(
      this.element,
      h("h2", {}, "Strike out what is something else"),
      h("ul", { "aria-label": "The mentions" }, ...this.rows.map((row) => h("li", {}, row))),
      h("p", { class: "help" }, "These words occur several times, and the model takes them for one entity. ↑ ↓ go through them; S or a click strikes one out. You can also click them in the text."),
    );
    this.draw();
  }

  row(span, index) {
    const { view } = this.reader;
    const from = Math.max(0, first(span) - AROUND);
    const to = Math.min(view.tokens.length - 1, last(span) + AROUND);
    const space = (token) => (view.spaced[token] ? " " : "");
    const before = from < first(span) ? view.words([from, first(span) - 1]) + space(first(span) - 1) : "";
    const after = last(span) < to ? space(last(span)) + view.words([last(span) + 1, to]) : "";
    return h(
      "button",
      { type: "button", class: "row-choice", "aria-keyshortcuts": index < 9 ? String(index + 1) : null, on: { click: () => this.toggle(index) } },
      index < 9 ? kbd(String(index + 1)) : null,
      h("span", { class: "first" }, quoted(before, { class: "before" }), quoted(view.words(span), { class: "words" }), quoted(after)),
      h("span", { class: "count" }, `s. ${view.sentenceOf[first(span)] + 1}`),
    );
  }

  /** Take the marks off. */
  clear() {
    this.spans = [];
    this.element.hidden = true;
    for (const name of ["member", "struck"]) this.reader.view?.markAll(name, []);
  }

  toggle(index) {
    const span = this.spans[index];
    if (!span) return;
    this.at = index;
    if (!this.out.delete(key(span))) this.out.add(key(span));
    this.draw();
  }

  toggleHere() {
    this.toggle(this.at);
  }

  /** Strike out, or take back, the mention at a place in the text. */
  click(token) {
    if (token === null) return;
    const index = this.spans.findIndex((span) => holds(span, token));
    if (index >= 0) this.toggle(index);
  }

  step(direction) {
    this.at = Math.min(Math.max(this.at + direction, 0), this.spans.length - 1);
    this.draw();
  }

  draw() {
    const { view } = this.reader;
    this.element.hidden = false;
    view.markAll("member", this.spans);
    view.markAll("struck", this.struck);
    view.mark("mention", this.spans[this.at]);
    this.rows.forEach((row, index) => {
      const out = this.out.has(key(this.spans[index]));
      row.classList.toggle("out", out);
      row.classList.toggle("here", index === this.at);
      row.setAttribute("aria-pressed", String(out));
    });
    this.rows[this.at]?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.reader.reveal(this.spans[this.at]);
    this.changed();
  }

  get struck() {
    return this.spans.filter((span) => this.out.has(key(span)));
  }

  get left() {
    return this.spans.length - this.out.size;
  }

  get enough() {
    return this.left >= LEAST;
  }

  /** What yes says now. */
  get label() {
    return this.out.size ? `Yes, ${this.left} are one` : `Yes, all ${this.left}`;
  }
}
