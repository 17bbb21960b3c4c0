/** The bar at the top: links to the pages, and the state of the model. */

import { button, h, replace } from "./core/dom.js";
import { percent } from "./core/format.js";
import { showKeys } from "./core/key-help.js";
import { nextTheme } from "./core/preferences.js";

export class Bar {
  constructor(app) {
    this.links = new Map();
    this.studies = [];
    const pages = [
      ["annotate", "Annotate", "a"],
      ["documents", "Documents", "d"],
      ...(app.owner ? [["project", "Project", "p"]] : []),
    ];
    const link = ([name, label, key]) => {
      const element = h("a", { href: `#${name}`, "aria-keyshortcuts": key }, label);
      this.links.set(name, [...(this.links.get(name) ?? []), element]);
      return element;
    };
    const study = () => {
      const element = link(["study", "Timing study", null]);
      this.studies.push(element);
      return element;
    };
    const menu = h(
      "div",
      { class: "menu", id: "menu", popover: "auto" },
      ...pages.map(link),
      h("a", { href: "#tutorial" }, "Tutorial"),
      study(),
      button("Guidelines", { run: () => app.drawer.open("guidelines") }),
      button("History", { run: () => app.drawer.open("history") }),
      button("Light or dark", { run: () => nextTheme() }),
      button("Keys", { run: () => showKeys() }),
      (this.inMenu = h("div", { class: "model" })),
    );
    menu.addEventListener("click", () => menu.hidePopover());
    this.status = h("div", { class: "model", role: "status", "aria-live": "off" });
    replace(
      document.getElementById("bar"),
      h("a", { class: "brand", href: "#annotate", "aria-label": `corefine: ${app.me.project}` }, h("img", { src: "/static/icon.svg", alt: "" }), h("span", {}, "corefine")),
      h("nav", { "aria-label": "Pages" }, ...pages.map(link), h("a", { href: "#tutorial" }, "Tutorial"), study()),
      h("span", { class: "gap" }),
      this.status,
      button("Guidelines", { key: "G", class: "quiet small wide", run: () => app.drawer.toggle("guidelines") }),
      button("History", { key: "H", class: "quiet small wide", run: () => app.drawer.toggle("history") }),
      button("Keys", { key: "?", class: "quiet small wide", run: () => showKeys() }),
      h("button", { type: "button", class: "quiet menu-button", popovertarget: "menu", "aria-label": "Menu" }, "☰"),
      menu,
    );
    // A link that keeps the focus would also keep Enter from the page.
    for (const links of this.links.values()) for (const link of links) link.addEventListener("click", () => app.main.focus({ preventScroll: true }));
    this.study(app.me.study);
  }

  /** Whether there is a timing study for this person to take part in. */
  study(open) {
    for (const element of this.studies) element.hidden = !open;
  }

  current(name) {
    for (const [other, links] of this.links) {
      for (const link of links) {
        if (other === name) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
    }
  }

  model({ version, latest, training, share_done: share, error }) {
    const newer = latest > version ? `, version ${latest} ready` : "";
    const at = share === null ? "" : ` ${percent(share)}`;
    const doing = error ? " · a problem" : training ? ` · training${at}` : newer;
    for (const element of [this.status, this.inMenu]) {
      element.textContent = (version ? `Model ${version}` : "No model yet") + doing;
      element.title = error ?? "";
      element.classList.toggle("training", training);
      element.classList.toggle("failed", Boolean(error));
    }
  }
}
