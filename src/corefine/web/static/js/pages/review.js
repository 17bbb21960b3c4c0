/** Review: the entities of a document. Every edit becomes an entry of the log. */

import { clientId, get, post } from "../core/api.js";
import { EntityCards, named } from "./entity-cards.js";
import { resolveContradiction } from "../question/contradiction.js";
import { dialog } from "../core/dialog.js";
import { button, h, visible } from "../core/dom.js";
import { EntityList } from "../question/entity-list.js";
import { entityEntries } from "../question/finder.js";
import { plural, stepped } from "../core/format.js";
import { Reader } from "../text/reader.js";
import { key, same } from "../text/spans.js";
import { Stopwatch } from "../core/stopwatch.js";

export function mount(main, app, [id]) {
  return new ReviewPage(main, app, Number(id));
}

class ReviewPage {
  constructor(main, app, id) {
    this.app = app;
    this.id = id;
    this.closed = false;
    this.watch = new Stopwatch();
    const tool = (label, options) => button(label, { class: "small", ...options });
    const tools = [
      tool("Undo", { key: "Z", class: "small quiet", run: () => this.step("undo") }),
      tool("Redo", { key: "⇧Z", keys: "Shift+Z", class: "small quiet", run: () => this.step("redo") }),
      tool("Questions", { key: "R", class: "small quiet", run: () => this.leave() }),
      (this.reviewedButton = tool("Reviewed", { key: "⇧R", keys: "Shift+R", "aria-label": "Document reviewed", run: () => this.setReviewed(!this.reviewed) })),
    ];
    this.reader = new Reader({ chosen: (span) => this.chosen(span), tools });
    this.cards = new EntityCards(
      {
        merge: (a, b) => this.edit({ kind: "merge", a, b }),
        split: (spans) => this.split(spans),
        move: (spans, to) => this.move(spans, to),
        remove: (spans) => this.remove(spans),
        confirm: (span) => this.confirm(span),
      },
      (mention, entity) => this.look(mention, entity),
    );
    this.said = h("p", { class: "said", role: "status" });
    const bar = h(
      "div",
      { class: "review-bar row" },
      h("h1", {}, "Entities"),
      tool("Split off", { key: "S", run: () => this.split() }),
      tool("Move to…", { key: "M", run: () => this.moveTo() }),
      tool("Merge with…", { key: "J", run: () => this.mergeWith() }),
      tool("Not a mention", { key: "X", run: () => this.remove() }),
      tool("Confirm", { key: "C", run: () => this.confirm() }),
    );
    main.append(h("div", { class: "review" }, this.reader.element, h("section", { class: "entities-side", "aria-label": "Entities" }, bar, this.said, this.cards.element)));
    this.keys = this.bindings();
    app.reload = () => this.refresh();
    app.tabs.hear = (document) => document === id && this.refresh();
    this.open();
  }

  async open() {
    const [doc, known] = await Promise.all([get(`/documents/${this.id}`), get(`/documents/${this.id}/entities`)]);
    if (this.closed) return;
    this.reader.open(doc);
    this.showReviewed(doc.reviewed);
    this.watch.lap();
    this.take(known);
    this.say("Drag mentions and entities, or use the keys. What people said has a solid edge.");
  }

  async refresh() {
    const known = await get(`/documents/${this.id}/entities`);
    if (!this.closed) this.take(known);
  }

  take(given) {
    const { view, selection } = this.reader;
    const worded = (mention) => ({ ...mention, text: view.words(mention.span) });
    const entities = given.entities.map((entity) => ({ ...entity, first: view.words(entity.mentions[0].span), mentions: entity.mentions.map(worded) }));
    const known = { ...given, entities };
    this.known = known;
    const colours = view.underline(known.entities);
    selection.begin({ candidates: known.entities.flatMap(({ mentions }) => mentions.map(({ span }) => span)) });
    this.cards.show(known.entities, colours);
    this.progress();
  }

  say(text, kind = "") {
    this.said.textContent = text;
    this.said.className = `said ${kind}`;
  }

  /** Show in the text what is in focus among the entities. */
  look(mention, entity) {
    const { view } = this.reader;
    view.mark("mention", mention.span);
    view.markAll("shown", entity.mentions.filter((other) => other !== mention).map(({ span }) => span));
    this.reader.reveal(mention.span);
  }

  /** Words chosen in the text: a known mention gets the focus, others can be added. */
  chosen(span) {
    if (!span || !this.known) return;
    if (this.cards.where.has(key(span))) {
      this.cards.focus(span);
      return;
    }
    this.reader.offer([
      { label: "Add to…", key: "A", run: () => this.add(true), primary: true },
      { label: "New entity", key: "N", run: () => this.add(false) },
    ]);
  }

  // Edits

  async edit(edit, said, withdraw = []) {
    const body = { client_id: clientId(), document: this.id, edit, seconds: this.watch.lap(), withdraw };
    try {
      const { number, entities } = await this.app.outbox.send("/edits", body);
      this.cards.clear();
      this.take(entities);
      this.app.tabs.changed(this.id);
      this.app.drawer.refresh("history");
      this.say(`${said ?? "Done"}, saved as number ${number}.`, "good");
      return true;
    } catch (problem) {
      if (problem.kind === "contradiction") {
        const chosen = await resolveContradiction(problem, this.reader.view.doc);
        if (chosen) return this.edit(edit, said, chosen);
        this.say("Nothing was changed.");
      } else this.say(problem.message, "bad");
      return false;
    }
  }

  split(spans = this.cards.chosen) {
    if (!spans.length) return this.say("Select mentions first: click, or Space on the one in focus.", "warn");
    const entities = new Set(spans.map((span) => this.cards.entityOf(span)));
    if (entities.size > 1) return this.say("Split mentions of one entity at a time.", "warn");
    if ([...entities][0].mentions.length === spans.length) return this.say("These are all mentions of the entity: there is nothing to split off.", "warn");
    return this.edit({ kind: "split", mentions: spans }, `${plural(spans.length, "mention")} split off`);
  }

  /** One entry of the log for each mention; stops at the first that fails. */
  async move(spans, to) {
    for (const mention of spans) if (!(await this.edit({ kind: "move", mention, to }, "Moved"))) return;
  }

  async remove(spans = this.cards.chosen) {
    if (!spans.length) return this.say("Select a mention first.", "warn");
    for (const mention of spans) if (!(await this.edit({ kind: "remove", mention }, "Removed: not a mention"))) return null;
    return null;
  }

  /** Say that an entity is as it is shown. */
  async confirm(span = this.cards.chosen[0]) {
    if (!span) return this.say("Select a mention of the entity first.", "warn");
    const { first, mentions } = this.cards.entityOf(span);
    return this.edit({ kind: "confirm", mention: span }, `“${visible(first)}” is confirmed: ${plural(mentions.length, "mention")}`);
  }

  async setReviewed(reviewed) {
    try {
      await post(`/documents/${this.id}/reviewed`, { reviewed });
      this.showReviewed(reviewed);
      this.say(reviewed ? "The document is marked as reviewed." : "The document is no longer marked as reviewed.", "good");
    } catch (problem) {
      this.say(problem.message, "bad");
    }
  }

  showReviewed(reviewed) {
    this.reviewed = reviewed;
    this.reviewedButton.setAttribute("aria-pressed", String(reviewed));
    this.reviewedButton.firstChild.textContent = reviewed ? "✓ Reviewed" : "Reviewed";
    this.progress();
  }

  /** The tab's title: the document, and how much of it is confirmed. */
  progress() {
    if (!this.known) return;
    const entities = this.known.entities.filter(({ mentions }) => mentions.length > 1);
    const confirmed = entities.filter((entity) => entity.confirmed).length;
    document.title = [this.reviewed ? "Reviewed" : `${confirmed} of ${entities.length} confirmed`, this.reader.view?.doc.name, this.app.me.project].filter(Boolean).join(" · ");
  }

  async moveTo() {
    const spans = this.cards.chosen;
    if (!spans.length) return this.say("Select a mention first.", "warn");
    const to = await this.pick(`Move ${spans.length === 1 ? `“${visible(this.reader.view.words(spans[0]))}”` : plural(spans.length, "mention")} to`, this.cards.entityOf(spans[0]));
    return to && this.move(spans, to);
  }

  async mergeWith() {
    const [span] = this.cards.chosen;
    if (!span) return this.say("Select a mention of the entity first.", "warn");
    const entity = this.cards.entityOf(span);
    const to = await this.pick(`Merge “${visible(named(entity))}” with`, entity);
    return to && this.edit({ kind: "merge", a: entity.mentions[0].span, b: to }, "Merged");
  }

  async add(choose) {
    const { span } = this.reader.selection;
    if (!span || this.cards.where.has(key(span))) return;
    const to = choose ? await this.pick(`Add “${visible(this.reader.view.words(span))}” to`, null) : null;
    if (choose && !to) return;
    await this.edit(to ? { kind: "add", mention: span, to } : { kind: "add", mention: span }, "Added");
  }

  /** Ask for an entity; resolves with its first mention or null. */
  pick(title, except) {
    const others = this.known.entities.filter((entity) => entity !== except);
    return dialog({
      label: title,
      content: (close) => {
        const list = new EntityList({ numbered: false, choose: ({ span }) => close(span) });
        list.show(entityEntries(this.reader.view, [...others].sort((a, b) => b.mentions.length - a.mentions.length)));
        setTimeout(() => list.focus());
        return [h("h2", {}, title), list.element, button("Cancel", { key: "Esc", keys: "Escape", run: () => close(null) })];
      },
    });
  }

  async step(name) {
    try {
      const { document, did } = await this.app.outbox.send(`/${name}`, { client_id: clientId() });
      if (document !== this.id) return this.app.go(`review/${document}`);
      await this.refresh();
      this.app.tabs.changed(document);
      this.app.drawer.refresh("history");
      this.say(stepped(name, did));
    } catch (problem) {
      this.say(problem.message, "warn");
    }
    return null;
  }

  leave() {
    if (this.cards.selected.size || this.reader.selection.span) {
      this.cards.clear();
      this.reader.selection.set(null);
      this.reader.offer([]);
    } else this.app.go(`annotate/${this.id}`);
  }

  bindings() {
    const group = "Review";
    const free = () => this.reader.selection.span && !this.known.mentions.some((span) => same(span, this.reader.selection.span) && this.cards.where.has(key(span)));
    const bind = (keys, label, run, more = {}) => ({ keys, label, group, run, ...more });
    return [
      bind(["ArrowRight", "ArrowDown"], "Next mention", () => this.cards.walk(1), { repeats: true }),
      bind(["ArrowLeft", "ArrowUp"], "Previous mention", () => this.cards.walk(-1), { repeats: true }),
      bind(["Shift+ArrowRight", "Shift+ArrowDown"], "Next entity", () => this.cards.walk(1, true), { repeats: true }),
      bind(["Shift+ArrowLeft", "Shift+ArrowUp"], "Previous entity", () => this.cards.walk(-1, true), { repeats: true }),
      bind(["v"], "Select or unselect the mention in focus (also Space)", () => this.cards.toggle()),
      bind(["s"], "Split the selected mentions off", () => this.split()),
      bind(["m"], "Move the selected mentions to another entity", () => this.moveTo()),
      bind(["j"], "Merge (join) the entity with another", () => this.mergeWith()),
      bind(["x", "Delete"], "Not a mention: remove", () => this.remove()),
      bind(["c"], "Confirm the entity as it is", () => this.confirm()),
      bind(["Shift+r"], "Mark the document as reviewed, or not", () => this.setReviewed(!this.reviewed)),
      bind(["a"], "Add the words selected in the text to an entity", () => this.add(true), { when: free }),
      bind(["n"], "Add the words selected in the text as a new entity", () => this.add(false), { when: free }),
      bind(["z", "Ctrl+z"], "Undo", () => this.step("undo")),
      bind(["Shift+z", "Ctrl+Shift+z", "Ctrl+y"], "Redo", () => this.step("redo")),
      bind(["Escape", "r"], "Clear the selection, then back to the questions", () => this.leave()),
    ];
  }

  close() {
    this.closed = true;
    this.watch.close();
    this.cards.close();
    this.reader.close();
    this.app.tabs.hear = () => {};
  }
}
