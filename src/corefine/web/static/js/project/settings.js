/** The project's settings, sent whole. */

import { get, put } from "../core/api.js";
import { h, replace } from "../core/dom.js";

const PROTOCOLS = { discrete: "Discrete: yes or no, then the first appearance", pairwise: "Pairwise: only yes or no", "follow-up": "Only the follow-up: mark the first appearance", mentions: "Mentions only: is this a mention?" };
const SELECTORS = {
  "likely-entropy": "Entropy over entities, probable mentions first",
  entropy: "Entropy over entities: the paper’s",
  "joint-entropy": "Entropy over entities and whether it is a mention",
  "lcc-mcu": "Doubtful links, then links nearly made",
  "pairwise-entropy": "Entropy of the best pair",
  "mention-entropy": "Entropy of whether it is a mention",
  "expected-change": "How far an answer is expected to lie from what the model says",
  density: "Entropy over entities, mentions that many others refer to first",
  committee: "Votes of a committee: needs one as the first model",
  random: "Random",
};
const FIELDS = [
  ["protocol", "Kind of question", "What is asked. It changes for documents from the next question on.", PROTOCOLS],
  ["model", "First model", "Questions begin with this model, and training starts from it: starter, strong, rules, or the folder of a model or committee on the server. Python code is named on the server's command line.", "text"],
  ["selector", "Selector", "How the next question is chosen. Pairwise and mentions only use an entropy of their own, unless this is random.", SELECTORS],
  ["language", "Language of new documents", "How plain text is split into words and sentences. The page Documents can change it for each upload, and later.", "language"],
  ["budget_per_1000_tokens", "Questions for 1,000 tokens", "The budget of a document by its length. Empty: no such budget.", "number"],
  ["budget_questions", "Questions a document", "Overrides the line above. Empty: by length.", "whole"],
  ["budget_seconds", "Seconds a document", "Empty: no limit of time.", "number"],
  ["sample", "Questions about random mentions", "A share of the questions (0.1 is one in ten), besides those that the selector chooses. 0: none.", "number"],
  ["least_gain", "Stop when the model is sure", "A document ends when no answer is likelier than this (0.05 is 5 %) to differ from what the model expects. 0: only its budget ends it.", "number"],
  ["least_per_hour", "Stop when an hour brings little", "A document ends when an hour of its questions would bring fewer corrections than this. 0: never.", "number"],
  ["least_proposal", "Propose only what is likely", "An entity is proposed if the model gives it at least this (0.1 is 10 %). Otherwise only the first appearance is asked for.", "number"],
  ["groups", "Ask once about equal words", "Where the same words, such as a name, occur several times: “these 9: all one entity?” Discrete questions only.", "check"],
  ["overlap", "Overlap", "The share of documents, from 0 to 1, that several people annotate.", "number"],
  ["overlap_people", "People for each of those", "", "whole"],
  ["retrain_every", "Answers between trainings", "0: only on demand.", "whole"],
  ["hold_back", "Hold back every tenth answer", "They are not trained on. A new model that explains them much worse than an earlier one, or is worse on held-out documents, does not take over.", "check"],
  ["paused", "Paused", "Nobody is asked anything until you switch this off.", "check"],
  ["lease_minutes", "Minutes a document is kept for a person", "After this time without an answer, somebody else can take the document.", "number"],
  ["infer_first", "A first appearance has no antecedent", "Answers then also settle the question of the first appearance itself.", "check"],
];

export async function show(body) {
  const [settings, { names }] = await Promise.all([get("/settings"), get("/languages")]);
  const byName = ([a, x], [b, y]) => Number(b === "auto") - Number(a === "auto") || x.localeCompare(y, "en");
  const languages = Object.fromEntries(Object.entries(names).sort(byName));
  const inputs = new Map();
  const state = h("p", { class: "help", role: "status" });
  const save = async (event) => {
    event.preventDefault();
    const sent = { ...settings };
    for (const [name, , , kind] of FIELDS) sent[name] = value(inputs.get(name), kind);
    try {
      Object.assign(settings, await put("/settings", sent));
      state.textContent = "Saved";
      state.className = "help";
    } catch (problem) {
      state.textContent = problem.message;
      state.className = "said bad wrap";
    }
  };
  const form = h("form", { class: "settings", on: { submit: save, input: () => (state.textContent = "Not saved yet") } });
  for (const [name, label, help, kind] of FIELDS) {
    const input = field(name, kind === "language" ? languages : kind, settings[name]);
    inputs.set(name, input);
    const note = help ? h("span", { class: "help", id: `help-${name}` }, help) : null;
    if (note) input.setAttribute("aria-describedby", note.id);
    form.append(h("label", { class: kind === "check" ? "field check-field" : "field" }, h("span", {}, label), input, note));
  }
  form.append(h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Save"), state));
  replace(body, h("h1", {}, "Settings"), form, h("datalist", { id: "known-models" }, ...["starter", "strong", "rules"].map((value) => h("option", { value }))));
}

function field(name, kind, given) {
  if (kind === "check") {
    const box = h("input", { type: "checkbox", name });
    box.checked = given;
    return box;
  }
  if (typeof kind === "object") {
    const known = given in kind ? kind : { ...kind, [given]: given }; // a selector from elsewhere
    const select = h("select", { name }, ...Object.entries(known).map(([key, label]) => h("option", { value: key }, label)));
    select.value = given;
    return select;
  }
  const numeric = kind !== "text";
  const list = name === "model" ? "known-models" : null;
  return h("input", { name, list, autocomplete: "off", type: numeric ? "number" : "text", step: kind === "whole" ? "1" : "any", min: numeric ? "0" : null, value: given ?? "" });
}

function value(input, kind) {
  if (kind === "check") return input.checked;
  if (kind === "number" || kind === "whole") return input.value === "" ? null : Number(input.value);
  return input.value;
}
