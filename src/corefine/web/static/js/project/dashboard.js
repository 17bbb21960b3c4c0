/** The dashboard: what was done, how the model learns, and the training in the background. */

import { get, post, put } from "../core/api.js";
import { button, h, quoted, replace } from "../core/dom.js";
import { duration, fixed, percent, plural, when } from "../core/format.js";
import { curve } from "./chart.js";
import { figures, table } from "./tables.js";

const REFRESH = 5000;
const UNUSED = "Trainings whose model is not used";
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
  const outlook = h("section", { class: "panel-box stack", "aria-label": "What more hours would bring" });
  const foresee = (...lines) => replace(outlook, h("h2", {}, "What more hours would bring"), ...lines.map((line) => h("p", { class: "soft" }, line)));
  foresee("Looking at the documents that are left …");
  replace(body, h("h1", {}, app.me.project), summary, training);

  async function refresh() {
    const dashboard = await get("/dashboard");
    if (page.closed) return;
    replace(summary, overview(dashboard), budget(dashboard, app, refresh), outlook, learning(dashboard), people(dashboard.people));
    train(training, dashboard.training, refresh);
  }

  await refresh();
  get("/outlook").then((found) => foresee(...more(found)), () => foresee("This cannot be told now."));
  const timer = setInterval(() => (page.closed ? clearInterval(timer) : document.hidden || refresh().catch(() => {})), REFRESH);
}

const overview = ({ documents, documents_done: done, answers, hours, questions_per_hour: rate }) =>
  figures([
    ["Documents done", `${done} of ${documents}`],
    ["Answers given", answers.toLocaleString("en")],
    ["Time spent", duration(3600 * hours)],
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
    ? `${plural(documents, "document")} have ${plural(questions, "question")} at most; at ${fixed(each)} s each (${source}) that is ${duration(3600 * hours)} of people’s time. ${answers ? `${plural(answers, "answer")} are given, ${duration(3600 * left)} are left${reading ? `, ${duration(reading)} of it for reading` : ""}. ` : ""}Documents end earlier where the model is sure of the rest.`
    : "Documents have no budget of questions, so there is no estimate: give them one in the settings.";
  return h(
    "section",
    { class: "panel-box stack", "aria-label": "Time and cost" },
    h("div", { class: "row spread" }, h("h2", {}, "Time and cost"), paused ? h("span", { class: "tag warn" }, "paused") : null),
    documents || !estimate ? h("p", { class: "soft" }, words) : h("p", { class: "soft" }, "Add documents first: then this says what they will cost."),
    h("div", { class: "row" }, button(paused ? "Go on" : "Pause the project", { run: pause, class: paused ? "primary" : "" }), h("span", { class: "help" }, paused ? "Nobody is asked anything now." : "Nobody is asked anything while it is paused; answers on their way are kept.")),
  );
}

/** What the questions left would bring, in words. */
function more({ documents, questions, hours, seconds_each: each, corrections, next_hour: next, last_hour: last, sampled, unfamiliar, used_up: used }) {
  if (!documents) return ["All documents are done."];
  if (!sampled) return ["The model has not read the documents yet."];
  const others = [
    unfamiliar ? `The model knows too little of ${plural(unfamiliar, "document")} to ask about ${unfamiliar === 1 ? "it" : "them"}. Annotate two in full: then it learns.` : null,
    used ? `In ${plural(used, "document")} the budget of questions is used.` : null,
  ].filter(Boolean);
  if (!questions && others.length) return others;
  if (!questions) return [`Little: in the ${plural(documents, "document")} that nobody has finished, the model is sure of what is left.`];
  const about = (count) => Math.max(1, Math.round(count)).toLocaleString("en");
  return [
    `${plural(questions, "question")} ${questions === 1 ? "is" : "are"} worth asking in the ${plural(documents, "document")} that nobody has finished: about ${duration(hours * 3600)} at ${duration(each)} each.`,
    `About ${about(corrections)} of the answers would differ from what the model expects.` + (hours > 2 ? ` The next hour would bring about ${about(next)} of them, the last one about ${about(last)}.` : ""),
    ...others,
    h("span", { class: "help" }, `Estimated from ${plural(sampled, "document")} by how unsure the newest model is.`),
  ];
}

/** Held-out F1 where there is gold, otherwise how probable the model finds answers it was not trained on; and beside it what people accepted. */
function learning({ curve: points, unused, held_out: documents, held_out_mentions: mentions }) {
  const known = (pick) => points.map((point) => ({ x: point.answers, name: point.answers ? `version ${point.version}` : point.name, ...pick(point) })).filter(({ y }) => y !== null && y !== undefined);
  const share = (value) => (value === null ? null : 100 * value);
  const gold = known(({ f1, f1_low: low, f1_high: high }) => ({ y: f1, low, high }));
  const held = known(({ explained, low, high }) => ({ y: share(explained), low: share(low), high: share(high) }));
  const accepted = known(({ accepted: yes, accepted_low: low, accepted_high: high }) => ({ y: share(yes), low: share(low), high: share(high) }));
  const charts = [
    gold.length > 1 ? [gold, "CoNLL F1 on held-out documents"] : held.length > 1 ? [held, "Probability of held-back answers, percent"] : null,
    accepted.length > 1 ? [accepted, "Proposals that people accepted, percent"] : null,
  ].filter(Boolean);
  const missing = points.some(({ answers }) => answers)
    ? "The learning curve needs held-out documents with gold labels, or at least five answers that are held back (one in ten is)."
    : "The learning curve begins with the first model that is trained on answers here.";
  const few = `The bars are 95 % intervals${gold.length > 1 ? ` (${plural(documents, "held-out document")} with ${plural(mentions, "mention")})` : ""}: differences within them may be chance. People accept fewer proposals as the questions get harder, even if the model improves.`;
  return h(
    "section",
    { class: "panel-box stack", "aria-label": "Learning curve" },
    h("h2", {}, "Learning curve"),
    charts.length ? h("div", { class: "charts" }, ...charts.map(([drawn, label]) => h("div", { class: "chart-scroll" }, curve({ label, across: "answers and edits", points: drawn })))) : h("p", { class: "soft" }, missing),
    charts.length ? h("p", { class: "help" }, few) : null,
    held.length > 1 && !documents ? h("p", { class: "help" }, "Held-back answers are as right or as wrong as the others. Only held-out documents with gold labels show whether the model improves.") : null,
    table(
      "Versions of the model",
      [
        ["Version", ({ version, name }) => `${version} (${name})`],
        ["Answers and edits", ({ answers }) => answers.toLocaleString("en"), true],
        ["Held-out F1", ({ f1, f1_low: low, f1_high: high }) => (f1 === null || low === null ? fixed(f1) : `${fixed(f1)} (${fixed(low, 0)} to ${fixed(high, 0)})`), true],
        ["Held-back answers", ({ explained, low, high, held_back: count }) => (explained === null ? "–" : `${percent(explained)} (${percent(low)} to ${percent(high)}) of ${count}`), true],
        ["Proposals accepted", ({ accepted, asked }) => (accepted === null ? "–" : `${percent(accepted)} of ${asked}`), true],
        ["Made", ({ at }) => when(at)],
      ],
      points,
    ),
    unused.length ? h("h3", {}, UNUSED) : null,
    unused.length
      ? table(
          UNUSED,
          [
            ["Version", ({ version }) => String(version)],
            ["Answers and edits", ({ answers }) => answers.toLocaleString("en"), true],
            ["Why", ({ reason }) => h("span", { class: "wrap" }, reason)],
            ["Made", ({ at }) => when(at)],
          ],
          unused,
        )
      : null,
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
        ["To do", ({ documents_waiting: waiting }) => String(waiting), true],
        ["Last answer", ({ last_seen: seen }) => (seen ? when(seen) : "–")],
      ],
      rows,
    ),
  );

function train(element, status, refresh) {
  const [words, kind] = STATES[status.state];
  const every = status.retrain_every ? `trains by itself after ${status.retrain_every} answers and edits` : "trains only on demand";
  const share = status.share_done === null ? "" : ` ${percent(status.share_done)}`;
  const now = async () => {
    await post("/training");
    await refresh();
  };
  replace(
    element,
    h("div", { class: "row spread" }, h("h2", {}, "Training"), h("span", { class: `tag ${kind}` }, `${words}${share}`)),
    h("p", { class: "soft" }, `Version ${status.version}; ${plural(status.answers_since, "answer")} and edits since the last training. It ${every}.`),
    status.message ? h("p", { class: "said bad wrap", role: "alert" }, status.message) : null,
    h("div", {}, button("Train now", { run: now, disabled: status.state === "training" })),
  );
}
