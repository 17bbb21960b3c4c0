/** Downloads: the annotated corpus in any format, the model, a report; and backups. */

import { LONG, get, post } from "../core/api.js";
import { dialog } from "../core/dialog.js";
import { button, h, quoted, replace } from "../core/dom.js";
import { plural } from "../core/format.js";
import { lastWords } from "../core/preferences.js";

const FIRST = 5; // formats that are shown at once
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;

const ONLY = [
  ["all", "All documents"],
  ["answered", "Only those with answers"],
  ["finished", "Only finished ones"],
  ["reviewed", "Only reviewed ones"],
];

export async function show(body, app) {
  const formats = await get("/export/formats");
  const only = h("select", { on: { change: () => draw() } }, ...ONLY.map(([value, label]) => h("option", { value }, label)));
  const said = h("input", { type: "checkbox", on: { change: () => draw() } });
  const [list, more, own] = ["exports", "exports", "exports"].map((name) => h("ul", { class: name }));
  const OWN = ["provenance", "report", "model"];
  const documents = formats.filter(({ name }) => !OWN.includes(name));
  const link = ({ name, title, ending, missing }) => {
    const label = `${title} (${ending || ".zip"})`;
    const query = new URLSearchParams({ format: name, only: only.value, said: String(said.checked) });
    return missing ? h("span", { class: "button", "aria-disabled": "true" }, label) : h("a", { class: "button", href: `/api/export?${query}`, download: "" }, label);
  };
  const item = (kind) => h("li", {}, link(kind), h("span", { class: "soft" }, kind.missing ? `Not yet: ${kind.missing}` : sentence(kind.about)));
  const draw = () => {
    replace(list, ...documents.slice(0, FIRST).map(item));
    replace(more, ...documents.slice(FIRST).map(item));
    replace(own, ...formats.filter(({ name }) => OWN.includes(name)).map(item));
  };
  replace(
    body,
    h("h1", {}, "Export"),
    h("p", { class: "soft" }, "The entities as model and answers make them now; all people’s answers together, your decisions first."),
    h("div", { class: "row form" }, h("label", { class: "field" }, "Which documents", only), h("label", { class: "check said-only" }, said, "Only what people said, nothing of the model")),
    list,
    h("details", { class: "stack" }, h("summary", {}, `${documents.length - FIRST} more formats`), more),
    h("h2", {}, "About the project"),
    own,
    backups(app),
  );
  draw();
}

/** A backup to keep, and the way back from one. */
function backups(app) {
  const state = h("p", { class: "said wrap", role: "status" });
  const input = h("input", { type: "file", accept: ".zip", class: "sr", id: "backup-file", tabindex: "-1", "aria-label": "Backup to restore" });
  input.addEventListener("change", async () => {
    const [file] = input.files;
    input.value = "";
    if (!file || !(await sure(file.name))) return;
    state.className = "said wrap";
    state.textContent = "Restoring …";
    try {
      const { documents, kept } = await post("/restore", file, { raw: true, patience: LONG });
      lastWords.text = `Restored: ${plural(documents, "document")}. What was here before is in the project’s folder, as ${kept}.`;
      location.hash = "documents";
      location.reload();
    } catch (problem) {
      state.className = "said bad wrap";
      state.textContent = problem.message;
    }
  });
  return h(
    "section",
    { class: "panel-box stack", "aria-label": "Backup" },
    h("h2", {}, "Backup"),
    h("p", { class: "soft" }, "One file with everything that cannot be made again: documents, people, answers, settings and trained models. Restoring a backup replaces all of this. What was here before is kept in a file in the project’s folder."),
    h("div", { class: "row" }, h("a", { class: "button", href: "/api/backup", download: "" }, "Download a backup"), button("Restore a backup", { run: () => input.click() }), input),
    state,
  );
}

const sure = (name) =>
  dialog({
    label: "Restore a backup",
    content: (close) => [
      h("h2", {}, "Replace this project by ", quoted(name), "?"),
      h("p", {}, "All documents, people, answers and models are replaced by those of the backup. What is here now is first saved in the project’s folder."),
      h("div", { class: "row" }, button("Restore", { class: "bad", run: () => close(true) }), button("Cancel", { key: "Esc", keys: "Escape", run: () => close(null) })),
    ],
  });
