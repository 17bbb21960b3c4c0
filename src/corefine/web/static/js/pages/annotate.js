/** The annotation page: asks the server what to ask, shows it, sends the answer, and shows what comes next. */

import { clientId, get, post } from "../core/api.js";
import { QuestionFlow } from "../question/flow.js";
import { bindings } from "../question/keys.js";
import { resolveContradiction } from "../question/contradiction.js";
import { button, h } from "../core/dom.js";
import { plural, stepped } from "../core/format.js";
import { EntityCache, DocumentCache } from "../text/document-cache.js";
import { Reader } from "../text/reader.js";
import { underlines } from "../core/preferences.js";

const SOON = 60; // milliseconds after which the known entities are fetched ahead: once the question is drawn, before anybody has read it
const cache = new DocumentCache();
const visited = new Set(); // documents whose reading was done since the page was loaded

/** Note once when the page could first be used; the browser benchmark reads it. */
function usable() {
  if (!performance.getEntriesByName("corefine:usable").length) requestAnimationFrame(() => performance.mark("corefine:usable"));
}

export function mount(main, app, [id]) {
  return new AnnotatePage(main, app, id ? Number(id) : null);
}

class AnnotatePage {
  constructor(main, app, id) {
    this.app = app;
    this.state = null;
    this.document = null;
    this.closed = false;
    this.known = new EntityCache();
    this.offline = h(
      "div",
      { class: "offline", role: "alert", hidden: true },
      h("p", {}, "No connection to the server. What you did is kept in this browser and sent again until it arrives."),
      button("Try now", { class: "small", run: () => app.outbox.retry() }),
    );
    this.toggle = button("Entities", { key: "E", class: "small quiet", run: () => this.underline(!underlines.on) });
    const tools = [
      this.toggle,
      button("Review", { key: "R", class: "small quiet", run: () => this.review() }),
      button("In full", { key: "I", class: "small quiet", title: "Annotate the whole document yourself, sentence by sentence", run: () => this.full() }),
    ];
    this.reader = new Reader({ tools });
    this.reader.element.append(this.offline);
    this.flow = new QuestionFlow(app, this.reader, {
      submit: (answer, timing) => this.submit(answer, timing),
      known: () => this.entities(),
      other: {
        undo: () => this.step("undo"),
        redo: () => this.step("redo"),
        finish: () => this.finish(),
        proceed: () => this.proceed(),
        review: () => this.review(),
      },
    });
    this.panel = this.flow.panel;
    main.append(h("div", { class: "annotate" }, this.reader.element, this.panel.element));
    this.keys = this.bindings();
    app.waiting.add((state) => (this.offline.hidden = state !== "waiting"));
    app.tabs.hear = (document) => this.heard(document);
    app.reload = () => this.load(`/next${this.document ? `?document=${this.document}` : ""}`);
    this.load(`/next${id ? `?document=${id}` : ""}`);
  }

  // What to show

  /** Ask the server for the state, again and again if it is away. */
  async load(path) {
    try {
      const state = await get(path);
      this.offline.hidden = true;
      if (!this.closed) await this.take(state);
    } catch (problem) {
      if (this.closed) return;
      if (problem.passing) {
        this.offline.hidden = false;
        this.later = setTimeout(() => this.load(path), 2000);
      } else if (problem.kind === "taken" || problem.kind === "not-found") {
        this.app.note(problem.message, { kind: "warn" });
        this.app.go("documents");
      } else throw problem;
    }
  }

  async take(state) {
    clearTimeout(this.later);
    clearTimeout(this.ahead);
    this.state = state;
    this.app.bar.model(state.model);
    if (state.document !== null && state.document !== this.document) {
      const doc = await cache.text(state.document);
      if (this.closed || this.state !== state) return;
      if (this.document !== null) this.panel.say(""); // what was said is about the document before
      this.document = state.document;
      this.reader.open(doc);
    }
    this.known.forget(state.document);
    if (state.progress) this.panel.progressed(state.progress, state.question ? state.question.number : null);
    document.title = [this.panel.count.textContent, this.reader.view?.doc.name, this.app.me.project].filter(Boolean).join(" · ");
    this.panel.finish.disabled = state.state !== "question";
    if (state.state === "question") this.ask(state.question);
    else this.rest(state);
    if (underlines.on) this.underline(true);
  }

  ask(question) {
    if (!visited.has(this.document) && this.state.progress.questions === 0) {
      this.flow.clear();
      this.flow.phase = "reading";
      this.flow.watch.lap();
      usable();
      this.panel.card("Read the text first", "Then begin: questions come one at a time, the most useful one next.", {
        proceed: "Begin",
        help: "The time you read is counted apart from the questions.",
      });
      this.warn(question.document);
      return;
    }
    visited.add(this.document);
    this.flow.ask(question);
    usable();
    this.painted();
    this.ahead = setTimeout(() => this.entities(), SOON);
  }

  /** Offer to annotate the document in full where that was begun, or where the model knows little of its language or field. */
  async warn(document) {
    const nothing = { warning: null, ticked: 0 };
    const { warning, ticked, sentences } = await get(`/full/${document}/familiarity`).catch(() => nothing); // no need to know
    if (this.closed || this.document !== document || this.flow.phase !== "reading") return;
    if (ticked) {
      this.panel.card("Begun in full", `You have annotated ${ticked} of ${plural(sentences, "sentence")} of this document in full.`, {
        proceed: "Begin with questions",
        help: "Questions are only about the other sentences.",
        links: [button("Go on in full", { key: "I", class: "small", run: () => this.full() })],
      });
      return;
    }
    if (warning === null) return;
    this.panel.card("Read the text first", `${warning} Its questions may be poor.`, {
      proceed: "Begin with questions",
      help: "Or annotate this document in full: after two such documents the project has a model of its own.",
      links: [button("Annotate in full", { key: "I", class: "small", run: () => this.full() })],
    });
  }

  /** No question is open: say why, and what can be done. */
  rest(state) {
    this.flow.clear();
    this.flow.watch.stop();
    const { panel } = this;
    if (state.state === "preparing") {
      this.prepare(state.preparing);
      this.later = setTimeout(() => this.load(`/next${state.document ? `?document=${state.document}` : ""}`), 1000);
    } else if (state.state === "document-done") {
      this.done(state);
    } else if (state.state === "all-done") {
      panel.card("All documents are done", "There are no more questions for you. Thank you.", { review: state.document !== null });
    } else if (state.state === "paused") {
      const goOn = button("To the dashboard", { class: "small", run: () => this.app.go("project/dashboard") });
      panel.card("The project is paused", "The owner has paused it. Your answers are kept, and this page continues automatically.", { links: this.app.owner ? [goOn] : [] });
      this.later = setTimeout(() => this.load(`/next${state.document ? `?document=${state.document}` : ""}`), 5000);
    } else {
      panel.card("No documents yet", this.app.owner ? "Add files on the page Documents, or try the stories there." : "The project’s owner has not added any.", {
        proceed: this.app.owner ? "Documents" : null,
      });
    }
  }

  /** A document has no more questions: say why. Where the model could ask nothing at all, the person begins. */
  done(state) {
    const { questions, documents_done: done, documents } = state.progress;
    if (this.silent) {
      this.panel.finish.disabled = false;
      this.panel.progress.value = 0;
      this.panel.card("You begin here", "The model knows too little of this text to ask about it.", {
        proceed: "Annotate in full",
        links: [
          button("Next document", { key: "K", class: "small", run: () => this.next() }),
          button("Ask me all the same", { key: "M", class: "small", run: () => this.more() }),
        ],
        help: "After two documents annotated in full, the project has a model of its own.",
      });
      return;
    }
    const why = {
      sure: "The model is sure of the rest.",
      unfamiliar: "The model knows too little of this text to ask more.",
      budget: "Its budget of questions is used.",
      nothing: "Nothing is left to ask.",
      finished: "You finished it.",
    };
    this.panel.card("This document is done", `${why[state.ended] ?? ""} ${plural(questions, "question")} answered here; ${done} of ${plural(documents, "document")} done.`, {
      proceed: "Next document",
      review: true,
      links: [
        state.ended === "nothing" ? null : button("Ask me more", { key: "M", class: "small", run: () => this.more() }),
        state.ended === "unfamiliar" ? button("Annotate in full", { key: "I", class: "small", run: () => this.full() }) : null,
      ].filter(Boolean),
      help: "In the review you see all entities side by side and can correct what is left.",
    });
  }

  /** Whether the model had nothing to ask about the document: it is not done. */
  get silent() {
    return this.state?.state === "document-done" && this.state.ended === "unfamiliar" && this.state.progress.questions === 0;
  }

  /** Go to the next document. */
  next() {
    const { upcoming } = this.state;
    return this.load(upcoming === null ? "/next" : `/next?document=${upcoming}`);
  }

  /** The model is not ready: say what it does, and what can be read meanwhile. */
  prepare(preparing) {
    const { doing, read, documents } = preparing ?? { doing: "" };
    const what = {
      loading: "The model is being loaded.",
      predicting: `The model is reading: ${read} of ${plural(documents ?? 0, "document")} so far.`,
      training: "The model is learning from the answers so far, and reads this document next.",
    };
    this.panel.card("The model is getting ready", what[doing] ?? "The model is about to start.", {
      help: "The first question comes as soon as it has read this document. Meanwhile you can read the text.",
      links: [
        button("Tutorial", { class: "small", run: () => this.app.go("tutorial") }),
        button("Guidelines", { key: "G", class: "small", run: () => this.app.drawer.open("guidelines") }),
      ],
    });
    this.panel.count.textContent = "Getting ready";
    this.panel.rest.textContent = "";
    if (doing === "predicting" && documents) this.panel.progress.value = read / documents;
    else this.panel.progress.removeAttribute("value");
  }

  proceed() {
    if (this.flow.phase === "reading") {
      this.reading = this.flow.watch.lap();
      visited.add(this.document);
      this.ask(this.state.question);
    } else if (this.silent) this.full();
    else if (this.state?.state === "document-done") this.next();
    else if (this.state?.state === "empty") this.app.go("documents");
  }

  /** Entities as they are now; their mentions can then be clicked. */
  async entities() {
    const { view } = this.reader;
    const known = await this.known.fetch();
    if (known && view === this.reader.view) view.markAll("candidate", known.mentions);
    return known;
  }

  async underline(on) {
    underlines.on = on;
    this.toggle.setAttribute("aria-pressed", String(on));
    if (!this.reader.view) return;
    const known = on ? await this.entities() : null;
    if (known || !on) this.reader.view.underline(known?.entities ?? null);
  }

  // What a person does

  async submit(answer, timing, withdraw = []) {
    const { question } = this.state;
    performance.mark("corefine:answer", { startTime: window.event?.timeStamp ?? performance.now() });
    const body = { client_id: clientId(), document: this.document, question: question.id, answer, timing: this.timed(timing), withdraw };
    try {
      const result = await this.app.outbox.send("/answers", body);
      this.reading = null;
      this.panel.settled(result.outcome);
      this.changed();
      await this.take(result.next);
    } catch (problem) {
      await this.failed(problem, answer, timing);
    }
  }

  timed(timing) {
    return { reading: this.reading ?? null, initial: timing.initial ?? null, follow_up: timing.follow_up ?? null };
  }

  async failed(problem, answer, timing) {
    if (this.closed) return;
    if (problem.kind === "not-open" && problem.next) {
      this.panel.say("This question was answered meanwhile, in another tab or by a retry.", "warn");
      await this.take(problem.next);
    } else if (problem.kind === "contradiction") {
      const withdraw = await resolveContradiction(problem, await cache.text(this.document));
      if (withdraw) return this.submit(answer, timing, withdraw);
      this.panel.say("Nothing was changed. The question is still open.");
      this.flow.again();
    } else {
      this.flow.again();
      this.panel.say(problem.message, "bad");
      if (problem.status === 401) throw problem;
    }
  }

  async step(name) {
    if (this.flow.phase === "sending") return;
    if (name === "undo" && ["follow-up", "boundaries"].includes(this.flow.phase) && this.flow.canGoBack) return this.flow.back();
    const before = this.document;
    try {
      this.flow.phase = "sending";
      const { document, did, next } = await this.app.outbox.send(`/${name}`, { client_id: clientId() });
      const where = document === before ? "" : " in another document";
      this.changed(document);
      await this.take(next);
      this.panel.say(stepped(name, did, where));
    } catch (problem) {
      await this.load(`/next${before === null ? "" : `?document=${before}`}`);
      this.panel.say(problem.message, "warn");
    }
  }

  async finish() {
    if (this.state?.state !== "question" && !this.silent) return;
    await this.take(await post(`/documents/${this.document}/done`, { done: true }));
    this.panel.say("You can take it up again on the page Documents.");
  }

  /** Go on with a document that is done. */
  async more() {
    if (this.state?.state === "document-done" && this.state.ended !== "nothing") await this.take(await post(`/documents/${this.document}/more`));
  }

  full() {
    if (this.document) this.app.go(`full/${this.document}`);
  }

  review() {
    if (this.document) this.app.go(`review/${this.document}`);
  }

  changed(document = this.document) {
    this.app.tabs.changed(document);
    this.app.drawer.refresh("history");
  }

  /** Another tab answered something: show the new state, unless an answer is on its way. */
  async heard(document) {
    if (document !== this.document || this.flow.phase === "sending") return;
    const before = this.state?.question?.id;
    const state = await get(`/next?document=${document}`);
    if (this.closed || this.flow.phase === "sending" || state.question?.id === before) return;
    await this.take(state);
    this.panel.say("Answered in another tab; this is the next question.", "warn");
  }

  /** Measure what a person waits for: from the answer to the next question on the screen. */
  painted() {
    if (!performance.getEntriesByName("corefine:answer").length) return;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        if (!performance.getEntriesByName("corefine:answer").length) return;
        performance.measure("corefine:answer-to-question", "corefine:answer");
        performance.clearMarks("corefine:answer");
      };
      port2.postMessage(null);
    });
  }

  bindings() {
    const group = "The work";
    const working = () => this.flow.phase !== "sending";
    return [
      ...bindings(this.flow),
      { keys: ["Enter", "Space"], label: "Go on (begin, next document)", group, when: () => !this.panel.sets.proceed.hidden && !this.panel.proceed.hidden, run: () => this.proceed() },
      { keys: ["z", "Ctrl+z"], label: "Undo", group, when: working, run: () => this.step("undo") },
      { keys: ["Shift+z", "Ctrl+Shift+z", "Ctrl+y"], label: "Redo", group, when: working, run: () => this.step("redo") },
      { keys: ["Shift+d"], label: "Finish this document", group, run: () => this.finish() },
      { keys: ["m"], label: "Ask more about a document that is done", group, when: () => this.state?.state === "document-done", run: () => this.more() },
      { keys: ["k"], label: "Next document, if the model has no questions about this one", group, when: () => this.silent, run: () => this.next() },
      { keys: ["i"], label: "Annotate this document in full", group, run: () => this.full() },
      { keys: ["r"], label: "Review the entities of this document", group, run: () => this.review() },
      { keys: ["e"], label: "Show or hide entities as underlines", group: "Reading", run: () => this.underline(!underlines.on) },
    ];
  }

  close() {
    this.closed = true;
    clearTimeout(this.later);
    clearTimeout(this.ahead);
    this.known.forget(null);
    this.flow.close();
    this.app.tabs.hear = () => {};
  }
}
