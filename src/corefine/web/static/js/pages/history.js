/** This person's answers, newest first. Each can be shown in context and withdrawn. */

import { clientId, get } from "../core/api.js";
import { context } from "../text/context.js";
import { button, h, quoted, replace } from "../core/dom.js";
import { duration, when } from "../core/format.js";
import { DocumentCache } from "../text/document-cache.js";

const cache = new DocumentCache();

export async function fill(body, app) {
  const list = h("ol", { class: "history", "aria-label": "Answers, newest first" });
  const more = button("Earlier answers", { class: "small" });
  const names = new Map((await get("/documents")).map(({ id, name }) => [id, name]));
  let before = null;

  async function load() {
    const page = await get(`/history?limit=50${before === null ? "" : `&before=${before}`}`);
    list.append(...page.entries.map((entry) => row(entry, names.get(entry.document) ?? "", app)));
    before = page.next_before;
    more.hidden = before === null;
    if (!list.children.length) replace(list, h("li", { class: "soft" }, "No answers yet."));
  }

  more.addEventListener("click", load);
  list.addEventListener("keydown", (event) => walk(list, event));
  await load();
  replace(body, h("p", { class: "help" }, "↑ ↓ go through the answers, Enter shows one in its context, Delete withdraws it."), list, more);
}

function row(entry, name, app) {
  const said = h("button", { type: "button", class: "what", "aria-expanded": "false" }, quoted(entry.said));
  const item = h(
    "li",
    { class: entry.stands ? "entry" : "entry withdrawn" },
    h("div", { class: "row spread" }, h("span", { class: "help" }, `${entry.kind === "edit" ? "Edit" : "Answer"} ${entry.number} · ${name}`), h("span", { class: "help" }, [duration(entry.seconds), when(entry.at)].filter(Boolean).join(" · "))),
    said,
  );
  said.addEventListener("click", async () => {
    const open = item.querySelector(".context");
    if (open) open.remove();
    else said.after(context(entry, await cache.text(entry.document)));
    said.setAttribute("aria-expanded", String(!open));
  });
  if (entry.stands) {
    item.append(h("div", {}, button("Withdraw", { key: "Del", keys: "Delete", class: "small bad", data: { withdraw: "" }, run: () => withdraw(entry, app) })));
  } else item.append(h("span", { class: "help" }, "withdrawn"));
  return item;
}

async function withdraw(entry, app) {
  try {
    const { document, number } = entry;
    await app.outbox.send("/withdraw", { client_id: clientId(), document, number });
    app.note(`Answer ${number} is withdrawn. Undo brings it back.`);
    app.tabs.changed(document);
  } catch (problem) {
    app.note(problem.message, { kind: "bad" });
  }
  await app.drawer.refresh("history");
  app.reload?.();
}

/** Arrows go from entry to entry; Delete withdraws the one in focus. */
function walk(list, event) {
  const items = [...list.children];
  const at = items.findIndex((item) => item.contains(document.activeElement));
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
  if (to !== undefined && items[to]) {
    items[to].querySelector("button")?.focus();
    event.preventDefault();
  } else if (event.key === "Delete" && at >= 0) {
    items[at].querySelector("[data-withdraw]")?.click();
    event.preventDefault();
  }
}
