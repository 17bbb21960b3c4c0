/** The drawer at the side, with the guidelines or the history of answers. */

import { button, h, replace } from "./core/dom.js";
import { layer } from "./core/keys.js";

const PANELS = {
  guidelines: { title: "Guidelines", load: () => import("./pages/guidelines.js") },
  history: { title: "Your answers", load: () => import("./pages/history.js") },
};

export class Drawer {
  constructor(app) {
    this.app = app;
    this.element = document.getElementById("drawer");
    this.name = null;
    this.leave = () => {};
    this.drop = () => {};
  }

  toggle(name) {
    if (this.name === name) this.close();
    else this.open(name);
  }

  async open(name) {
    this.leave();
    this.drop();
    this.drop = layer([{ keys: ["Escape"], label: "Close what is open", group: "Everywhere", fields: true, run: () => this.close() }]);
    this.name = name;
    this.before ??= document.activeElement;
    const body = h("div", { class: "body", tabindex: "0", role: "region", "aria-label": PANELS[name].title });
    const close = button("Close", { key: "Esc", keys: "Escape", class: "small", run: () => this.close() });
    replace(this.element, h("header", {}, h("h2", {}, PANELS[name].title), close), body);
    this.element.setAttribute("aria-label", PANELS[name].title);
    this.element.hidden = false;
    close.focus({ preventScroll: true });
    const { fill } = await PANELS[name].load();
    if (this.name === name) this.leave = (await fill(body, this.app)) ?? (() => {});
  }

  close() {
    if (this.name === null) return;
    this.leave();
    this.leave = () => {};
    this.name = null;
    this.drop();
    this.element.hidden = true;
    replace(this.element);
    this.before?.focus?.({ preventScroll: true });
    this.before = null;
  }

  /** Load this panel again if it is open. */
  async refresh(name) {
    if (this.name !== name) return;
    const body = this.element.querySelector(".body");
    const { fill } = await PANELS[name].load();
    this.leave();
    if (body?.isConnected) this.leave = (await fill(body, this.app)) ?? (() => {});
  }
}
