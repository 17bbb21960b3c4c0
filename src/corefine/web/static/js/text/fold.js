/** Folds away the sentences between two far spans, so that both are in view; one key unfolds them. */

import { h, kbd } from "../core/dom.js";
import { first, last } from "./spans.js";
import { plural } from "../core/format.js";

const AROUND = 2; // sentences that stay beside each of the two
const LEAST = 4; // sentences worth folding

export class Fold {
  constructor(view, scroller) {
    this.view = view;
    this.scroller = scroller;
    this.range = null; // first and last sentence that can be folded
    this.closed = false;
    this.hidden = [];
    this.button = h("button", { type: "button", class: "fold", on: { click: () => this.toggle() } });
    this.measure();
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(scroller);
  }

  /** What fits on the screen, in characters; measured when sizes change and not when a question comes. */
  measure() {
    const style = getComputedStyle(this.view.element);
    const leading = parseFloat(style.lineHeight) || 30;
    const width = this.view.element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const lines = Math.max(4, this.scroller.clientHeight / leading - 4);
    this.fits = lines * (width / (parseFloat(style.fontSize) * 0.47)) * 0.75;
  }

  /** Get ready for a pair: fold what lies between if both do not fit on the screen. */
  between(a, b) {
    const [from, to] = first(a) <= first(b) ? [a, b] : [b, a];
    const { sentenceOf, characters } = this.view;
    const range = [sentenceOf[last(from)] + 1 + AROUND, sentenceOf[first(to)] - 1 - AROUND];
    const far = characters[first(to)] - characters[last(from)] > this.fits;
    this.range = far && range[1] - range[0] + 1 >= LEAST ? range : null;
    this.set(this.range !== null);
  }

  none() {
    this.range = null;
    this.set(false);
  }

  toggle() {
    if (!this.range) return false;
    this.set(!this.closed);
    return true;
  }

  set(closed) {
    for (const element of this.hidden) element.hidden = false;
    this.hidden = [];
    this.closed = closed;
    this.button.remove();
    if (!this.range) return;
    const [from, to] = this.range;
    const sentences = this.view.sentences;
    if (closed) {
      for (let index = from; index <= to; index += 1) this.hide(sentences[index]);
      for (const paragraph of new Set(sentences.slice(from, to + 1).map((element) => element.parentElement))) {
        if ([...paragraph.querySelectorAll(".sentence")].every((element) => element.hidden)) this.hide(paragraph);
      }
    }
    const label = `… ${plural(to - from + 1, "sentence")} …`;
    this.button.replaceChildren(h("span", {}, closed ? label : "fold this part away again"), kbd("O"));
    this.button.setAttribute("aria-expanded", String(!closed));
    this.button.setAttribute("aria-keyshortcuts", "o");
    sentences[from - 1].after(this.button);
  }

  hide(element) {
    element.hidden = true;
    this.hidden.push(element);
  }

  /** Unfold if the token lies in the fold. */
  show(token) {
    const sentence = this.view.sentenceOf[token];
    if (this.closed && this.range[0] <= sentence && sentence <= this.range[1]) this.set(false);
  }

  close() {
    this.watch.disconnect();
  }
}
