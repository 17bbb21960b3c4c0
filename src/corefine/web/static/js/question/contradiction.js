/** A dialog for an answer that contradicts earlier ones: shows both sides in context and asks what to withdraw. */

import { context } from "../text/context.js";
import { dialog } from "../core/dialog.js";
import { button, h } from "../core/dom.js";

const list = (numbers) => (numbers.length < 2 ? numbers.join("") : `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`);

/** Resolves with the numbers of the answers to withdraw, or null to drop the new answer. */
export function resolveContradiction(problem, doc) {
  const now = problem.new;
  const entries = problem.answers ?? [];
  const boxes = entries.map(() => h("input", { type: "checkbox" }));
  const withdraw = button("Withdraw the chosen and keep the new answer", { key: "↵", keys: "Enter", class: "primary" });
  const chosen = () => entries.filter((_, index) => boxes[index].checked).map(({ number }) => number);
  const update = () => (withdraw.disabled = chosen().length === 0);
  const choice = (entry, index) =>
    h(
      "label",
      { class: "entry choice" },
      boxes[index],
      h("div", {}, h("strong", {}, `Answer ${entry.number}: `, h("bdi", {}, entry.said)), context(entry, doc)),
    );
  update();
  const numbers = entries.map(({ number }) => number);
  return dialog({
    label: "A contradiction",
    content: (close) => {
      withdraw.addEventListener("click", () => close(chosen()));
      for (const box of boxes) box.addEventListener("change", update);
      return [
        h("h2", {}, `This contradicts ${entries.length === 1 ? "answer" : "answers"} ${list(numbers)}`),
        now && h("div", { class: "entry new" }, h("strong", {}, "Now you say: ", h("bdi", {}, now.said)), context(now, doc)),
        h("p", {}, "Choose what to withdraw, or keep the earlier answers and answer differently."),
        h("div", { class: "stack" }, ...entries.map(choice)),
        h(
          "div",
          { class: "row" },
          withdraw,
          button("Keep the earlier answers", { key: "Esc", keys: "Escape", run: () => close(null) }),
        ),
        h("p", { class: "help" }, "The keys 1, 2, … choose an answer."),
      ].filter(Boolean);
    },
    keys: [
      {
        keys: [..."123456789"],
        label: "Choose an answer to withdraw",
        group: "Contradiction",
        run: (_, event) => {
          const box = boxes[Number(event.key) - 1];
          if (box) box.checked = !box.checked;
          update();
        },
      },
      { keys: ["Enter"], label: "Withdraw the chosen", group: "Contradiction", run: (close) => chosen().length && close(chosen()) },
    ],
  });
}
