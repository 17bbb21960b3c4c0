/** Mentions on which people differ, one after the other in their context; the owner decides. Keys 1 to 9, X, and arrows. */

import { get, post } from "../core/api.js";
import { button, h, quoted, replace, visible } from "../core/dom.js";
import { plural } from "../core/format.js";
import { DocumentCache } from "../text/document-cache.js";
import { Reader } from "../text/reader.js";
import { compare, first, same } from "../text/spans.js";

const cache = new DocumentCache();

export async function show(body, app, page) {
  const view = new Adjudication(app, page);
  replace(body, h("h1", {}, "Adjudication"), view.element);
  page.keys.push(...view.keys());
  const close = page.close;
  page.close = () => (view.reader.close(), close());
  view.take(await get("/adjudication"));
}

class Adjudication {
  constructor(app, page) {
    this.app = app;
    this.page = page;
    this.at = 0;
    this.reader = new Reader({ chosen: (span) => this.chosen(span) });
    this.count = h("p", { class: "soft", role: "status" });
    this.choices = h("div", { class: "stack choices" });
    this.title = h("h2", {});
    this.move = h(
      "div",
      { class: "row" },
      button("Previous", { key: "←", keys: "ArrowLeft", class: "small", run: () => this.go(-1) }),
      button("Next", { key: "→", keys: "ArrowRight", class: "small", run: () => this.go(1) }),
    );
    this.element = h("div", { class: "adjudication" }, this.reader.element, h("div", { class: "stack" }, this.count, this.title, this.choices, this.move));
    this.document = null;
  }

  take({ differences, open }) {
    this.differences = differences;
    this.count.textContent = differences.length ? `${plural(differences.length, "difference")}, ${open} not decided yet.` : "Nothing to decide: people do not differ, or no two have answered in the same document yet. The overlap in the settings says how many documents are shared; documents can also be assigned to several people.";
    this.element.classList.toggle("none", !differences.length);
    for (const part of [this.reader.element, this.title, this.move]) part.hidden = !differences.length;
    if (differences.length) this.show();
    else replace(this.choices);
  }

  async show() {
    const difference = this.differences[this.at];
    if (this.document !== difference.document) {
      const doc = await cache.text(difference.document);
      if (this.page.closed) return;
      this.reader.open(doc);
      this.document = difference.document;
    }
    if (this.underlined !== this.document) this.underline();
    const { view, selection, fold } = this.reader;
    view.mark("mention", difference.mention);
    const firsts = difference.versions.flatMap(({ first: span }) => (span && !same(span, difference.mention) ? [span] : []));
    view.markAll("antecedent", firsts);
    if (firsts.length) fold.between(firsts.sort(compare)[0], difference.mention);
    else fold.none();
    selection.begin({ allowed: (token) => token <= first(difference.mention), candidates: firsts });
    this.reader.reveal(...firsts.slice(0, 1), difference.mention);
    replace(this.title, `${this.at + 1}. What is `, quoted(difference.mention_text, { class: "chip mention-chip" }), "?");
    replace(this.choices, ...this.options(difference));
  }

  /** The entities as an export has them now, a single mention that somebody marked too. Their colours stay. */
  async underline() {
    const { view } = this.reader;
    this.underlined = this.document;
    const { entities } = await get(`/adjudication/${this.document}/entities`);
    if (!this.page.closed && view === this.reader.view) view.underline(entities);
  }

  /** What people said, each once, with who said it; and nobody's: no mention, or words chosen in the text. */
  options(difference) {
    const { versions, decision, mention } = difference;
    const groups = new Map();
    const vague = versions.filter((version) => version.mention && !version.first); // they said what it is not
    for (const version of versions) {
      if (vague.includes(version)) continue;
      const name = version.mention ? JSON.stringify(version.first) : "none";
      groups.set(name, { ...version, people: [...(groups.get(name)?.people ?? []), version.person] });
    }
    const made = [...groups.values()].filter((version) => version.mention);
    const noMention = groups.get("none")?.people ?? [];
    const who = (people) => h("span", { class: "help" }, people.length ? `said by ${people.join(", ")}` : "said by nobody");
    const option = (label, people, key, chosen, decided) => {
      const element = h("button", { type: "button", class: "choice", "aria-pressed": String(chosen), "aria-keyshortcuts": key.toLowerCase(), on: { click: () => this.decide(chosen ? null : decided) } }, h("kbd", { "aria-hidden": "true" }, key), h("span", {}, ...label), who(people));
      return element;
    };
    this.decisions = made.map(({ first: span }) => ({ mention: true, first: span }));
    return [
      ...made.map((version, index) => {
        const own = same(version.first, mention);
        const label = own ? ["It is the first of its entity"] : ["It is ", quoted(version.first_text ?? "", { class: "chip antecedent-chip" })];
        const chosen = decision !== null && decision.mention && same(decision.first, version.first);
        const element = option(label, version.people, String(index + 1), chosen, this.decisions[index]);
        if (!own) {
          element.addEventListener("pointerenter", () => this.look(version.first));
          element.addEventListener("focus", () => this.look(version.first));
        }
        return element;
      }),
      option(["It is not a mention"], noMention, "X", decision !== null && !decision.mention, { mention: false, first: null }),
      vague.length ? h("p", { class: "help" }, `${vague.map(({ person }) => person).join(", ")}: not the same, but did not say what it is instead.`) : null,
      h("p", { class: "help" }, "Or select its first appearance in the text. Choosing a decision again takes it back."),
    ].filter(Boolean);
  }

  look(span) {
    this.reader.view.mark("antecedent", span);
    this.reader.fold.show(first(span));
    this.reader.reveal(span, this.differences[this.at].mention);
  }

  chosen(span) {
    if (!span) return;
    this.reader.offer([{ label: `First appearance: “${visible(this.reader.view.words(span)).slice(0, 30)}”`, key: "↵", keys: "Enter", primary: true, run: () => this.useSelection() }]);
  }

  useSelection() {
    const { span } = this.reader.selection;
    if (span) this.decide({ mention: true, first: span });
  }

  async decide(decision) {
    const { document, mention } = this.differences[this.at];
    const result = await post("/adjudication", { document, mention, decision });
    const next = result.differences.findIndex((difference, index) => index > this.at && difference.decision === null);
    if (decision && next >= 0) this.at = next;
    this.underlined = null; // a decision may have changed them
    this.take(result);
  }

  go(by) {
    const size = this.differences.length;
    if (!size) return;
    this.at = (this.at + by + size) % size;
    this.show();
  }

  keys() {
    const group = "Adjudication";
    const some = () => this.differences?.length;
    return [
      { keys: [..."123456789"], label: "Decide for a version", group, when: some, run: (event) => this.decisions[Number(event.key) - 1] && this.decide(this.decisions[Number(event.key) - 1]) },
      { keys: ["x"], label: "It is not a mention", group, when: some, run: () => this.decide({ mention: false, first: null }) },
      { keys: ["Enter"], label: "Use the selection as first appearance", group, when: () => this.reader.selection?.span, run: () => this.useSelection() },
      { keys: ["ArrowLeft"], label: "Previous difference", group, run: () => this.go(-1) },
      { keys: ["ArrowRight"], label: "Next difference", group, run: () => this.go(1) },
      { keys: ["o"], label: "Unfold the text between", group, run: () => this.reader.fold?.toggle() },
    ];
  }
}
