/** Why a question was asked: the model's probability for each entity, and how undecided that makes it. */

import { h, quoted, replace } from "../core/dom.js";
import { percent } from "../core/format.js";

const SHOWN = 5;

export function why(element, question) {
  const { selector, score, entropy, entities } = question.why;
  if (!entities.length) return replace(element); // of a tutorial or study: nobody chose it
  const rows = entities.slice(0, SHOWN).map(({ first, probability }) => {
    const bar = h("span", { class: "bar-fill" });
    bar.style.setProperty("--share", probability);
    return h(
      "li",
      {},
      first === null ? h("span", { class: "first new" }, question.protocol === "mentions" ? "not a mention, or new" : "starts a new entity") : quoted(first, { class: "first" }),
      h("span", { class: "count" }, percent(probability)),
      bar,
    );
  });
  const measure = `Chosen by ${selector}: score ${score.toFixed(2)}, entropy ${entropy.toFixed(2)} over the entities it could be.`;
  replace(
    element,
    h("h2", {}, "Why this question"),
    h("ul", { "aria-label": "How likely each entity is" }, ...rows),
    h("p", { class: "help" }, measure),
  );
}
