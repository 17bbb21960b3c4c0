/** What all pages share: the person, the frame, messages, the outbox, and which page is shown. */

import { get } from "./core/api.js";
import { Bar } from "./bar.js";
import { button, h, replace } from "./core/dom.js";
import { Drawer } from "./drawer.js";
import { showKeys } from "./core/key-help.js";
import { layer } from "./core/keys.js";
import { Outbox } from "./core/outbox.js";
import { lastWords, nextTheme, resize } from "./core/preferences.js";
import { Tabs } from "./core/tabs.js";

const PAGES = {
  annotate: () => import("./pages/annotate.js"),
  documents: () => import("./pages/documents.js"),
  review: () => import("./pages/review.js"),
  full: () => import("./pages/full.js"),
  tutorial: () => import("./pages/tutorial.js"),
  study: () => import("./pages/study.js"),
  welcome: () => import("./pages/welcome.js"),
  project: () => import("./project/page.js"),
};
const POLL = 4000;

export class App {
  constructor() {
    this.main = document.getElementById("main");
    this.notes = document.getElementById("notes");
    this.live = document.getElementById("live");
    this.page = null;
    this.turn = 0;
    this.drop = () => {};
    this.waiting = new Set(); // functions to call when the outbox starts or stops waiting
  }

  get owner() {
    return this.me.person.role === "owner";
  }

  async begin(me) {
    this.me = me;
    this.bar = new Bar(this);
    this.drawer = new Drawer(this);
    this.outbox = new Outbox(me.person.id, (state, problem) => this.waiting.forEach((hear) => hear(state, problem)));
    this.tabs = new Tabs(this);
    layer(this.bindings());
    if (me.notices.length) this.note(`${me.notices[0]}${me.notices.length > 1 ? ` And ${me.notices.length - 1} more: see Documents.` : ""}`, { kind: "warn" });
    const before = lastWords.take();
    if (before) this.note(before, { stays: true });
    window.addEventListener("hashchange", () => this.show());
    this.poll();
    const taken = await this.outbox.recover();
    if (taken) this.note("An answer from your last visit was kept in this browser and has now been saved.");
    await this.show();
  }

  /** The page that the address names: #annotate/3 is page "annotate" with the argument "3". */
  async show() {
    const [name, ...args] = location.hash.replace(/^#/, "").split("/");
    const wanted = Object.hasOwn(PAGES, name) ? name : "annotate";
    const known = this.me.new && wanted === "annotate" ? "welcome" : wanted; // the introduction comes before questions
    const turn = (this.turn += 1);
    const { mount } = await PAGES[known]();
    if (turn !== this.turn) return; // meanwhile another page was asked for
    for (const open of document.querySelectorAll("dialog[open]")) open.close(); // it belongs to the page that is left
    this.drop();
    this.page?.close();
    this.waiting.clear();
    this.bar.current(known);
    document.title = `${known[0].toUpperCase()}${known.slice(1)} · ${this.me.project}`;
    replace(this.main);
    this.main.scrollTop = 0;
    this.page = mount(this.main, this, args);
    this.drop = layer(this.page.keys ?? []);
    document.body.dataset.page = [known, ...args].join("/");
  }

  go(address) {
    if (location.hash === `#${address}`) this.show();
    else location.hash = address;
  }

  bindings() {
    const group = "Everywhere";
    const to = (key, label, address) => ({ keys: [key], label, group, run: () => this.go(address) });
    return [
      { keys: ["?"], label: "All keys", group, run: () => showKeys() },
      to("a", "Annotate", "annotate"),
      to("d", "Documents", "documents"),
      ...(this.owner ? [to("p", "Project", "project")] : []),
      { keys: ["g"], label: "Guidelines", group, run: () => this.drawer.toggle("guidelines") },
      { keys: ["h"], label: "History of your answers", group, run: () => this.drawer.toggle("history") },
      { keys: ["t"], label: "Light, dark or the system’s colours", group, run: () => this.note(`Colours: ${nextTheme()}`) },
      { keys: ["+", "="], label: "Larger text", group, run: () => resize(1) },
      { keys: ["-"], label: "Smaller text", group, run: () => resize(-1) },
    ];
  }

  /** Tell a screen reader. */
  announce(text) {
    this.live.textContent = text;
  }

  /** A short message at the edge. It disappears by itself unless it `stays`. `action` is {label, run}, for an undo say. */
  note(text, { kind = "", stays = kind === "bad", action = null } = {}) {
    const act = () => (note.remove(), action.run());
    const note = h("div", { class: `note ${kind}` }, h("p", {}, text), action && button(action.label, { class: "small", run: act }), button("Close", { class: "quiet small", run: () => note.remove() }));
    this.notes.append(note);
    while (this.notes.children.length > 4) this.notes.firstChild.remove();
    if (!stays) setTimeout(() => note.remove(), action ? 20_000 : kind === "warn" ? 10_000 : 5000);
  }

  async poll() {
    try {
      if (!document.hidden) this.bar.model(await get("/status"));
    } catch {
      // A missed poll does not matter: the next answer shows whether the server is away.
    }
    setTimeout(() => this.poll(), POLL);
  }
}
