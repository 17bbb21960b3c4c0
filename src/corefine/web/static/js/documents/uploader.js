/** Files for the project: chosen or dropped anywhere on the page. Each gets a line that says what came of it. */

import { upload } from "../core/api.js";
import { button, h, quoted, replace } from "../core/dom.js";
import { plural } from "../core/format.js";
import { UploadOptions } from "./upload-options.js";

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
  const skipped = results.filter(({ reason, duplicate }) => reason !== null && !duplicate);
  const known = results.filter(({ duplicate }) => duplicate);
  if (known.length === results.length && known.length === 1) return [known[0].reason];
  const more = skipped.length > SHOWN ? `; and ${plural(skipped.length - SHOWN, "file")} more` : "";
  const notes = results.flatMap(({ note }) => (note === null ? [] : [`; ${note}`]));
  const twice = known.length ? `; ${plural(known.length, "file")} known already` : "";
  return [told(name, added, skipped.slice(0, SHOWN)), more, twice, ...(results.length > 1 ? [eachFile(results)] : notes)];
}

/** A table to unfold: each file and what came of it. */
function eachFile(results) {
  const lines = results.map(({ file, added, reason, note, duplicate }) =>
    h("tr", {}, h("td", {}, quoted(file)), h("td", { class: reason === null || duplicate ? "" : "bad" }, [added.length || reason === null ? `${plural(added.length, "document")} added` : "", reason, note].filter(Boolean).join("; "))),
  );
  return h("details", {}, h("summary", {}, `Each of the ${plural(results.length, "file")}`), h("div", { class: "scroll-x" }, h("table", {}, h("tbody", {}, ...lines))));
}

/** How far the server is with an upload. */
function underway({ state, files, files_done: done, share_done: share, added }) {
  if (state === "waiting") return [": waiting for the uploads before it …"];
  if (!files) return [": being opened …"];
  const words = `: reading ${files > 1 ? `file ${Math.min(done + 1, files)} of ${files}` : "it"}, ${plural(added.length, "document")} so far `;
  return [words, h("progress", { max: 1, value: share, "aria-label": "How much of it is read" })];
}

/**
 * The button, the place to drop files on (all of `page`), and the results, at the top of the page.
 * `added` is called with the ids of new documents.
 */
export function uploader(page, added) {
  const input = h("input", { type: "file", multiple: true, class: "sr", id: "files", tabindex: "-1", "aria-label": "Files to add" });
  const list = h("ul", { class: "upload-result" });
  const result = h("div", { class: "upload-results", role: "status", hidden: true }, list, button("Close", { class: "quiet small", run: () => (replace(list), (result.hidden = true)) }));
  const options = new UploadOptions();
  const choose = button("Add documents", { class: "primary", run: () => input.click() });

  async function send(files) {
    if (!files.length || !(await options.ask(files))) return;
    for (const file of files) {
      const item = h("li", {}, quoted(file.name), ": sending …");
      list.append(item);
      result.hidden = false;
      try {
        const end = await upload(file, (now) => replace(item, quoted(file.name), ...underway(now)), options.query);
        replace(item, quoted(file.name), ": ", ...outcome(file.name, end), options.told(end.results));
        if (end.state === "failed" || end.results.some(({ reason, duplicate }) => reason !== null && !duplicate)) item.className = "bad";
        else if (end.results.some(({ duplicate }) => duplicate)) item.className = "warn";
        await added(end.added);
      } catch (problem) {
        replace(item, quoted(file.name), `: ${problem.message}`);
        item.className = "bad";
      }
    }
  }

  input.addEventListener("change", () => {
    const files = [...input.files];
    input.value = ""; // at once, so that the same file can be chosen again
    send(files);
  });
  const files = (event) => event.dataTransfer?.types.includes("Files");
  page.addEventListener("dragover", (event) => files(event) && (event.preventDefault(), page.classList.add("over")));
  page.addEventListener("dragleave", (event) => page.contains(event.relatedTarget) || page.classList.remove("over"));
  page.addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    page.classList.remove("over");
    send([...event.dataTransfer.files]);
  });
  return { choose, input, result, options: options.element };
}
