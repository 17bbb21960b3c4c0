/** A session of the timing study: instructions, the tutorial, then as many questions as fit into a fixed time. */

import { clientId, get } from "../core/api.js";
import { QuestionFlow } from "../question/flow.js";
import { bindings } from "../question/keys.js";
import { button, h, replace } from "../core/dom.js";
import { plural } from "../core/format.js";
import { EntityCache, DocumentCache } from "../text/document-cache.js";
import { markdown } from "../core/markdown.js";
import { Reader } from "../text/reader.js";
import { tutorial } from "../core/preferences.js";

const cache = new DocumentCache();
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
    this.known = new EntityCache();
    app.waiting.add((state) => this.waiting(state));
    this.open();
  }

  async open() {
    const session = await get("/study/session");
    if (!this.closed) await this.take(session);
  }

  message(title, ...content) {
    replace(this.main, h("div", { class: "message" }, h("h1", {}, title), ...content.filter(Boolean).map((each) => (typeof each === "string" ? h("p", {}, each) : each))));
  }

  async take(session) {
    this.session = session;
    if (session.state === "none") this.message("No timing study", "The project’s owner has not set one up.");
    else if (session.state === "ready") this.instructions(session);
    else if (session.state === "over") this.over(session);
    else await this.ask(session);
  }

  /** Before the session: the instructions, and the tutorial for people who have not done it in this browser. */
  instructions({ instructions, minutes, set }) {
    const learn = () => this.app.go("tutorial/study");
    const first = tutorial.done ? () => this.start("discrete") : learn;
    const enter = { key: "↵", keys: "Enter", class: "primary" };
    this.message(
      "Timing study",
      `A session of ${plural(minutes, "minute")} without a pause. You begin with set ${set}.`,
      markdown(instructions),
      tutorial.done ? null : "Do the tutorial first: three steps, two minutes. They are not timed.",
      h(
        "div",
        { class: "row" },
        button("Tutorial", { ...(tutorial.done ? {} : enter), run: learn }),
        button("Start the session", { ...(tutorial.done ? enter : {}), run: () => this.start("discrete") }),
        button("Start with first appearances only", { run: () => this.start("follow-up") }),
      ),
    );
    this.keys.push({ keys: ["Enter"], label: "Go on", group: "Timing study", when: () => this.session.state === "ready", run: first });
  }

  over({ answered, of, again, next_set }) {
    clearInterval(this.timer);
    this.flow?.clear();
    this.flow?.close();
    this.flow = null;
    this.document = null;
    this.keys.length = 0;
    this.app.bar.study(false);
    const end = answered === of ? "You answered all questions" : "Time is up. You answered";
    this.message("Thank you", `${end}${answered === of ? ` (${of})` : ` ${plural(answered, "question")}`}. The session is over.`, again ? this.another(next_set) : null, h("a", { class: "button", href: "#annotate" }, "To the project’s own questions"));
  }

  /** A person may have several sessions; none asks what was answered in another. */
  another(set) {
    return h(
      "div",
      {},
      h("p", {}, `You may do another session of the same length, now or later. It begins with set ${set}.`),
      h("div", { class: "row" }, button("Start another session", { run: () => this.start("discrete") }), button("Another with first appearances only", { run: () => this.start("follow-up") })),
    );
  }

  /** What was answered is kept in this browser and sent again while the server is away. */
  waiting(state) {
    if (state === "waiting") this.panel?.say("No connection to the server. Your answer is kept and sent again until it arrives.", "warn");
  }

  async start(protocol) {
    await this.take(await this.app.outbox.send("/study/session", { client_id: clientId(), protocol }));
  }

  async ask(session) {
    if (!this.flow) this.build();
    this.ends = performance.now() + session.seconds_left * 1000;
    if (session.document !== this.document) {
      const doc = await cache.text(session.document);
      if (this.closed) return;
      this.reader.open(doc);
      this.document = session.document;
      this.flow.watch.lap();
    }
    this.known.forget(session.document);
    this.panel.count.textContent = `Question ${session.answered + 1} of ${session.of}`;
    this.panel.progress.value = session.answered / session.of;
    this.panel.say("");
    this.flow.ask(session.question);
  }

  build() {
    this.reader = new Reader();
    this.flow = new QuestionFlow(this.app, this.reader, {
      submit: (answer, timing) => this.submit(answer, timing),
      known: async () => {
        const known = await this.known.fetch();
        if (known) this.reader.view.markAll("candidate", known.mentions);
        return known;
      },
    });
    this.panel = this.flow.panel;
    for (const element of [this.panel.undo, this.panel.redo, this.panel.finish]) element.hidden = true;
    this.keys.push(...bindings(this.flow));
    replace(this.main, h("div", { class: "annotate" }, this.reader.element, this.panel.element));
    this.timer = setInterval(() => this.tick(), 500);
  }

  tick() {
    const left = Math.max(0, (this.ends - performance.now()) / 1000);
    this.panel.rest.textContent = `${clock(left)} left`;
    if (left === 0 && !this.ending) this.end();
  }

  /** Time is up here; the server says whether it is up there, and if not, how much is left. */
  async end() {
    this.ending = true;
    try {
      await this.open();
    } finally {
      this.ending = false;
    }
  }

  async submit(answer, timing) {
    const { question, document } = this.session;
    const times = { reading: null, initial: timing.initial ?? null, follow_up: timing.follow_up ?? null };
    try {
      await this.take(await this.app.outbox.send("/study/answers", { client_id: clientId(), document, question: question.id, answer, timing: times }));
    } catch (problem) {
      this.flow.again();
      this.panel.say(problem.message, "bad");
      if (problem.kind === "not-open") await this.open();
    }
  }

  close() {
    this.closed = true;
    clearInterval(this.timer);
    this.known.forget(null);
    this.flow?.close();
  }
}
