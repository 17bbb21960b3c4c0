/**
 * Choosing tokens: click takes the smallest candidate there (again: the next larger), dragging takes any tokens, a long
 * press drags on touch screens, and keys do all of it. Selections are always whole tokens.
 */

import { compare, first, holds, key, last, size } from "./spans.js";

const LONG_PRESS = 350;

export class Selection {
  /** `changed(span)` is told of every change; `allowed(token)` says which tokens can be chosen. */
  constructor(view, changed) {
    this.view = view;
    this.changed = changed;
    this.candidates = [];
    this.refused = []; // spans that a click takes as a whole, but that are not offered
    this.allowed = () => true;
    this.on = false;
    this.span = null;
    this.anchor = null; // where a drag began
    this.dragged = false;
    const events = {
      pointerdown: (event) => this.down(event),
      pointermove: (event) => this.move(event),
      pointerup: (event) => this.up(event),
      pointercancel: () => this.drop(),
      contextmenu: (event) => this.on && event.preventDefault(),
    };
    for (const [name, run] of Object.entries(events)) view.element.addEventListener(name, run);
    view.element.addEventListener("touchmove", (event) => this.dragged && event.preventDefault(), { passive: false });
  }

  /** Begin choosing among these candidates (spans in document order). */
  begin({ candidates = [], refused = [], allowed = () => true, span = null } = {}) {
    this.on = true;
    this.refused = refused;
    this.allowed = allowed;
    this.candidates = candidates.filter((candidate) => allowed(first(candidate)) && allowed(last(candidate))).sort(compare);
    this.view.element.classList.add("picking");
    this.set(span);
  }

  end() {
    this.on = false;
    this.drop();
    this.set(null);
    // What it looks like is inherited by every token: that is left for after the next question was drawn.
    requestAnimationFrame(() => setTimeout(() => this.view.element.classList.toggle("picking", this.on)));
  }

  set(span) {
    this.span = span;
    this.view.mark("chosen", span);
    this.changed(span);
  }

  // Pointer

  down(event) {
    const token = this.view.tokenAt(event.target);
    if (!this.on || token === null || !this.allowed(token) || (event.button !== 0 && event.pointerType === "mouse")) return;
    this.anchor = token;
    this.dragged = false;
    if (event.pointerType !== "mouse") {
      this.timer = setTimeout(() => {
        this.dragged = true;
        this.set([token, token]);
      }, LONG_PRESS);
    }
  }

  move(event) {
    if (this.anchor === null) return;
    if (event.pointerType !== "mouse" && !this.dragged) return;
    const token = this.view.tokenAt(document.elementFromPoint(event.clientX, event.clientY));
    if (token === null || !this.allowed(token) || (token === this.anchor && !this.dragged)) return;
    this.dragged = true;
    const span = [Math.min(token, this.anchor), Math.max(token, this.anchor)];
    if (!this.span || key(span) !== key(this.span)) this.set(span);
  }

  up() {
    clearTimeout(this.timer);
    if (this.anchor !== null && !this.dragged) this.take(this.anchor);
    this.anchor = null;
    setTimeout(() => (this.dragged = false));
  }

  drop() {
    clearTimeout(this.timer);
    this.anchor = null;
    this.dragged = false;
  }

  /** The smallest candidate at a token; the next larger one if that is chosen already. */
  take(token) {
    const here = this.around(token);
    const index = this.span ? here.findIndex((candidate) => key(candidate) === key(this.span)) : -1;
    this.set(here.length ? here[(index + 1) % here.length] : [token, token]);
  }

  around(token) {
    return [...this.candidates, ...this.refused].filter((candidate) => holds(candidate, token)).sort((a, b) => size(a) - size(b));
  }

  /** Whether a larger candidate holds the chosen one. */
  get wider() {
    if (!this.span) return null;
    const { span } = this;
    return this.around(first(span)).find((other) => size(other) > size(span) && holds(other, last(span))) ?? null;
  }

  // Keys

  /** The next (+1) or previous (-1) candidate; the first time, the last or first one there is. */
  step(direction) {
    const { candidates } = this;
    if (!candidates.length) return;
    let index;
    if (!this.span) index = direction > 0 ? 0 : candidates.length - 1;
    else {
      const at = candidates.findIndex((candidate) => compare(candidate, this.span) >= 0);
      const exact = at >= 0 && key(candidates[at]) === key(this.span);
      const here = at < 0 ? candidates.length : at;
      index = direction > 0 ? (exact ? here + 1 : here) : here - 1;
    }
    this.set(candidates[Math.min(Math.max(index, 0), candidates.length - 1)]);
  }

  /** Move the start or the end of the selection by a token. */
  stretch(end, direction) {
    if (!this.span) return;
    let [from, to] = [first(this.span), last(this.span)];
    if (end === "start") from += direction;
    else to += direction;
    const inside = from >= 0 && to < this.view.tokens.length && from <= to;
    if (inside && this.allowed(from) && this.allowed(to)) this.set([from, to]);
  }
}
