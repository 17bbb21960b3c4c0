/** What the project gives back: the annotated corpus in any format, the model, a report. */

import { get } from "../api.js";
import { h, replace } from "../dom.js";

export async function show(body) {
  const formats = await get("/export/formats");
  const link = (href, label) => h("a", { class: "button", href, download: "" }, label);
  replace(
    body,
    h("h1", {}, "Export"),
    h("p", { class: "soft" }, "The entities as model and answers make them now."),
    h(
      "ul",
      { class: "exports" },
      ...formats.map(({ name, ending, about }) => h("li", {}, link(`/api/export?format=${encodeURIComponent(name)}`, ending ? `${name} (${ending})` : name), h("span", { class: "soft" }, about))),
      h("li", {}, link("/api/report", "Report (.html)"), h("span", { class: "soft" }, "One page about the project: what was done, the learning curve, agreement and times")),
    ),
  );
}
