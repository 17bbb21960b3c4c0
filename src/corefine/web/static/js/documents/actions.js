/** What the owner does with the documents that are selected; deleting can be undone. */

import { get, patch, put } from "../core/api.js";
import { dialog } from "../core/dialog.js";
import { button, h, quoted, replace } from "../core/dom.js";
import { plural, when } from "../core/format.js";
import { tagsOf } from "./list.js";

/** Change documents and show them again. */
const change = async (view, documents, fields) => {
  await patch("/documents", { documents, ...fields });
  await view.load();
};

/** The bar with what can be done; it is there while documents are selected. */
export function actions(view) {
  const bar = h("div", { class: "selection-bar", role: "region", "aria-label": "Selected documents", hidden: true });
  bar.draw = () => {
    const rows = view.selectedRows();
    bar.hidden = !rows.length;
    if (!rows.length) return;
    const ids = rows.map(({ id }) => id);
    const reviewed = rows.every((row) => row.reviewed);
    const act = (label, run, more = {}) => button(label, { class: "small", run, ...more });
    replace(
      bar,
      h("strong", { role: "status" }, `${plural(rows.length, "document")} selected`),
      rows.length === 1 ? act("Rename", () => rename(view, rows[0])) : null,
      act("Tags", () => tag(view, rows)),
      act("Assign", () => assign(view, rows)),
      act("Language", () => language(view, rows)),
      act(reviewed ? "Not reviewed" : "Mark reviewed", () => change(view, ids, { reviewed: !reviewed })),
      act("Delete", () => trash(view, rows), { class: "small bad", key: "Del", keys: "Delete" }),
      act("Select none", () => view.select(ids, false), { class: "small quiet", key: "Esc", keys: "Escape" }),
    );
  };
  return bar;
}

/** Into the trash, with a way back. */
export async function trash(view, rows) {
  if (!rows.length) return;
  const ids = rows.map(({ id }) => id);
  await change(view, ids, { trashed: true });
  const what = rows.length === 1 ? `“${rows[0].name}” is` : `${plural(rows.length, "document")} are`;
  view.app.note(`${what} in the trash, with all answers.`, { action: { label: "Undo", run: () => restore(view, ids) } });
}

const restore = (view, ids) => change(view, ids, { trashed: false });

/** Ask for something in a form; resolves with what `read` returns, or null. */
function ask({ title, fields, read, label }) {
  return dialog({
    label: title,
    content: (close) => [
      h("h2", {}, title),
      h(
        "form",
        { class: "stack", on: { submit: (event) => (event.preventDefault(), close(read())) } },
        ...fields,
        h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, label), button("Cancel", { key: "Esc", keys: "Escape", run: () => close(null) })),
      ),
    ],
  });
}

async function rename(view, row) {
  const input = h("input", { value: row.name, required: true, maxlength: "400", autocomplete: "off" });
  const name = await ask({ title: "Rename the document", label: "Rename", fields: [h("label", { class: "field" }, "Name", input)], read: () => input.value.trim() });
  if (!name || name === row.name) return;
  await change(view, [row.id], { name });
}

async function tag(view, rows) {
  const input = h("input", { maxlength: "60", autocomplete: "off", list: "all-tags", placeholder: "a new tag" });
  const known = tagsOf(view.rows);
  const boxes = known.map((each) => {
    const has = rows.filter(({ tags }) => tags.includes(each)).length;
    const box = h("input", { type: "checkbox" });
    box.checked = has === rows.length;
    box.indeterminate = has > 0 && has < rows.length;
    return { each, box, before: box.checked, mixed: box.indeterminate };
  });
  const read = () => ({
    add_tags: [...boxes.filter(({ box, before }) => box.checked && !before).map(({ each }) => each), ...(input.value.trim() ? [input.value.trim()] : [])],
    remove_tags: boxes.filter(({ box, before, mixed }) => !box.checked && !box.indeterminate && (before || mixed)).map(({ each }) => each),
  });
  const wanted = await ask({
    title: `Tags of ${plural(rows.length, "document")}`,
    label: "Save",
    fields: [...boxes.map(({ each, box }) => h("label", { class: "check" }, box, quoted(each))), h("label", { class: "field" }, "New tag", input)],
    read,
  });
  if (!wanted || (!wanted.add_tags.length && !wanted.remove_tags.length)) return;
  await change(view, rows.map(({ id }) => id), wanted);
}

async function assign(view, rows) {
  const people = (await get("/people")).filter(({ active }) => active);
  const boxes = people.map((person) => {
    const box = h("input", { type: "checkbox" });
    box.checked = rows.every(({ assigned }) => assigned.includes(person.id));
    return { person, box };
  });
  const assigned = await ask({
    title: `Who annotates ${plural(rows.length, "document")}?`,
    label: "Save",
    fields: [
      h("p", { class: "soft" }, "The people you choose get these documents first, and nobody else gets them. If you choose several, each of them annotates the documents, which measures agreement. If you choose nobody, anybody can."),
      ...boxes.map(({ person, box }) => h("label", { class: "check" }, box, quoted(person.name))),
    ],
    read: () => boxes.filter(({ box }) => box.checked).map(({ person }) => person.id),
  });
  if (assigned) await change(view, rows.map(({ id }) => id), { assigned });
}

async function language(view, rows) {
  const { names } = await get("/languages");
  const known = Object.entries(names).filter(([code]) => code !== "auto").sort(([, a], [, b]) => a.localeCompare(b, "en"));
  const select = h("select", {}, ...known.map(([code, name]) => h("option", { value: code }, name)));
  select.value = known.find(([, name]) => name === rows[0].language)?.[0] ?? "en";
  const answers = rows.reduce((sum, row) => sum + row.answers, 0);
  const lost = answers ? ` ${plural(answers, "answer")} of yours ${answers === 1 ? "is" : "are"} about the words as they are now, and ${answers === 1 ? "goes" : "go"} to the trash with them.` : "";
  const code = await ask({
    title: `The language of ${plural(rows.length, "document")}`,
    label: "Split again",
    fields: [
      h("p", { class: "soft" }, `The text is split into words and sentences by the rules of this language. The documents as they are now go to the trash.${lost}`),
      h("label", { class: "field" }, "Language", select),
    ],
    read: () => select.value,
  });
  if (!code) return;
  try {
    await put("/documents/language", { documents: rows.map(({ id }) => id), language: code });
    await view.load();
    view.app.note(`${plural(rows.length, "document")} split as ${names[code]}.`);
  } catch (problem) {
    view.app.note(problem.message, { kind: "bad" });
  }
}

/** The trash: what is in it, and the way back. */
export async function showTrash(view) {
  const rows = await get("/trash");
  const back = await dialog({
    label: "Trash",
    wide: true,
    content: (close) => [
      h("header", { class: "row spread" }, h("h2", {}, "Trash"), button("Close", { key: "Esc", keys: "Escape", class: "small", run: () => close(null) })),
      h("p", { class: "soft" }, "Nobody is asked about these, no model learns from them and no export has them. Their answers are kept."),
      h(
        "ul",
        { class: "trash" },
        ...rows.map(({ id, name, answers, trashed }) =>
          h("li", {}, quoted(name), h("span", { class: "help" }, `${plural(answers, "answer")}, deleted ${when(trashed)}`), button("Restore", { class: "small", run: () => close([id]), "aria-label": `Restore ${name}` })),
        ),
      ),
      rows.length > 1 ? h("div", {}, button("Restore all", { run: () => close(rows.map(({ id }) => id)) })) : null,
    ].filter(Boolean),
  });
  if (back) await restore(view, back);
}
