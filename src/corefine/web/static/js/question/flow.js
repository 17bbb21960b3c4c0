/**
 * One question from its first step to its answer: yes or no, the follow-up, other boundaries. It does not talk to the
 * server: `submit(answer, timing)` receives the answer, and the page shows what comes next.
 */

import { visible } from "../core/dom.js";
import { choices, occurrences } from "./finder.js";
import { Group } from "./group.js";
import { askAgain } from "./rejected.js";
import { QuestionPanel } from "./panel.js";
import { compare, first, key, last, moved, same } from "../text/spans.js";
import { Stopwatch } from "../core/stopwatch.js";

export class QuestionFlow {
  /** `known()` resolves with the document's EntitiesView; `other` are the page's own actions. */
  constructor(app, reader, { submit, known, other = {} }) {
    this.app = app;
    this.reader = reader;
    this.submit = submit;
    this.known = known;
    this.phase = null;
    this.question = null;
    this.watch = new Stopwatch();
    this.times = {};
    const nothing = () => {};
    this.panel = new QuestionPanel({
      undo: nothing, redo: nothing, finish: nothing, proceed: nothing, review: nothing, ...other,
      yes: () => this.yes(),
      no: () => this.no(),
      first: () => this.isFirst(),
      use: () => this.use(),
      notAMention: () => this.reply("not-a-mention"),
      proposed: () => this.correct(this.correcting === "mention" ? "antecedent" : "mention"),
      likewise: () => this.repeat(!this.repeating),
      unsure: () => this.reply("unsure"),
      boundaries: () => this.boundaries(),
      back: () => this.back(),
      entity: (entry) => this.entity(entry),
      preview: (entry, options) => this.preview(entry, options),
      search: (words, shown) => this.search(words, shown),
      instead: (chance) => this.instead(chance),
    });
    this.group = new Group(reader, () => this.panel.group(this.group));
    this.panel.extra.prepend(this.group.element);
    reader.chosen = (span) => this.chosen(span);
    reader.scroller.addEventListener("click", ({ target }) => this.phase === "group" && this.group.click(reader.view.tokenAt(target)));
  }

  /** Whether the question can be answered now. */
  get open() {
    return ["initial", "follow-up", "boundaries", "group"].includes(this.phase);
  }

  /** Whether Escape leads from the follow-up back to yes or no. */
  get canGoBack() {
    return this.phase === "boundaries" || this.question?.protocol !== "follow-up";
  }

  /** Show a question. */
  ask(question) {
    const { view, fold, selection } = this.reader;
    selection.end();
    this.question = this.worded(question);
    this.times = {};
    view.mark("antecedent", question.antecedent);
    view.mark("mention", question.mention);
    view.markAll("shown", []);
    if (question.antecedent) fold.between(question.antecedent, question.mention);
    else fold.none();
    if (question.protocol !== "group") this.group.clear();
    this.enter({ "follow-up": "follow-up", group: "group" }[question.protocol] ?? "initial");
    if (question.protocol === "group") this.group.ask(question.group, question.mention);
    else this.reveal();
    this.announce();
  }

  /** The question with the words as they stand in the text, not as tokens joined by spaces. */
  worded(question) {
    const words = (span) => span && this.reader.view.words(span);
    const place = (span) => span && this.reader.view.sentenceOf[first(span)] + 1;
    const entities = question.why.entities.map((chance) => ({ ...chance, first: words(chance.name ?? chance.span), place: place(chance.name ?? chance.span) }));
    return { ...question, mention_text: words(question.mention), antecedent_text: words(question.antecedent), why: { ...question.why, entities } };
  }

  /** Remove the question and its marks. */
  clear() {
    const { view, fold, selection } = this.reader;
    this.question = null;
    this.phase = null;
    if (!view) return;
    selection.end();
    view.mark("antecedent", null);
    view.mark("mention", null);
    view.markAll("shown", []);
    this.group.clear();
    fold.none();
  }

  reveal() {
    const { mention, antecedent } = this.question;
    if (this.phase === "group") this.group.draw();
    else this.reader.reveal(...(antecedent ? [antecedent, mention] : [mention]));
  }

  announce() {
    const { mention, antecedent, mention_text: text, antecedent_text: proposed } = this.question;
    const { view } = this.reader;
    const near = (span) => `in “${visible(view.sentenceText(view.sentenceOf[first(span)])).slice(0, 300)}”`;
    const other = antecedent ? ` And “${visible(proposed)}”, ${near(antecedent)}.` : "";
    this.app.announce(`${this.panel.title.textContent} “${visible(text)}”, ${near(mention)}.${other}`);
  }

  enter(phase) {
    this.phase = phase;
    this.panel.ask(this.question, phase, { canGoBack: this.canGoBack });
    const { selection } = this.reader;
    if (phase === "initial" || phase === "group") selection.end();
    if (phase === "group") this.panel.group(this.group);
    if (phase === "boundaries") this.correct("mention");
    if (phase === "follow-up") this.begin();
    this.watch.start();
  }

  begin() {
    const { question } = this;
    const allowed = (token) => token <= last(question.mention);
    const refused = question.antecedent ? [question.antecedent] : [];
    this.reader.selection.begin({ allowed, refused });
    this.panel.list.show([]);
    this.rejected = this.denied.same === false && question.antecedent ? [question.antecedent] : [];
    this.known().then((known) => {
      if (this.phase !== "follow-up" || this.question !== question || !known) return;
      const { selection } = this.reader;
      const chain = known.entities.find(({ mentions }) => mentions.some(({ span }) => this.rejected.some((each) => same(each, span))));
      if (chain) this.rejected = chain.mentions.map(({ span }) => span);
      selection.begin({ allowed, candidates: known.mentions.filter((span) => this.possible(span)), refused, span: selection.span });
      this.panel.list.show(choices(this.reader.view, known, question, this.rejected));
    });
  }

  /** Any earlier text with these words, besides what the list shows. */
  search(words, shown) {
    const taken = new Set([...shown.flatMap(({ spans }) => spans), ...this.rejected].map(key));
    return occurrences(this.reader.view, words, first(this.question.mention) - 1, taken);
  }

  /** Whether a span can be named as an earlier mention: it comes before, and was not just denied. */
  possible(span) {
    return compare(span, this.question.mention) < 0 && !same(span, this.question.antecedent);
  }

  /** Time since the last step goes to the initial question or to the follow-up. */
  spend() {
    const name = this.asking === "follow-up" ? "follow_up" : "initial";
    this.times[name] = (this.times[name] ?? 0) + this.watch.lap();
  }

  /** The step that is being timed: boundaries belong to the step they were called from. */
  get asking() {
    return this.phase === "boundaries" ? this.from : this.phase;
  }

  say(answer) {
    if (!this.open) return;
    this.spend();
    this.resume = this.phase;
    this.phase = "sending";
    this.panel.busy(true);
    this.submit(answer, { ...this.times });
  }

  /** Go back to the step before sending: the answer was refused. */
  again() {
    this.enter(this.resume ?? "initial");
  }

  // What a person can do

  yes() {
    if (this.phase === "initial") this.say({ same: true });
    else if (this.phase === "group" && this.group.enough) this.say({ same: true, struck: this.group.struck });
    else if (this.phase === "group") this.panel.say("Too few are left. Say no: then they are asked about one by one.", "warn");
  }

  no() {
    if (this.phase === "group") return this.say({ same: false });
    if (this.phase !== "initial") return;
    if (this.question.protocol === "mentions") this.say({ reply: "not-a-mention" });
    else if (this.question.protocol === "pairwise") this.say({ same: false });
    else {
      this.spend();
      this.enter("follow-up");
      this.app.announce("No. Mark the first appearance: type any earlier words, or press F if this is the first.");
    }
  }

  get denied() {
    return this.phase === "follow-up" && this.question.protocol !== "follow-up" ? { same: false } : {};
  }

  isFirst() {
    if (this.phase === "follow-up") this.say({ ...this.denied, reply: "first", span: this.question.mention });
  }

  reply(reply) {
    if (this.phase === "boundaries") return;
    if (this.phase === "group" && reply === "not-a-mention") return this.say({ reply, struck: this.group.struck });
    // "Not a mention" replaces a no; "unsure" after a no keeps the no.
    this.say(reply === "unsure" ? { ...this.denied, reply } : { reply });
  }

  boundaries() {
    if (this.phase !== "initial" && this.phase !== "follow-up") return;
    this.from = this.phase;
    this.spend();
    this.enter("boundaries");
    this.panel.say("Drag over the right words, or Shift with ← → moves the end and Alt with ← → the start.");
  }

  /** Whose boundaries are wrong: those of the mention or of the proposed antecedent. */
  correct(which) {
    const { mention, antecedent } = this.question;
    if (which === "antecedent" && !antecedent) return;
    this.correcting = which;
    this.repeating = false;
    const span = which === "mention" ? mention : antecedent;
    const allowed = which === "mention" ? () => true : (token) => token <= last(mention);
    this.panel.correct(this.question, which);
    this.reader.selection.begin({ span, allowed });
    this.reader.reveal(span);
  }

  /** Other mentions with the same words that the same correction fits. */
  likewise(span) {
    const { mention, equal = [] } = this.question;
    if (this.correcting !== "mention" || same(span, mention)) return [];
    const { view } = this.reader;
    const words = (each) => view.words(each).toLocaleLowerCase();
    const fits = (each) => first(each) >= 0 && last(each) < view.tokens.length && words(each) === words(span);
    return equal.filter((other) => fits(moved(mention, span, other)));
  }

  repeat(on) {
    const others = this.likewise(this.reader.selection.span);
    if (this.phase !== "boundaries" || !others.length) return;
    this.repeating = on;
    this.panel.likewise(others.length, on);
  }

  back() {
    if (this.phase === "boundaries") {
      this.spend();
      this.enter(this.from);
    } else if (this.phase === "follow-up" && this.reader.selection.span) {
      this.reader.selection.set(null);
    } else if (this.phase === "follow-up" && this.canGoBack) {
      this.spend();
      this.enter("initial");
    }
  }

  /** Send the selection: as the first appearance, or only as an earlier mention. */
  use({ earlier = false } = {}) {
    const { span } = this.reader.selection;
    if (!span) return;
    if (this.phase === "boundaries") {
      const wrong = this.question[this.correcting];
      if (same(span, wrong)) this.panel.say("These are the boundaries it has. Select other words.", "warn");
      else if (this.correcting === "antecedent" && compare(span, this.question.mention) >= 0) this.panel.say("An earlier mention must come before this one.", "warn");
      else if (this.correcting === "antecedent") this.say({ reply: "proposed-boundaries", span });
      else this.say({ reply: "boundaries", span, ...(this.repeating ? { also: this.likewise(span) } : {}) });
    } else if (this.phase === "follow-up") {
      if (same(span, this.question.mention)) this.isFirst();
      else if (compare(span, this.question.mention) > 0) this.panel.say("The first appearance must come before the mention.", "warn");
      else this.name(earlier ? "antecedent" : "first", span);
    }
  }

  /** Name an earlier span. What was just rejected is shown as a contradiction. */
  async name(reply, span) {
    const { question } = this;
    if (!this.rejected.some((each) => same(each, span))) return this.say({ ...this.denied, reply, span });
    const { view } = this.reader;
    const said = await askAgain({ mention: question.mention_text, denied: question.antecedent_text, named: view.words(span), exact: same(span, question.antecedent) });
    if (this.question !== question || this.phase !== "follow-up" || !said) return null;
    return this.say(said === "same" ? { same: true } : { ...this.denied, reply, span });
  }

  /** An entry of the list: a known entity by its first mention, or a span that need not be the first. */
  entity({ entity, span }) {
    if (this.phase === "follow-up") this.name(entity ? "first" : "antecedent", span);
  }

  /** Whether a reason's row can be the answer: "no, this one", in one step. */
  get quick() {
    return this.phase === "initial" && this.question.protocol === "discrete" && this.question.why.entities.length > 0;
  }

  /** Take the entity of a reason's row: the proposed one is a yes. Another one is no statement about the proposed mention, which the model may have put into the wrong entity. */
  instead({ span, asked }) {
    if (!this.quick) return;
    if (asked) this.say({ same: true });
    else if (span) this.say({ reply: "antecedent", span });
    else this.say({ same: false, reply: "first", span: this.question.mention });
  }

  preview(entry, { scroll = false } = {}) {
    this.reader.view.markAll("shown", entry ? entry.spans : []);
    if (entry && scroll) this.reader.reveal(entry.span);
  }

  chosen(span) {
    const { reader, panel } = this;
    panel.chosen(span === null ? null : reader.view.words(span));
    if (this.phase === "boundaries") panel.likewise(span === null ? 0 : this.likewise(span).length, this.repeating);
    if (span === null || !this.open) return reader.offer([]);
    reader.fold.show(first(span));
    const { selection } = reader;
    const wider = selection.wider && { label: "Wider", key: "W", run: () => this.widen() };
    if (this.phase === "boundaries") {
      const changed = key(span) !== key(this.question[this.correcting]);
      return reader.offer(changed ? [{ label: "These words", key: "↵", keys: "Enter", run: () => this.use(), primary: true }] : []);
    }
    return reader.offer([
      { label: "First appearance", key: "↵", keys: "Enter", run: () => this.use(), primary: true },
      { label: "Only earlier", key: "⇧↵", keys: "Shift+Enter", run: () => this.use({ earlier: true }) },
      ...(wider ? [wider] : []),
    ]);
  }

  // Keys

  widen() {
    this.reader.selection.set(this.reader.selection.wider);
  }

  toggleFold() {
    this.reader.fold.toggle();
    this.reveal();
  }

  step(direction) {
    this.reader.selection.step(direction);
    this.showSelection();
  }

  stretch(end, direction) {
    this.reader.selection.stretch(end, direction);
    this.showSelection();
  }

  showSelection() {
    const { span } = this.reader.selection;
    if (!span) return;
    this.reader.reveal(span);
    this.app.announce(visible(this.reader.view.words(span)));
  }

  close() {
    this.watch.close();
    this.reader.close();
  }
}
