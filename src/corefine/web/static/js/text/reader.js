/** The reading side of a page: head, scrolling text, fold, selection and the small bar that confirms it. */

import { button, h, replace } from "../core/dom.js";
import { Fold } from "./fold.js";
import { lacksGlyphs } from "./fonts.js";
import { Selection } from "./selection.js";
import { first } from "./spans.js";
import { TextView } from "./text-view.js";

const TRIED = 40; // sentences whose letters are looked at

export class Reader {
  /** `tools` are buttons for the head; `chosen(span)` hears of the selection. */
  constructor({ tools = [], chosen = () => {} } = {}) {
    this.chosen = chosen;
    this.name = h("span", { class: "name" });
    this.scroller = h("div", { class: "reader-scroll", tabindex: "0", role: "region", "aria-label": "Document text" });
    this.confirm = h("div", { class: "confirm", role: "group", "aria-label": "The selection", hidden: true });
    this.element = h(
      "section",
      { class: "reader", "aria-label": "Document" },
      h("div", { class: "reader-head" }, this.name, ...tools),
      this.scroller,
    );
    this.view = null;
  }

  /** Show another document. */
  open(doc) {
    this.fold?.close();
    this.view = new TextView(doc);
    this.name.textContent = doc.name;
    this.name.title = doc.name;
    replace(this.scroller, this.view.element, this.confirm);
    setTimeout(() => this.checkFonts(this.view)); // once the text is drawn
    this.confirm.hidden = true;
    this.scroller.scrollTop = 0;
    this.fold = new Fold(this.view, this.scroller);
    this.selection = new Selection(this.view, (span) => {
      this.confirm.hidden = true;
      this.chosen(span);
    });
  }

  /** Say so if the text can only be seen as boxes. */
  checkFonts(view) {
    if (view !== this.view || !view.element.isConnected) return;
    const text = view.doc.sentences.slice(0, TRIED).map(({ tokens }) => tokens.join(" ")).join(" ");
    if (lacksGlyphs(text, view.element)) this.scroller.prepend(h("p", { class: "notices fonts", role: "status" }, "This computer has no font for the letters of this text, so they appear as boxes. Install one, for example from the Noto fonts, and open the page again."));
  }

  /** Buttons beside the selection: [{label, key, run, primary}]. */
  offer(actions) {
    const { selection, view } = this;
    if (!selection.span || !actions.length) {
      this.confirm.hidden = true;
      return;
    }
    replace(
      this.confirm,
      actions.map(({ label, key, keys, run, primary }) =>
        button(label, { key, keys, run, class: primary ? "primary small" : "small quiet" }),
      ),
    );
    this.confirm.hidden = false;
    const box = view.tokens[first(selection.span)].getBoundingClientRect();
    const outer = this.scroller.getBoundingClientRect();
    const left = Math.min(Math.max(box.left - outer.left, 8), outer.width - this.confirm.offsetWidth - 8);
    this.confirm.style.setProperty("left", `${Math.max(left, 8)}px`);
    this.confirm.style.setProperty("top", `${box.bottom - outer.top + this.scroller.scrollTop + 8}px`);
  }

  /** Scroll so that the spans are in view; if they are too far apart, the last one is. */
  reveal(...spans) {
    const rects = spans.flatMap((span) => {
      const rect = this.view.tokens[first(span)].getBoundingClientRect();
      return rect.height ? [rect] : [];
    });
    if (!rects.length) return;
    const outer = this.scroller.getBoundingClientRect();
    const top = Math.min(...rects.map((rect) => rect.top)) - outer.top;
    const bottom = Math.max(...rects.map((rect) => rect.bottom)) - outer.top;
    const room = outer.height;
    const margin = Math.min(96, room / 5);
    let by = 0;
    if (bottom - top > room - 1.5 * margin) by = rects.at(-1).bottom - outer.top - (room - margin);
    else if (top < margin || bottom > room - margin) by = top - (room - (bottom - top)) / 2.4;
    if (by) this.scroller.scrollTop += by;
  }

  close() {
    this.fold?.close();
  }
}
