/** How far people agree: in what they said, and in the chains that the model completes. */

import { get } from "../core/api.js";
import { h, quoted, replace } from "../core/dom.js";
import { fixed, percent, plural } from "../core/format.js";
import { table } from "./tables.js";

const score = (name) => [name === "conll" ? "CoNLL" : name === "ceafe" ? "CEAFe" : name.toUpperCase(), (row) => fixed(row[name]), true];
const people = ["People", ({ a, b }) => h("span", {}, quoted(a), " and ", quoted(b))];
const SAID = [
  people,
  ["Same answer", ({ same, questions }) => (same === null ? "–" : `${percent(same)} of ${questions}`), true],
  ["Kappa", ({ kappa }) => fixed(kappa, 2), true],
  ["CoNLL F1 of chains", ({ said, mentions }) => (said === null ? "–" : `${fixed(said)} on ${plural(mentions, "mention")}`), true],
];
const COMPLETED = [people, ...["muc", "b3", "ceafe", "conll", "lea"].map(score)];
const named = (columns) => [["Document", ({ name }) => quoted(name)], ...columns];

export async function show(body) {
  const { total, documents } = await get("/agreement");
  const none = h("p", { class: "soft" }, "Nothing to compare yet: two people must have answered in the same document. Set the overlap in the settings, or assign documents to several people.");
  const both = (title, columns, text) => [
    h("h2", {}, title),
    h("p", { class: "soft" }, text),
    total.length ? table(`${title}, in total`, columns, total) : none,
    documents.length > 1 ? h("details", {}, h("summary", {}, "By document"), table(`${title}, by document`, named(columns), documents)) : null,
  ];
  replace(
    body,
    h("h1", {}, "Agreement"),
    ...both(
      "What people said",
      SAID,
      "The answers alone, without the model. “Same answer” and kappa are about pairs of mentions on which both said yes or no, or on which it follows from what they said. Kappa corrects for chance: it is near 0 if nearly every answer is a yes, even if most answers agree. The chains are those of the answers, on the mentions that both spoke about.",
    ),
    ...(total.length
      ? both(
          "With the model’s share",
          COMPLETED,
          "F1 of the whole chains, as an export would have them: the model adds the links that nobody was asked about, the same ones for everybody. These numbers say how similar the results are. They overstate agreement: two people who never agree still share everything that the model links.",
        )
      : []),
    h("p", {}, h("a", { href: "#project/adjudication" }, "Decide where people differ")),
  );
}
