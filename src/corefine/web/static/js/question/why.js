/** Why a question was asked: how likely each entity is. Each row is an answer too: "no, this one". */

import { h, kbd, quoted, replace } from "../core/dom.js";
import { percent } from "../core/format.js";

const SHOWN = 5;
const LIKELY = 0.1; // from which an entity counts as one that it could be
const COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"];
let numbersOpen = false;

/** Why it is asked, in words. */
function reason({ protocol, why: { entities } }) {
  if (protocol === "mentions") return "The model is not sure whether these words refer to something.";
  const likely = entities.filter(({ span, probability }) => span && probability >= LIKELY).length;
  const fresh = entities.some(({ span, probability }) => !span && probability >= LIKELY);
  if (likely + Number(fresh) <= 1) return "The model leans to one answer, but is not sure of it.";
  const which = likely > 1 ? `one of ${COUNTS[likely]} entities` : "a known entity";
  return `It could be ${likely ? which : ""}${fresh ? " or a new one" : ""}; nothing so far decides.`;
}

/** `act` has instead(chance) and preview(entry); without a discrete question the rows only inform. */
export function why(element, question, act) {
  const { selector, score, entropy, entities } = question.why;
  if (!entities.length) return replace(element); // of a tutorial or study: nobody chose it
  const answers = question.protocol === "discrete";
  const rows = entities.slice(0, SHOWN).map((chance, index) => h("li", {}, row(chance, index, question, answers && act)));
  const measure = `Chosen by ${selector}: score ${score.toFixed(2)}, entropy ${entropy.toFixed(2)} over the entities it could be.`;
  const numbers = h("details", { class: "help", open: numbersOpen }, h("summary", {}, "Numbers"), measure);
  numbers.addEventListener("toggle", () => (numbersOpen = numbers.open)); // as the person left it, for the next question
  return replace(
    element,
    h("h2", {}, answers ? "Or is it one of these?" : "Why this question"),
    h("ul", { "aria-label": "How likely each entity is" }, ...rows),
    h("p", { class: "help" }, reason(question)),
    numbers,
  );
}

function row(chance, index, question, act) {
  const { first, place, mentions, probability, span, asked } = chance;
  const bar = h("span", { class: "bar-fill" });
  bar.style.setProperty("--share", probability);
  const fresh = question.protocol === "mentions" ? "not a mention, or new" : "starts a new entity";
  const where = [place && `s. ${place}`, mentions > 1 && `×${mentions}`].filter(Boolean).join(" ");
  const content = [
    act && kbd(String(index + 1)),
    h("span", { class: span ? "first" : "first new" }, span ? quoted(first) : fresh),
    asked && h("span", { class: "asked" }, "asked"),
    h("span", { class: "count" }, `${where}${where ? " · " : ""}${percent(probability)}`),
    bar,
  ];
  if (!act) return h("span", { class: "row-choice" }, ...content);
  const preview = (on) => () => act.preview(on && span ? { span, spans: [span] } : null);
  return h(
    "button",
    {
      type: "button",
      class: "row-choice",
      "aria-keyshortcuts": String(index + 1),
      title: asked ? "Yes, this one" : "No, this one",
      on: { click: () => act.instead(chance), pointerenter: preview(true), pointerleave: preview(false), focus: preview(true), blur: preview(false) },
    },
    ...content,
  );
}
