/**
 * Dragging with mouse, pen or finger (a long press begins it on touch screens). Sources have data-drag, targets data-drop;
 * `dropped(source, target)` is told. Everything that dragging does has a key as well.
 */

import { h, visible } from "../core/dom.js";

const FAR = 6; // pixels before a press becomes a drag
const LONG_PRESS = 350;

export class Drag {
  constructor(area, { dropped, label }) {
    this.area = area;
    this.dropped = dropped;
    this.label = label;
    this.source = null;
    this.active = false;
    this.listeners = {
      pointerdown: (event) => this.down(event),
      pointermove: (event) => this.move(event),
      pointerup: () => this.up(),
      pointercancel: () => this.end(),
    };
    area.addEventListener("pointerdown", this.listeners.pointerdown);
    for (const name of ["pointermove", "pointerup", "pointercancel"]) window.addEventListener(name, this.listeners[name]);
    area.addEventListener("touchmove", (event) => this.active && event.preventDefault(), { passive: false });
    area.addEventListener("click", (event) => this.moved && (event.stopPropagation(), event.preventDefault()), true);
    this.escape = (event) => event.key === "Escape" && this.active && (event.stopPropagation(), this.end());
    window.addEventListener("keydown", this.escape, true);
  }

  down(event) {
    const source = event.target.closest("[data-drag]");
    this.moved = false;
    if (!source || event.button !== 0) return;
    this.source = source;
    this.start = [event.clientX, event.clientY];
    if (event.pointerType === "touch") this.timer = setTimeout(() => this.begin(), LONG_PRESS);
    this.touch = event.pointerType === "touch";
  }

  begin() {
    this.active = true;
    this.moved = true;
    this.ghost = h("div", { class: "ghost", "aria-hidden": "true" }, visible(this.label(this.source)));
    document.body.append(this.ghost);
    this.area.classList.add("dragging");
    this.source.classList.add("lifted");
    this.place(...this.start);
  }

  move(event) {
    if (!this.source) return;
    const far = Math.hypot(event.clientX - this.start[0], event.clientY - this.start[1]) > FAR;
    if (!this.active && this.touch && far) this.end();
    else if (!this.active && far) this.begin();
    if (this.active) this.place(event.clientX, event.clientY);
  }

  place(x, y) {
    this.ghost.style.setProperty("translate", `${x + 12}px ${y + 8}px`);
    const target = document.elementFromPoint(x, y)?.closest("[data-drop]") ?? null;
    if (target === this.target) return;
    this.target?.classList.remove("over");
    this.target = target;
    target?.classList.add("over");
  }

  up() {
    const { active, source, target } = this;
    this.end();
    if (active && target) this.dropped(source, target);
  }

  end() {
    clearTimeout(this.timer);
    this.ghost?.remove();
    this.target?.classList.remove("over");
    this.source?.classList.remove("lifted");
    this.area.classList.remove("dragging");
    this.source = this.target = this.ghost = null;
    this.active = false;
  }

  close() {
    this.end();
    for (const name of ["pointermove", "pointerup", "pointercancel"]) window.removeEventListener(name, this.listeners[name]);
    window.removeEventListener("keydown", this.escape, true);
  }
}
