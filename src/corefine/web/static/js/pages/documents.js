/** The project's documents, with this person's state of each: searched, sorted, and for the owner changed and added. */

import { get, post } from "../core/api.js";
import { button, h, replace } from "../core/dom.js";
import { plural } from "../core/format.js";
import { actions, showTrash, trash } from "../documents/actions.js";
import { FILTERS, chosen, tagsOf } from "../documents/list.js";
import { table } from "../documents/table.js";
import { uploader } from "../documents/uploader.js";

const SHOWN = 200; // rows at first: a project may have thousands

export function mount(main, app) {
  return new DocumentsPage(main, app);
}

class DocumentsPage {
  constructor(main, app) {
    this.app = app;
    this.owner = app.owner;
    this.closed = false;
    this.rows = [];
    this.names = new Map(); // of people, by id
    this.selected = new Set();
    this.fresh = new Set(); // added since the page was opened
    this.sort = "added";
    this.down = false;
    this.most = SHOWN;
    this.build(main);
    this.keys = this.bindings();
    this.load();
  }

  build(main) {
    const { app } = this;
    this.body = h("div", { "aria-busy": "true" });
    this.count = h("p", { class: "soft", role: "status" });
    this.search = h("input", { type: "search", "aria-label": "Search documents", placeholder: "Search names, tags and languages", "aria-keyshortcuts": "/", on: { input: () => this.draw() } });
    this.filter = h("select", { "aria-label": "Which documents", on: { change: () => this.draw() } }, ...FILTERS.map(([value, label]) => h("option", { value }, label)));
    this.tag = h("select", { "aria-label": "Tag", hidden: true, on: { change: () => this.draw() } });
    this.bin = button("Trash", { class: "small quiet", hidden: true, run: () => showTrash(this) });
    this.tools = h("div", { class: "row document-tools", hidden: true }, this.search, this.filter, this.tag, this.bin);
    const page = h("div", { class: "page" });
    const up = this.owner ? uploader(page, (added) => this.took(added)) : null;
    this.bar = this.owner ? actions(this) : null;
    page.append(
      ...[
        h("div", { class: "row spread" }, h("header", {}, h("h1", {}, "Documents"), this.count), up ? h("div", { class: "row" }, up.options, up.choose, up.input) : null),
        up?.result,
        app.me.notices.length ? h("ul", { class: "notices", "aria-label": "Notices" }, ...app.me.notices.map((notice) => h("li", {}, notice))) : null,
        this.tools,
        this.bar,
        this.body,
        up ? h("p", { class: "help" }, "Files can also be dropped anywhere on this page: plain text, or documents of other tools, also packed as zip.") : null,
      ].filter(Boolean),
    );
    main.append(page);
  }

  async load() {
    const [rows, people, deleted] = await Promise.all([get("/documents"), this.owner ? get("/people") : [], this.owner ? get("/trash") : []]);
    if (this.closed) return;
    this.rows = rows;
    this.names = new Map(people.map(({ id, name }) => [id, name]));
    const there = new Set(rows.map(({ id }) => id));
    for (const id of [...this.selected]) if (!there.has(id)) this.selected.delete(id);
    this.bin.hidden = !deleted.length;
    this.bin.firstChild.textContent = `Trash (${deleted.length})`;
    this.tools.hidden = !rows.length && !deleted.length;
    const tags = tagsOf(rows);
    const before = this.tag.value;
    replace(this.tag, h("option", { value: "" }, "Any tag"), ...tags.map((tag) => h("option", { value: tag }, tag)));
    this.tag.value = tags.includes(before) ? before : "";
    this.tag.hidden = !tags.length;
    this.draw();
    this.body.removeAttribute("aria-busy");
    clearTimeout(this.later);
    if (rows.some(({ ready, state }) => !ready && state !== "done")) this.later = setTimeout(() => this.closed || this.load(), 3000);
  }

  /** New documents are there. */
  async took(added) {
    for (const id of added) this.fresh.add(id);
    await this.load();
  }

  draw() {
    const { rows, owner } = this;
    if (!rows.length) {
      this.count.textContent = "";
      replace(this.body, this.empty());
      this.bar?.draw();
      return;
    }
    const found = chosen(rows, { search: this.search.value, filter: this.filter.value, tag: this.tag.value, sort: this.sort, down: this.down, names: this.names });
    const done = rows.filter(({ state, done_by: by }) => state === "done" || by.length).length;
    const shown = found.length === rows.length ? "" : `, ${found.length.toLocaleString("en")} shown`;
    this.count.textContent = `${plural(rows.length, "document")}, ${done.toLocaleString("en")} done${shown}.${owner ? "" : " You stay in a document until its budget is used. Here you can choose another."}`;
    const focused = this.focused();
    const rest = found.length - this.most;
    const none = h("p", { class: "soft" }, "No document fits. ", button("Show all", { class: "small", run: () => this.showAll() }));
    replace(this.body, found.length ? table(found.slice(0, this.most), this) : none, rest > 0 ? button(`Show ${Math.min(rest, SHOWN)} more of ${rest.toLocaleString("en")}`, { run: () => ((this.most += SHOWN), this.draw()) }) : null);
    this.shown = found;
    this.bar?.draw();
    if (focused) this.body.querySelector(focused)?.focus();
  }

  /** What had the focus, so that it still has it when the table is drawn again. */
  focused() {
    const at = document.activeElement;
    if (!this.body.contains(at)) return null;
    const row = at.closest("tr[data-id]");
    if (row) return `tr[data-id="${row.dataset.id}"] ${at.matches("[type=checkbox]") ? "[type=checkbox]" : at.tagName.toLowerCase()}`;
    const column = at.closest("th");
    return column ? `th:nth-child(${[...column.parentElement.children].indexOf(column) + 1}) ${at.tagName.toLowerCase()}` : null;
  }

  /** A project without documents: files of one's own, or something to try it with. */
  empty() {
    if (!this.owner) return h("p", {}, "The project’s owner has not added any documents yet.");
    const stories = async () => {
      await post("/stories");
      await this.load();
      this.app.note("Nine short stories are there to try, and three to score the model on. Delete them when you begin in earnest.");
    };
    return h(
      "section",
      { class: "upload", "aria-label": "The project is empty" },
      h("h2", {}, "The project has no documents yet"),
      h("p", { class: "soft" }, "Drop files here, or choose them with “Add documents”: plain text, or documents of other tools, also packed as zip."),
      h("div", { class: "row" }, button("Try the stories", { run: stories }), h("span", { class: "help" }, "nine short stories that ship with corefine, to see how it works")),
    );
  }

  showAll() {
    this.search.value = this.filter.value = this.tag.value = "";
    this.draw();
  }

  sortBy(key) {
    this.down = this.sort === key && !this.down;
    if (this.sort === key && !this.down) this.sort = "added"; // the third time: as they were added
    else this.sort = key;
    this.draw();
  }

  onlyTag(tag) {
    this.tag.value = this.tag.value === tag ? "" : tag;
    this.draw();
  }

  selectedRows() {
    return this.rows.filter(({ id }) => this.selected.has(id));
  }

  select(ids, on) {
    for (const id of ids) this.selected[on ? "add" : "delete"](id);
    this.draw();
  }

  walk(by) {
    const links = [...this.body.querySelectorAll("td.name > a")];
    const at = links.indexOf(document.activeElement.closest("tr")?.querySelector("td.name > a"));
    links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
  }

  /** Select the document that has the focus. */
  pick() {
    const id = Number(document.activeElement.closest("tr[data-id]")?.dataset.id ?? 0);
    if (id) this.select([id], !this.selected.has(id));
  }

  bindings() {
    const group = "Documents";
    const some = () => this.selected.size > 0;
    const own = [
      { keys: ["x"], label: "Select the document", group, run: () => this.pick() },
      { keys: ["Delete"], label: "Delete what is selected (it goes to the trash)", group, when: some, run: () => trash(this, this.selectedRows()) },
      { keys: ["Escape"], label: "Select none", group, when: some, run: () => this.select([...this.selected], false) },
    ];
    return [
      { keys: ["ArrowDown"], label: "Next document", group, run: () => this.walk(1) },
      { keys: ["ArrowUp"], label: "Previous document", group, run: () => this.walk(-1) },
      { keys: ["/"], label: "Search", group, run: () => this.search.focus() },
      ...(this.owner ? own : []),
    ];
  }

  close() {
    this.closed = true;
    clearTimeout(this.later);
  }
}
