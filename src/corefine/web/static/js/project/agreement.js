/** How far people agree: kappa on yes and no, and scores between their chains. */

import { get } from "../core/api.js";
import { h, quoted, replace } from "../core/dom.js";
import { fixed } from "../core/format.js";
import { table } from "./tables.js";

const score = (name) => [name === "conll" ? "CoNLL" : name === "ceafe" ? "CEAFe" : name.toUpperCase(), (row) => fixed(row[name]), true];
const COLUMNS = [
  ["People", ({ a, b }) => h("span", {}, quoted(a), " and ", quoted(b))],
  ["Kappa", ({ kappa }) => fixed(kappa, 2), true],
  ["Questions", ({ questions }) => String(questions), true],
  ...["muc", "b3", "ceafe", "conll", "lea"].map(score),
];

export async function show(body) {
  const { total, documents } = await get("/agreement");
  const none = h("p", { class: "soft" }, "Nothing to compare yet: two people must have answered in the same document. Set the overlap in the settings.");
  replace(
    body,
    h("h1", {}, "Agreement"),
    h("p", { class: "soft" }, "Kappa counts yes and no where both were asked about the same pair; the scores compare the chains that each person’s answers make, F1 in percent."),
    h("h2", {}, "In total"),
    total.length ? table("Agreement in total", COLUMNS, total) : none,
    documents.length ? h("h2", {}, "By document") : null,
    documents.length ? table("Agreement by document", [["Document", ({ name }) => quoted(name)], ...COLUMNS], documents) : null,
    h("p", {}, h("a", { href: "#project/adjudication" }, "Decide where people differ")),
  );
}
