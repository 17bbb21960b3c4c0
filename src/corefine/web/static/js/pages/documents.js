/** The project's documents, with this person's state of each. The owner adds files here. */

import { get, post, upload } from "../core/api.js";
import { button, h, quoted, replace } from "../core/dom.js";
import { percent, plural } from "../core/format.js";

const STATES = { new: ["not begun", ""], open: ["begun", "warn"], done: ["done", "good"], taken: ["taken by somebody else", ""] };

export function mount(main, app) {
  const page = { closed: false, keys: [], close: () => (page.closed = true) };
  const body = h("div", {});
  main.append(
    h(
      "div",
      { class: "page" },
      h("header", {}, h("h1", {}, "Documents"), h("p", { class: "soft" }, "You stay in a document until its budget is used. Here you can choose another.")),
      app.me.notices.length ? h("ul", { class: "notices", "aria-label": "Notices" }, ...app.me.notices.map((notice) => h("li", {}, notice))) : null,
      body,
      app.owner ? uploader(app, () => load()) : null,
    ),
  );

  async function load() {
    const documents = await get("/documents");
    if (page.closed) return;
    replace(body, documents.length ? table(documents, app, load) : h("p", {}, "The project has no documents yet."));
    if (documents.some(({ ready, state }) => !ready && state !== "done")) setTimeout(() => !page.closed && load(), 3000);
  }

  page.keys = [
    { keys: ["ArrowDown"], label: "Next document", group: "Documents", run: () => walk(body, 1) },
    { keys: ["ArrowUp"], label: "Previous document", group: "Documents", run: () => walk(body, -1) },
  ];
  load();
  return page;
}

function walk(body, by) {
  const links = [...body.querySelectorAll("td a")];
  const at = links.indexOf(document.activeElement);
  links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}

function table(documents, app, load) {
  const head = ["Name", "State", "Tokens", "Answers", "Settled", ""].map((name, index) => h("th", { scope: "col", class: [2, 3, 4].includes(index) ? "number" : "" }, name || h("span", { class: "sr" }, "What to do")));
  return h("div", { class: "scroll-x" }, h("table", { class: "documents" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...documents.map((row) => line(row, app, load)))));
}

function line(row, app, load) {
  const [words, kind] = STATES[row.state];
  const name = row.state === "taken" ? quoted(row.name) : h("a", { href: `#annotate/${row.id}` }, quoted(row.name));
  const again = async () => {
    await post(`/documents/${row.id}/done`, { done: row.state !== "done" });
    await load();
  };
  return h(
    "tr",
    {},
    h("td", {}, name, row.overlap ? h("span", { class: "tag", title: "Several people annotate it, to measure agreement" }, "shared") : null),
    h("td", {}, h("span", { class: `tag ${kind}` }, words), row.ready ? null : h("span", { class: "tag" }, "the model is reading it")),
    h("td", { class: "number" }, row.tokens.toLocaleString("en")),
    h("td", { class: "number" }, row.budget === null ? String(row.answers) : `${row.answers} of ${row.budget}`),
    h("td", { class: "number" }, row.settled === null ? "–" : percent(row.settled)),
    h(
      "td",
      { class: "do" },
      row.state === "taken" ? null : h("a", { class: "button small-button", href: `#review/${row.id}`, "aria-label": `Review ${row.name}` }, "Review"),
      row.state === "open" || row.state === "done"
        ? button(row.state === "done" ? "Take up again" : "Finish", { class: "small", run: again, "aria-label": `${row.state === "done" ? "Take up again" : "Finish"}: ${row.name}` })
        : null,
    ),
  );
}

/** What came of a file: how many documents it gave, and what was skipped and why. */
function told(name, added, skipped) {
  const reasons = skipped.map(({ file, reason }) => (file === name ? reason.replace(`${file}: `, "") : `${file}: ${reason.replace(`${file}: `, "")}`));
  const parts = [added || !skipped.length ? `${plural(added, "document")} added` : "", reasons.length ? `skipped: ${reasons.join("; ")}` : ""];
  return parts.filter(Boolean).join("; ");
}

const SHOWN = 3; // files that were skipped and are named in one line

/** What came of all files of an upload. */
function outcome(name, { state, message, results }) {
  if (state === "failed") return [message];
  const added = results.reduce((sum, each) => sum + each.added.length, 0);
  const skipped = results.filter(({ reason }) => reason !== null);
  const more = skipped.length > SHOWN ? `; and ${plural(skipped.length - SHOWN, "file")} more` : "";
  const notes = results.flatMap(({ note }) => (note === null ? [] : [`; ${note}`]));
  return [told(name, added, skipped.slice(0, SHOWN)), more, ...(results.length > 1 ? [eachFile(results)] : notes)];
}

/** A table to unfold: each file and what came of it. */
function eachFile(results) {
  const lines = results.map(({ file, added, reason, note }) =>
    h("tr", {}, h("td", {}, quoted(file)), h("td", { class: reason === null ? "" : "bad" }, [added.length || reason === null ? `${plural(added.length, "document")} added` : "", reason, note].filter(Boolean).join("; "))),
  );
  return h("details", {}, h("summary", {}, `Each of the ${plural(results.length, "file")}`), h("div", { class: "scroll-x" }, h("table", {}, h("tbody", {}, ...lines))));
}

/** How far the server is with an upload. */
function underway({ state, files, files_done: done, share_done: share, added }) {
  if (state === "waiting") return [": waiting for the uploads before it …"];
  if (!files) return [": being unpacked …"];
  const words = `: reading ${files > 1 ? `file ${Math.min(done + 1, files)} of ${files}` : "it"}, ${plural(added.length, "document")} so far `;
  return [words, h("progress", { max: 1, value: share, "aria-label": "How much of it is read" })];
}

/** Upload files by button or by dropping them. Each gets a line that says what came of it. */
function uploader(app, added) {
  const input = h("input", { type: "file", multiple: true, class: "sr", id: "files", tabindex: "-1" });
  const result = h("ul", { class: "upload-result", role: "status" });
  const area = h(
    "section",
    { class: "upload", "aria-label": "Add documents" },
    h("h2", {}, "Add documents"),
    h("p", { class: "soft" }, "Plain text, CoNLL-2012, CoNLL-U or JSON lines, packed or not; or a zip of such files, and of brat’s pairs. Drop them here, or"),
    button("Choose files", { run: () => input.click() }),
    h("label", { class: "sr", for: "files" }, "Files to add"),
    input,
    result,
  );

  async function send(files) {
    for (const file of files) {
      const item = h("li", {}, quoted(file.name), ": sending …");
      result.append(item);
      try {
        const end = await upload(file, (now) => replace(item, quoted(file.name), ...underway(now)));
        replace(item, quoted(file.name), ": ", ...outcome(file.name, end));
        if (end.state === "failed" || end.skipped.length) item.className = "bad";
      } catch (problem) {
        replace(item, quoted(file.name), `: ${problem.message}`);
        item.className = "bad";
      }
      await added();
    }
  }

  input.addEventListener("change", () => {
    const files = [...input.files];
    input.value = ""; // at once, so that the same file can be chosen again
    send(files);
  });
  area.addEventListener("dragover", (event) => (event.preventDefault(), area.classList.add("over")));
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("over");
    send([...event.dataTransfer.files]);
  });
  return area;
}
