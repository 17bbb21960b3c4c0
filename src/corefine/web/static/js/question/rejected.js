/** A dialog for a person who names what they have just rejected: nothing is moved out of its entity silently. */

import { dialog } from "../core/dialog.js";
import { button, h, quoted } from "../core/dom.js";

/** Resolves with "same" (a yes after all), "apart" (the two are different entities), or null to think again. */
export function askAgain({ mention: asked, denied: rejected, named: chosen, exact }) {
  const mention = () => quoted(asked, { class: "chip mention-chip" });
  const denied = () => quoted(rejected, { class: "chip antecedent-chip" });
  const named = () => quoted(chosen, { class: "chip" });
  const group = "Contradiction";
  const key = (keys, label, value) => ({ keys, label, group, run: (close) => close(value) });
  return dialog({
    label: "A contradiction",
    content: (close) => [
      h("h2", {}, "This contradicts your No"),
      h("p", {}, "You said that ", mention(), " is not ", denied(), "."),
      exact ? null : h("p", {}, "So far ", denied(), " and ", named(), " are one entity. If ", mention(), " is ", named(), ", they are two."),
      h(
        "div",
        { class: "stack" },
        button("They are the same after all: Yes", { key: "Y", class: "primary", run: () => close("same") }),
        exact ? null : button("They are two entities", { key: "2", run: () => close("apart") }),
        button("Choose something else", { key: "Esc", keys: "Escape", run: () => close(null) }),
      ),
    ].filter(Boolean),
    keys: [key(["y"], "They are the same after all", "same"), ...(exact ? [] : [key(["2"], "They are two entities", "apart")])],
  });
}
