/** The table of documents. The owner can choose several. */

import { post } from "../core/api.js";
import { button, h, quoted } from "../core/dom.js";
import { percent, when } from "../core/format.js";
import { STATES } from "./list.js";

const COLUMNS = [
  ["name", "Name"],
  ["state", "State"],
  ["language", "Language"],
  ["tokens", "Tokens", true],
  ["answers", "Answers", true],
  ["settled", "Settled", true],
];

/** `view` is the page: its rows, what is selected, how they are sorted, and what changes that. */
export function table(rows, view) {
  const { sort, down, selected, owner } = view;
  const head = COLUMNS.map(([key, label, number]) => {
    const current = sort === key;
    const arrow = h("span", { "aria-hidden": "true", class: "arrow" }, current ? (down ? "↓" : "↑") : "");
    return h("th", { scope: "col", class: number ? "number" : "", "aria-sort": current ? (down ? "descending" : "ascending") : "none" }, h("button", { type: "button", class: "sort", on: { click: () => view.sortBy(key) } }, label, arrow));
  });
  const all = owner && checkbox(rows.length > 0 && rows.every(({ id }) => selected.has(id)), "Select all that are shown", (on) => view.select(rows.map(({ id }) => id), on));
  const columns = h("tr", {}, owner ? h("th", { scope: "col", class: "pick" }, all) : null, ...head, h("th", { scope: "col" }, h("span", { class: "sr" }, "What to do")));
  return h("div", { class: "scroll-x" }, h("table", { class: "documents" }, h("thead", {}, columns), h("tbody", {}, ...rows.map((row) => line(row, view)))));
}

function checkbox(on, label, change) {
  const box = h("input", { type: "checkbox", "aria-label": label, on: { change: () => change(box.checked) } });
  box.checked = on;
  return box;
}

function line(row, view) {
  const { owner, selected, fresh, names } = view;
  const [words, kind] = STATES[row.state];
  const mine = row.assigned.length && !owner;
  const name = row.state === "taken" ? quoted(row.name) : h("a", { href: `#annotate/${row.id}` }, quoted(row.name));
  const again = async () => {
    await post(`/documents/${row.id}/done`, { done: row.state !== "done" });
    await view.load();
  };
  const called = (ids) => ids.map((id) => names.get(id) ?? "somebody").join(", ");
  const tag = (text, more = {}) => h("span", { ...more, class: `tag ${more.class ?? ""}` }, text);
  return h(
    "tr",
    { "aria-selected": owner ? String(selected.has(row.id)) : null, data: { id: row.id } },
    owner ? h("td", { class: "pick" }, checkbox(selected.has(row.id), `Select ${row.name}`, (on) => view.select([row.id], on))) : null,
    h(
      "td",
      { class: "name" },
      name,
      fresh.has(row.id) ? tag("new", { class: "good" }) : null,
      row.overlap || row.assigned.length > 1 ? tag("shared", { title: "Several people annotate it, to measure agreement" }) : null,
      row.assigned.length && owner ? tag(`for ${called(row.assigned)}`) : null,
      mine && row.state !== "taken" ? tag("for you", { class: "warn" }) : null,
      ...row.tags.map((each) => h("button", { type: "button", class: "tag tag-button", "aria-label": `Show only the tag ${each}`, on: { click: () => view.onlyTag(each) } }, each)),
    ),
    h(
      "td",
      { class: "state" },
      tag(owner && row.state === "taken" ? byOthers(row, called) : words, { class: owner && row.state === "taken" && row.done_by.length ? "good" : kind }),
      row.reviewed ? tag("reviewed", { class: "good", title: `Reviewed ${when(row.reviewed)}` }) : null,
      row.ready ? null : tag("the model is reading it"),
    ),
    h("td", {}, row.language),
    h("td", { class: "number" }, row.tokens.toLocaleString("en")),
    h("td", { class: "number" }, row.budget === null || row.answers > row.budget ? String(row.answers) : `${row.answers} of ${row.budget}`),
    h("td", { class: "number" }, row.settled === null ? "–" : percent(row.settled)),
    h(
      "td",
      { class: "do" },
      row.state === "taken" ? null : h("a", { class: "button small-button", href: `#review/${row.id}`, "aria-label": `Review ${row.name}` }, "Review"),
      row.state === "taken" ? null : h("a", { class: "button small-button", href: `#full/${row.id}`, "aria-label": `Annotate ${row.name} in full` }, "In full"),
      row.state === "open" || row.state === "done"
        ? button(row.state === "done" ? "Reopen" : "Finish", { class: "small", run: again, "aria-label": `${row.state === "done" ? "Reopen" : "Finish"}: ${row.name}` })
        : null,
    ),
  );
}

/** What the others did, for the owner. */
function byOthers({ done_by: done, begun_by: begun }, called) {
  if (done.length) return `done by ${called(done)}`;
  return begun.length ? `begun by ${called(begun)}` : "assigned to somebody else";
}
