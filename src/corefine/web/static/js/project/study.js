/** The timing study: two sets of questions from early and late rounds, fixed sessions, alternating order; and the times. */

import { LONG, get, post } from "../core/api.js";
import { h, quoted, replace } from "../core/dom.js";
import { duration, fixed, plural } from "../core/format.js";
import { table } from "./tables.js";

export async function show(body, app) {
  replace(body, h("h1", {}, "Timing study"), h("p", { class: "soft" }, "How long a yes or no takes, and how long the follow-up. Measured in the browser, without idle time and hidden tabs."));
  const [study, times] = await Promise.all([get("/study"), get("/times")]);
  body.append(h("h2", {}, "Times of this project"), timesTable(times), ...sections(study, body, app));
}

const timesTable = ({ rows }) =>
  table(
    "Seconds a question takes",
    [
      ["Step", ({ name }) => name],
      ["Answers", ({ answers }) => String(answers), true],
      ["Mean, s", ({ mean }) => fixed(mean, 2), true],
      ["Median, s", ({ median }) => fixed(median, 2), true],
      ["Std. dev., s", ({ deviation }) => fixed(deviation, 2), true],
    ],
    rows,
  );

function sections(study, body, app) {
  if (!study.exists) return [h("h2", {}, "A study of your own"), study.note ? h("p", { class: "help" }, study.note) : null, setup(body, app)].filter(Boolean);
  return [
    h("h2", {}, "Sets"),
    table(
      "Sets of questions",
      [
        ["Set", ({ name }) => name],
        ["Documents", ({ documents }) => String(documents), true],
        ["Questions", ({ questions }) => String(questions), true],
        ["From early rounds", ({ early }) => String(early), true],
        ["From late rounds", ({ late }) => String(late), true],
      ],
      study.sets,
    ),
    h("p", {}, `Sessions of ${plural(study.minutes, "minute")}. Everybody finds `, h("a", { href: "#study" }, "the study"), ` at the top of the page, or at ${location.origin}/#study. Every other person begins with set B. A person may do several sessions, also one of first appearances only.`),
    h("p", { class: "help" }, h("code", {}, "corefine times --study"), " prints the table below and makes it the project’s cost model."),
    study.sessions.length ? null : h("details", {}, h("summary", {}, "Draw other sets"), setup(body, app, study.minutes)),
    h("h2", {}, "Sessions"),
    study.sessions.length
      ? table(
          "Sessions",
          [
            ["Person", ({ person }) => quoted(person)],
            ["First set", ({ set }) => set],
            ["Questions", ({ protocol }) => (protocol === "follow-up" ? "first appearances only" : "discrete")],
            ["Session", ({ order }) => String(order), true],
            ["Answers", ({ answers }) => String(answers), true],
            ["Time", ({ seconds }) => duration(seconds), true],
            ["State", ({ state }) => state],
          ],
          study.sessions,
        )
      : h("p", { class: "soft" }, "Nobody has begun yet."),
    study.times ? h("h2", {}, "Times of the study") : null,
    study.times ? timesTable(study.times) : null,
  ].filter(Boolean);
}

function setup(body, app, length = 30) {
  const number = (value, min, max) => h("input", { type: "number", min, max, step: "1", required: true, value });
  const [minutes, documents, questions] = [number(length, "1", "600"), number("20", "4", "1000"), number("60", "4", "10000")];
  const state = h("p", { class: "said wrap", role: "status" });
  const draw = h("button", { type: "submit", class: "primary" }, "Draw the sets");
  const send = async (event) => {
    event.preventDefault();
    draw.disabled = true;
    state.className = "said wrap";
    state.textContent = "Drawing the sets: the documents’ runs are simulated, which can take a minute.";
    try {
      await post("/study", { minutes: Number(minutes.value), documents: Number(documents.value), questions: Number(questions.value) }, { patience: LONG });
      await show(body, app);
    } catch (problem) {
      state.className = "said bad wrap";
      state.textContent = problem.message;
      draw.disabled = false;
    }
  };
  return h(
    "form",
    { class: "settings", on: { submit: send } },
    h("label", { class: "field" }, "Minutes of a session", minutes),
    h("label", { class: "field" }, "Documents in each set", documents),
    h("label", { class: "field" }, "Questions in each set", questions),
    h("div", {}, draw),
    state,
  );
}
