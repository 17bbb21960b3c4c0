/** Downloads: the annotated corpus in any format, the model, a report. */

import { get } from "../core/api.js";
import { h, replace } from "../core/dom.js";

const NAMES = { jsonl: "JSON lines", conll: "CoNLL-2012", conllu: "CoNLL-U", brat: "brat", text: "Plain text", provenance: "Provenance", report: "Report", model: "Model" };
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;

export async function show(body) {
  const formats = await get("/export/formats");
  const link = ({ name, ending, missing }) => {
    const label = `${NAMES[name] ?? name} (${ending || ".zip"})`;
    return missing ? h("span", { class: "button", "aria-disabled": "true" }, label) : h("a", { class: "button", href: `/api/export?format=${encodeURIComponent(name)}`, download: "" }, label);
  };
  replace(
    body,
    h("h1", {}, "Export"),
    h("p", { class: "soft" }, "The entities as model and answers make them now; all people’s answers together, your decisions first."),
    h(
      "ul",
      { class: "exports" },
      ...formats.map((kind) => h("li", {}, link(kind), h("span", { class: "soft" }, kind.missing ? `Not yet: ${kind.missing}` : sentence(kind.about)))),
    ),
  );
}
