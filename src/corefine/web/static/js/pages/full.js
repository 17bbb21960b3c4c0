/** Annotate a document in full: mark every mention, sentence by sentence, and tick the sentences off. */

import { clientId, get, post } from "../core/api.js";
import { FullPanel } from "./full-panel.js";
import { resolveContradiction } from "../question/contradiction.js";
import { button, h } from "../core/dom.js";
import { stepped } from "../core/format.js";
import { Reader } from "../text/reader.js";
import { compare, first, key, last, same } from "../text/spans.js";
import { Stopwatch } from "../core/stopwatch.js";

export function mount(main, app, [id]) {
  return new FullPage(main, app, Number(id));
}

class FullPage {
  constructor(main, app, id) {
    Object.assign(this, { app, id, closed: false, sentence: 0, known: null, cursor: null });
    this.turn = Promise.resolve(); // one request after the other, in the order of keys and clicks
    this.watch = new Stopwatch();
    const tool = (label, options) => button(label, { class: "small quiet", ...options });
    const tools = [
      tool("Undo", { key: "Z", run: () => this.step("undo") }),
      tool("Redo", { key: "⇧Z", keys: "Shift+Z", run: () => this.step("redo") }),
      tool("Questions", { key: "R", run: () => app.go(`annotate/${id}`) }),
    ];
    this.reader = new Reader({ chosen: (span) => this.chosen(span), tools });
    this.panel = new FullPanel(this);
    main.append(h("div", { class: "full" }, this.reader.element, this.panel.element));
    this.keys = this.bindings();
    app.reload = () => this.look(this.sentence);
    app.tabs.hear = (document) => document === id && this.look(this.sentence);
    this.open();
  }

  async open() {
    try {
      const [doc, known] = await Promise.all([get(`/documents/${this.id}`), get(`/full/${this.id}`)]);
      if (this.closed) return;
      this.reader.open(doc);
      this.watch.lap();
      const done = new Set(known.done.map(([sentence]) => sentence));
      const open = doc.sentences.findIndex((_, index) => !done.has(index));
      if (open > 0) await this.look(open);
      else this.take(known, { arrive: true });
    } catch (problem) {
      this.panel.say(problem.message, "warn");
      if (problem.passing || problem.kind === "model") setTimeout(() => !this.closed && this.open(), 1500);
    }
  }

  /** Go to a sentence. */
  look(sentence) {
    return this.queue(async () => {
      const known = await get(`/full/${this.id}?sentence=${sentence}`);
      if (!this.closed) this.take(known, { arrive: true });
    });
  }

  queue(run) {
    this.turn = this.turn.then(run).catch((problem) => this.panel.say(problem.message, "bad"));
    return this.turn;
  }

  /** Show what is marked. On arrival in a sentence its first proposal is selected, else the next one, unless words were selected meanwhile. */
  take(known, { arrive = false, after = -1, keep = null } = {}) {
    const { view, selection } = this.reader;
    this.known = known;
    this.sentence = known.sentence;
    const entities = known.entities.map((entity) => ({ ...entity, mentions: entity.mentions.map((span) => ({ span })) }));
    view.underline(entities);
    view.markAll("single", known.entities.filter(({ mentions }) => mentions.length === 1).map(({ mentions }) => mentions[0]));
    view.markAll("candidate", known.proposals.map(({ span }) => span));
    this.where = new Map(known.entities.flatMap((entity) => entity.mentions.map((span) => [key(span), entity])));
    const done = new Map(known.done);
    view.sentences.forEach((element, index) => {
      element.classList.toggle("ticked", done.has(index));
      element.classList.toggle("current", index === this.sentence);
    });
    const candidates = [...known.proposals.map(({ span }) => span), ...this.marked()].sort(compare);
    const next = known.proposals.find(({ span }) => first(span) > after);
    this.taking = true;
    selection.begin({ candidates, span: keep ?? next?.span ?? null });
    this.taking = false;
    this.panel.show();
    if (keep) this.offer();
    if (arrive) {
      this.cursor = null;
      this.reader.reveal(this.bounds());
    }
    const size = view.doc.sentences.length;
    document.title = [`${known.done.length} of ${size} sentences done`, view.doc.name, this.app.me.project].join(" · ");
  }

  /** The marked mentions of the sentence. */
  marked() {
    const [from, to] = this.bounds();
    return this.known.entities.flatMap(({ mentions }) => mentions.filter((span) => first(span) >= from && last(span) <= to));
  }

  /** The first and the last token of the sentence. */
  bounds() {
    const { start, tokens } = this.reader.view.doc.sentences[this.sentence];
    return [start, start + tokens.length - 1];
  }

  /** Words were chosen in the text. */
  chosen(span) {
    if (!this.known || this.taking) return;
    this.panel.show();
    if (!span) return;
    this.cursor = span;
    const at = this.reader.view.sentenceOf[first(span)];
    if (at !== this.sentence) {
      this.queue(async () => {
        const known = await get(`/full/${this.id}?sentence=${at}`);
        this.take(known);
        this.reader.selection.set(span);
        this.offer();
      });
    } else this.offer();
  }

  offer() {
    const actions = [{ label: "New entity", key: "N", run: () => this.mark(null), primary: !this.known.last }];
    if (this.known.last && !same(this.known.last, this.span)) actions.unshift({ label: "Same as the last", key: "S", run: () => this.mark(this.known.last), primary: true });
    if (this.known.entities.length) actions.push({ label: "Same as…", key: "E", run: () => this.panel.find() });
    actions.push({ label: "No mention", key: "X", run: () => this.unmark() });
    this.reader.offer(actions);
  }

  get span() {
    return this.reader.selection?.span ?? null;
  }

  get proposal() {
    return this.span && this.known.proposals.find(({ span }) => same(span, this.span));
  }

  // Actions

  /** Mark the selected words as a mention of the entity of `to`, or of a new one. */
  mark(to) {
    const { span } = this;
    if (!span) return this.panel.say("Select words first: drag over them, or use the arrow keys.", "warn");
    if (to && same(to, span)) return null;
    this.cursor = span;
    return this.send({ kind: "mark", mention: span, ...(to ? { to } : {}) }, first(span));
  }

  accept() {
    const { proposal } = this;
    if (proposal) this.mark(proposal.to);
  }

  unmark() {
    const { span } = this;
    if (span) this.send({ kind: "unmark", mention: span }, first(span));
  }

  /** Tick the sentence off and go to the next one that is open; if it is ticked, take that back. */
  tick() {
    const done = new Map(this.known.done);
    const number = done.get(this.sentence);
    if (number !== undefined) return this.untick(number);
    const size = this.reader.view.doc.sentences.length;
    let next = this.sentence;
    do next = (next + 1) % size;
    while (next !== this.sentence && done.has(next));
    return this.send({ kind: "complete", sentences: [this.sentence] }, -1, next);
  }

  untick(number) {
    return this.queue(async () => {
      await this.app.outbox.send("/withdraw", { client_id: clientId(), document: this.id, number });
      this.take(await get(`/full/${this.id}?sentence=${this.sentence}`));
      this.changed("The sentence is open again.");
    });
  }

  send(edit, after, sentence = this.sentence, withdraw = []) {
    const selected = this.span;
    return this.queue(async () => {
      const arrive = sentence !== this.sentence;
      const body = { client_id: clientId(), document: this.id, edit, sentence, seconds: this.watch.lap(), withdraw };
      try {
        const { number, view } = await this.app.outbox.send("/full", body);
        if (this.closed) return;
        const now = this.span; // while this was saved, other words may have been selected
        this.take(view, { arrive, after, keep: now && !arrive && !(selected && same(now, selected)) ? now : null });
        this.changed(`Saved as number ${number}.`);
        if (this.complete) this.panel.finished();
      } catch (problem) {
        if (problem.kind !== "contradiction") throw problem;
        const chosen = await resolveContradiction(problem, this.reader.view.doc);
        if (chosen) this.send(edit, after, sentence, chosen);
        else this.panel.say("Nothing was changed.");
      }
    });
  }

  changed(said) {
    this.app.tabs.changed(this.id);
    this.app.drawer.refresh("history");
    this.panel.say(said, "good");
  }

  step(name) {
    return this.queue(async () => {
      const { document, did } = await this.app.outbox.send(`/${name}`, { client_id: clientId() });
      if (document !== this.id) return this.app.go(`full/${document}`);
      this.take(await get(`/full/${this.id}?sentence=${this.sentence}`));
      return this.changed(stepped(name, did));
    });
  }

  /** Every sentence is ticked off: the document is done, and the next one comes. */
  async finish() {
    if (!this.complete) return this.panel.say("Tick every sentence off first.", "warn");
    await post(`/documents/${this.id}/done`, { done: true });
    this.app.note("The document is done. The next model learns from it.");
    return this.app.go("annotate");
  }

  /** Whether every sentence is ticked off. */
  get complete() {
    return this.known?.done.length === this.reader.view.doc.sentences.length;
  }

  // Keys

  /** Select the next or previous word of the sentence, beside the words that were selected last. */
  word(direction) {
    const [from, to] = this.bounds();
    const here = this.span ?? this.cursor;
    const at = here ? (direction > 0 ? last(here) : first(here)) + direction : direction > 0 ? from : to;
    if (at >= from && at <= to) this.reader.selection.set([at, at]);
  }

  move(by) {
    const to = this.sentence + by;
    if (to >= 0 && to < this.reader.view.doc.sentences.length) this.look(to);
  }

  bindings() {
    const bind = (keys, label, run, more = {}) => ({ keys, label, group: "Annotate in full", run, when: () => this.known !== null, ...more });
    const way = (direction) => (this.reader.view.doc.rtl ? -direction : direction);
    const selection = () => this.reader.selection;
    return [
      bind(["Enter"], "Accept the proposal", () => this.accept(), { when: () => this.known && this.proposal }),
      bind(["s"], "Same as the last one marked", () => this.known.last && this.mark(this.known.last)),
      bind(["n"], "A new entity", () => this.mark(null)),
      bind(["e", "/"], "Same as…: find the entity", () => this.panel.find()),
      bind([..."12345"], "Same as the entity with this number", (event) => this.panel.choose(Number(event.key))),
      bind(["x", "Delete"], "No mention", () => this.unmark()),
      bind(["Space", "c"], "The sentence is done: tick it off (or open it again)", () => this.tick()),
      bind(["ArrowDown"], "Next sentence", () => this.move(1), { repeats: true }),
      bind(["ArrowUp"], "Previous sentence", () => this.move(-1), { repeats: true }),
      bind(["ArrowRight"], "Next word", () => this.word(way(1)), { repeats: true }),
      bind(["ArrowLeft"], "Previous word", () => this.word(way(-1)), { repeats: true }),
      ...[["Shift", "end"], ["Alt", "start"]].flatMap(([held, end]) => [
        bind([`${held}+ArrowRight`], `Move the ${end} of the selection on`, () => selection().stretch(end, way(1)), { repeats: true }),
        bind([`${held}+ArrowLeft`], `Move the ${end} of the selection back`, () => selection().stretch(end, way(-1)), { repeats: true }),
      ]),
      bind(["."], "Next proposal or mention", () => selection().step(1), { repeats: true }),
      bind([","], "Previous proposal or mention", () => selection().step(-1), { repeats: true }),
      bind(["z", "Ctrl+z"], "Undo", () => this.step("undo")),
      bind(["Shift+z", "Ctrl+Shift+z", "Ctrl+y"], "Redo", () => this.step("redo")),
      bind(["Escape"], "Clear the selection", () => selection().set(null)),
      bind(["Shift+d"], "Finish the document, once every sentence is done", () => this.finish()),
      bind(["r"], "To the questions", () => this.app.go(`annotate/${this.id}`)),
    ];
  }

  close() {
    this.closed = true;
    this.watch.close();
    this.reader.close();
    this.app.tabs.hear = () => {};
  }
}
