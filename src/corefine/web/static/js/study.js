/** A session of the timing study: instructions, the tutorial, then as many questions as fit into a fixed time. */

import { clientId, get } from "./api.js";
import { Asker } from "./asker.js";
import { bindings } from "./asker-keys.js";
import { button, h, replace } from "./dom.js";
import { plural } from "./format.js";
import { Known, Library } from "./library.js";
import { markdown } from "./markdown.js";
import { Reader } from "./reader.js";

const library = new Library();
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

export function mount(main, app) {
  return new StudyPage(main, app);
}

class StudyPage {
  constructor(main, app) {
    this.app = app;
    this.main = main;
    this.keys = [];
    this.closed = false;
    this.document = null;
    this.known = new Known();
    this.open();
  }

  async open() {
    try {
      const session = await get("/study/session");
      if (!this.closed) await this.take(session);
    } catch (problem) {
      if (problem.kind !== "not-found") throw problem;
      this.message("No timing study", "This server has no timing study.");
    }
  }

  message(title, ...content) {
    replace(this.main, h("div", { class: "message" }, h("h1", {}, title), ...content.map((each) => (typeof each === "string" ? h("p", {}, each) : each))));
  }

  async take(session) {
    this.session = session;
    if (session.state === "none") this.message("No timing study", "The project’s owner has not set one up.");
    else if (session.state === "ready") this.instructions(session);
    else if (session.state === "over") this.message("Thank you", `The session is over. You answered ${plural(session.answered, "question")}.`, h("a", { class: "button", href: "#annotate" }, "Back to the project"));
    else await this.ask(session);
  }

  instructions({ instructions, minutes, set, order }) {
    this.message(
      "Timing study",
      `Set ${set}, session ${order}: ${minutes} minutes. Answer as many questions as you can, as carefully as you would otherwise. Do the tutorial first if you have not.`,
      markdown(instructions),
      h("div", { class: "row" }, button("Start", { key: "↵", keys: "Enter", class: "primary", run: () => this.start() }), h("a", { class: "button", href: "#tutorial" }, "Tutorial")),
    );
    this.keys.push({ keys: ["Enter"], label: "Start", group: "Timing study", when: () => this.session.state === "ready", run: () => this.start() });
  }

  async start() {
    await this.take(await this.app.outbox.send("/study/session", { client_id: clientId() }));
  }

  async ask(session) {
    if (!this.asker) this.build();
    this.ends = performance.now() + session.seconds_left * 1000;
    if (session.document !== this.document) {
      const doc = await library.text(session.document);
      if (this.closed) return;
      this.reader.open(doc);
      this.document = session.document;
      this.reading = true;
      this.asker.watch.lap();
    }
    this.known.forget(session.document);
    this.panel.count.textContent = `Question ${session.answered + 1} of ${session.of}`;
    this.panel.progress.value = session.answered / session.of;
    this.asker.ask(session.question);
  }

  build() {
    this.reader = new Reader();
    this.asker = new Asker(this.app, this.reader, {
      submit: (answer, timing) => this.submit(answer, timing),
      known: async () => {
        const known = await this.known.fetch();
        if (known) this.reader.view.markAll("candidate", known.mentions);
        return known;
      },
    });
    this.panel = this.asker.panel;
    for (const element of [this.panel.undo, this.panel.redo, this.panel.finish]) element.hidden = true;
    this.keys.push(...bindings(this.asker));
    replace(this.main, h("div", { class: "annotate" }, this.reader.element, this.panel.element));
    this.timer = setInterval(() => this.tick(), 500);
  }

  tick() {
    const left = Math.max(0, (this.ends - performance.now()) / 1000);
    this.panel.rest.textContent = `${clock(left)} left`;
    if (left === 0) {
      clearInterval(this.timer);
      this.open();
    }
  }

  async submit(answer, timing) {
    const { question, document } = this.session;
    const times = { reading: null, initial: timing.initial ?? null, follow_up: timing.follow_up ?? null };
    try {
      await this.take(await this.app.outbox.send("/study/answers", { client_id: clientId(), document, question: question.id, answer, timing: times }));
    } catch (problem) {
      this.asker.again();
      this.panel.say(problem.message, "bad");
      if (problem.kind === "not-open") await this.open();
    }
  }

  close() {
    this.closed = true;
    clearInterval(this.timer);
    this.known.forget(null);
    this.asker?.close();
  }
}
