/** Three steps on a bundled story. The answers are checked, and nothing is stored. */

import { get, post } from "../core/api.js";
import { QuestionFlow } from "../question/flow.js";
import { bindings } from "../question/keys.js";
import { h, replace } from "../core/dom.js";
import { Reader } from "../text/reader.js";
import { tutorial } from "../core/preferences.js";

/** `then` is where the last step leads: the timing study, or the questions. Somebody new is introduced with it. */
export function mount(main, app, [then]) {
  return new TutorialPage(main, app, then === "study" ? "study" : "annotate");
}

class TutorialPage {
  constructor(main, app, then) {
    this.app = app;
    this.then = then;
    this.at = 0;
    this.done = false;
    this.closed = false;
    this.reader = new Reader();
    this.flow = new QuestionFlow(app, this.reader, {
      submit: (answer) => this.check(answer),
      known: async () => this.known,
      other: { proceed: () => this.proceed() },
    });
    this.panel = this.flow.panel;
    this.panel.element.classList.add("tutorial");
    for (const element of [this.panel.undo, this.panel.redo, this.panel.finish]) element.hidden = true;
    this.instruction = h("p", { class: "instruction", role: "status" });
    this.panel.element.querySelector(".extra").prepend(this.instruction);
    main.append(h("div", { class: "annotate" }, this.reader.element, this.panel.element));
    const more = () => !this.panel.sets.proceed.hidden;
    this.keys = [...bindings(this.flow), { keys: ["Enter", "Space"], label: "Go on", group: "Tutorial", when: more, run: () => this.proceed() }];
    this.open();
  }

  async open() {
    this.tutorial = await get("/tutorial");
    if (this.closed) return;
    const { document: doc, steps } = this.tutorial;
    this.known = known(steps, doc);
    this.reader.open(doc);
    this.reader.view.markAll("candidate", this.known.mentions);
    this.show();
  }

  show() {
    const { steps } = this.tutorial;
    this.panel.count.textContent = `Tutorial, step ${this.at + 1} of ${steps.length}`;
    this.panel.rest.textContent = "Nothing is stored";
    this.panel.progress.value = this.at / steps.length;
    this.panel.say("");
    this.instruct("");
    this.flow.ask(steps[this.at].question);
    this.app.announce(`${steps[this.at].instruction} ${this.app.live.textContent}`);
  }

  /** The step's instruction, below what was wrong with the last answer. */
  instruct(verdict) {
    const { instruction } = this.tutorial.steps[this.at];
    replace(this.instruction, verdict ? h("strong", {}, `${verdict} `) : null, instruction);
  }

  async check(answer) {
    try {
      const { right, message } = await post("/tutorial/check", { step: this.at, answer });
      if (this.closed) return;
      this.app.announce(message);
      if (right) this.passed(message);
      else {
        this.flow.enter(this.flow.question.protocol === "follow-up" ? "follow-up" : "initial");
        this.instruct(message);
      }
    } catch (problem) {
      this.flow.again();
      this.panel.say(problem.message, "bad");
    }
  }

  passed(message) {
    this.flow.phase = "passed";
    this.reader.selection.end();
    const lastStep = this.at + 1 === this.tutorial.steps.length;
    this.done = lastStep;
    if (lastStep) {
      tutorial.done = true;
      if (this.app.me.new) this.introduced = post("/me", { introduced: true }).then((me) => (this.app.me = me));
    }
    this.panel.progress.value = (this.at + 1) / this.tutorial.steps.length;
    this.panel.card(lastStep ? "That is all there is to it" : "Right", message, {
      proceed: lastStep ? (this.then === "study" ? "Go to the timing study" : "Start annotating") : "Next step",
      help: lastStep ? "Press ? at any time for all keys, G for the guidelines." : "",
    });
  }

  async proceed() {
    if (this.flow.phase !== "passed") return;
    if (this.done) {
      await this.introduced;
      this.app.go(this.then);
    } else {
      this.at += 1;
      this.show();
    }
  }

  close() {
    this.closed = true;
    this.flow.close();
  }
}

/** What can be clicked in the tutorial: all that its questions speak of. */
function known(steps, doc) {
  const spans = new Map();
  for (const { question } of steps) {
    for (const span of [question.mention, question.antecedent, ...question.why.entities.map((chance) => chance.span)]) {
      if (span) spans.set(JSON.stringify(span), span);
    }
  }
  const entities = new Map();
  for (const { question } of steps) {
    for (const { entity, first, span } of question.why.entities) if (span) entities.set(entity, { id: entity, first, mentions: [{ span, text: first }] });
  }
  return { document: doc.id, entities: [...entities.values()], mentions: [...spans.values()] };
}
