/** The dashboard: what was done, how the model learns, and the training in the background. */

import { get, post, put } from "../core/api.js";
import { button, h, quoted, replace } from "../core/dom.js";
import { duration, fixed, percent, plural, when } from "../core/format.js";
import { curve } from "./chart.js";
import { figures, table } from "./tables.js";

const REFRESH = 5000;
const STATES = {
  idle: ["idle", ""],
  loading: ["loading the model", "warn"],
  predicting: ["reading the documents", "warn"],
  training: ["training", "good"],
  failed: ["failed", "bad"],
  stopped: ["stopped", "bad"],
};

export async function show(body, app, page) {
  const summary = h("div", { class: "stack parts-of" });
  const training = h("section", { class: "panel-box stack", "aria-label": "Training" });
  replace(body, h("h1", {}, app.me.project), summary, training);

  async function refresh() {
    const dashboard = await get("/dashboard");
    if (page.closed) return;
    replace(summary, overview(dashboard), budget(dashboard, app, refresh), learning(dashboard.curve), people(dashboard.people));
    train(training, dashboard.training, refresh);
  }

  await refresh();
  const timer = setInterval(() => (page.closed ? clearInterval(timer) : document.hidden || refresh().catch(() => {})), REFRESH);
}

const overview = ({ documents, documents_done: done, answers, hours, questions_per_hour: rate }) =>
  figures([
    ["Documents done", `${done} of ${documents}`],
    ["Answers", answers.toLocaleString("en")],
    ["Hours spent", fixed(hours)],
    ["Questions a person an hour", fixed(rate, 0)],
  ]);

/** What the project costs in all, before it begins and while it goes on; and a way to pause it. */
function budget({ estimate, paused }, app, refresh) {
  const pause = async () => {
    await put("/settings", { ...(await get("/settings")), paused: !paused });
    await refresh();
  };
  const { documents = 0, questions = 0, answers = 0, seconds_each: each = 0, measured = 0, reading = 0, hours = 0, hours_left: left = 0 } = estimate ?? {};
  const source = measured ? `the mean of ${plural(measured, "answer")} in this project` : "the paper’s study, until 20 answers are timed here";
  const words = estimate
    ? `${plural(documents, "document")} have ${plural(questions, "question")} at most; at ${fixed(each)} s each (${source}) that is ${duration(3600 * hours)} of people’s time. ${answers ? `${plural(answers, "answer")} are given, ` : ""}${duration(3600 * left)} ${answers ? "are left" : "in all"}${reading ? `, ${duration(reading)} of it for reading` : ""}. Documents end earlier where the model is sure of the rest.`
    : "Documents have no budget of questions, so there is no estimate: give them one in the settings.";
  return h(
    "section",
    { class: "panel-box stack", "aria-label": "Time and cost" },
    h("div", { class: "row spread" }, h("h2", {}, "Time and cost"), paused ? h("span", { class: "tag warn" }, "paused") : null),
    documents || !estimate ? h("p", { class: "soft" }, words) : h("p", { class: "soft" }, "Add documents first: then this says what they will cost."),
    h("div", { class: "row" }, button(paused ? "Go on" : "Pause the project", { run: pause, class: paused ? "primary" : "" }), h("span", { class: "help" }, paused ? "Nobody is asked anything now." : "Nobody is asked anything while it is paused; answers on their way are kept.")),
  );
}

/** Held-out F1 where there is gold; otherwise how probable the model finds answers that it was not trained on. */
function learning(points) {
  const gold = points.some(({ f1 }) => f1 !== null);
  const held = points.filter(({ explained }) => explained !== null).length > 1;
  const value = gold ? ({ f1 }) => f1 : held ? ({ explained }) => explained && 100 * explained : ({ accepted }) => accepted && 100 * accepted;
  const known = points.filter((point) => value(point) !== null && value(point) !== undefined);
  const label = gold ? "CoNLL F1 on held-out documents" : held ? "Probability of held-back answers, percent" : "Proposals accepted, percent";
  const chart = known.length > 1 ? curve({ label, across: "answers", points: known.map((point) => ({ x: point.answers, y: value(point), name: `version ${point.version}` })) }) : h("p", { class: "soft" }, "The learning curve begins with the second version of the model.");
  return h(
    "section",
    { class: "panel-box stack", "aria-label": "Learning curve" },
    h("h2", {}, "Learning curve"),
    h("div", { class: "chart-scroll" }, chart),
    table(
      "Versions of the model",
      [
        ["Version", ({ version, name }) => `${version} (${name})`],
        ["Answers", ({ answers }) => answers.toLocaleString("en"), true],
        ["Held-out F1", ({ f1 }) => fixed(f1), true],
        ["Held-back answers", ({ explained, low, high, held_back: count }) => (explained === null ? "–" : `${percent(explained)} (${percent(low)} to ${percent(high)}) of ${count}`), true],
        ["Proposals accepted", ({ accepted, asked }) => (accepted === null ? "–" : `${percent(accepted)} of ${asked}`), true],
        ["Made", ({ at }) => when(at)],
      ],
      points,
    ),
  );
}

const people = (rows) =>
  h(
    "section",
    { class: "panel-box stack", "aria-label": "People" },
    h("h2", {}, "People"),
    table(
      "What each person did",
      [
        ["Name", ({ name }) => quoted(name)],
        ["Answers", ({ answers }) => answers.toLocaleString("en"), true],
        ["Time", ({ seconds }) => duration(seconds), true],
        ["Questions an hour", ({ questions_per_hour: rate }) => fixed(rate, 0), true],
        ["Documents done", ({ documents_done: done }) => String(done), true],
        ["Begun", ({ documents_begun: begun }) => String(begun), true],
        ["Assigned, not begun", ({ documents_waiting: waiting }) => String(waiting), true],
        ["Last answer", ({ last_seen: seen }) => (seen ? when(seen) : "–")],
      ],
      rows,
    ),
  );

function train(element, status, refresh) {
  const [words, kind] = STATES[status.state];
  const every = status.retrain_every ? `trains by itself after ${status.retrain_every} answers` : "trains only on demand";
  const share = status.share_done === null ? "" : ` ${percent(status.share_done)}`;
  const now = async () => {
    await post("/training");
    await refresh();
  };
  replace(
    element,
    h("div", { class: "row spread" }, h("h2", {}, "Training"), h("span", { class: `tag ${kind}` }, `${words}${share}`)),
    h("p", { class: "soft" }, `Version ${status.version}; ${status.answers_since} answers since. It ${every}.`),
    status.message ? h("p", { class: "said bad wrap", role: "alert" }, status.message) : null,
    h("div", {}, button("Train now", { run: now, disabled: status.state === "training" })),
  );
}
