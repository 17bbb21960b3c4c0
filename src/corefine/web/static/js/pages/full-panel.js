/** The side of the page where a document is annotated in full: progress, the selected words, and what they can be. */

import { dialog } from "../core/dialog.js";
import { button, h, kbd, quoted, replace, visible } from "../core/dom.js";
import { plural } from "../core/format.js";
import { EntityList } from "../question/entity-list.js";
import { entityEntries } from "../question/finder.js";
import { compare, key, same } from "../text/spans.js";

const MOST = 5; // entities that have a number
const WHY = { words: "the same words were marked before", pronoun: "a pronoun", model: "the model takes it for a mention" };

export class FullPanel {
  constructor(page) {
    this.page = page;
    this.progress = h("p", { class: "full-progress" });
    this.said = h("p", { class: "said wrap", role: "status" });
    this.words = h("p", { class: "full-words", "aria-live": "polite" });
    this.actions = h("div", { class: "full-actions" });
    this.list = h("ol", { class: "full-entities", "aria-label": "Entities that were mentioned last" });
    this.sentence = h("div", { class: "row" });
    this.element = h(
      "section",
      { class: "full-side", "aria-label": "Annotate in full" },
      h("h1", {}, "Annotate in full"),
      this.progress,
      this.words,
      this.actions,
      this.list,
      this.sentence,
      this.said,
      h("p", { class: "soft small-text" }, "Mark every mention of a sentence, then tick it off: all else in it then counts as no mention. Drag over words, or select them with ← → and Shift. ? shows all keys."),
    );
  }

  say(text, kind = "") {
    this.said.textContent = text;
    this.said.className = `said wrap ${kind}`;
  }

  show() {
    const { page } = this;
    const { view } = page.reader;
    const { known, span } = page;
    const size = view.doc.sentences.length;
    const share = h("progress", { max: size, value: known.done.length, "aria-label": "Sentences that are done" });
    replace(this.progress, `${known.done.length} of ${plural(size, "sentence")} done; this is sentence ${page.sentence + 1} `, share);
    const entity = span && page.where.get(key(span));
    const state = entity ? [" is marked as ", quoted(view.words(entity.name))] : [];
    replace(this.words, span ? [h("strong", {}, quoted(view.words(span))), ...state] : "No words are selected.");
    replace(this.actions, ...this.buttons(span));
    this.recent = span ? this.nearest(span) : [];
    replace(this.list, ...this.recent.map((each, index) => h("li", {}, button("", { class: "quiet small entity", run: () => this.choose(index + 1) }))));
    this.recent.forEach(({ name, mentions }, index) => {
      const label = [kbd(String(index + 1)), h("span", { class: "first" }, quoted(view.words(name))), h("span", { class: "count" }, mentions.length > 1 ? `×${mentions.length}` : "")];
      replace(this.list.children[index].firstChild, ...label);
    });
    const ticked = known.done.some(([number]) => number === page.sentence);
    replace(
      this.sentence,
      button(ticked ? "Open the sentence again" : "Sentence done", { key: "Space", keys: "Space", class: ticked ? "" : "primary", run: () => page.tick() }),
      button("↑", { class: "quiet", "aria-label": "Previous sentence", "aria-keyshortcuts": "ArrowUp", run: () => page.move(-1) }),
      button("↓", { class: "quiet", "aria-label": "Next sentence", "aria-keyshortcuts": "ArrowDown", run: () => page.move(1) }),
      page.complete ? button("Finish the document", { key: "⇧D", keys: "Shift+D", class: "primary", run: () => page.finish() }) : null,
    );
  }

  buttons(span) {
    const { page } = this;
    const { view } = page.reader;
    const { known, proposal } = page;
    if (!span) return [];
    const named = (to) => quoted(view.words(page.where.get(key(to))?.name ?? to));
    const made = [];
    if (proposal) {
      const what = button("Accept the proposal", { key: "↵", keys: "Enter", class: "primary", run: () => page.accept() });
      made.push(h("p", { class: "proposal" }, what, h("span", { class: "soft" }, proposal.to ? ["the same as ", named(proposal.to)] : "a new entity", `: ${WHY[proposal.why]}`)));
    }
    const last = known.last && !same(known.last, span) ? known.last : null;
    const sameAsLast = last && button("Same as the last", { key: "S", run: () => page.mark(last) });
    if (sameAsLast) sameAsLast.firstChild.append(": ", named(last));
    made.push(
      h(
        "div",
        { class: "row" },
        sameAsLast,
        button("New entity", { key: "N", run: () => page.mark(null) }),
        known.entities.length ? button("Same as…", { key: "E", run: () => this.find() }) : null,
        button("No mention", { key: "X", class: "quiet", run: () => page.unmark() }),
      ),
    );
    return made;
  }

  /** The entities that the selected words most likely belong to: those with the same words, then those mentioned last. */
  nearest(span) {
    const { view } = this.page.reader;
    const words = view.words(span).toLocaleLowerCase();
    const ranked = this.page.known.entities
      .filter(({ mentions }) => !mentions.some((each) => same(each, span)))
      .map((entity) => {
        const before = entity.mentions.filter((each) => compare(each, span) < 0);
        const equal = entity.mentions.some((each) => view.words(each).toLocaleLowerCase() === words);
        return { entity, equal, at: before.at(-1) ?? [-1, -1] };
      });
    ranked.sort((a, b) => Number(b.equal) - Number(a.equal) || compare(b.at, a.at));
    return ranked.slice(0, MOST).map(({ entity }) => entity);
  }

  choose(number) {
    const entity = this.recent?.[number - 1];
    if (entity) this.page.mark(entity.mentions[0]);
  }

  /** Find the entity by any of its mentions. */
  async find() {
    const { page } = this;
    const { view } = page.reader;
    const { span } = page;
    if (!span || !page.known.entities.length) return;
    const others = page.known.entities.filter(({ mentions }) => !mentions.some((each) => same(each, span)));
    const entities = others.map((entity) => ({ ...entity, mentions: entity.mentions.map((each) => ({ span: each })) }));
    const title = `“${visible(view.words(span))}” is the same as`;
    const to = await dialog({
      label: title,
      content: (close) => {
        const list = new EntityList({ numbered: false, choose: (entry) => close(entry.span) });
        list.show(entityEntries(view, entities.reverse()));
        setTimeout(() => list.focus());
        return [h("h2", {}, title), list.element, button("Cancel", { key: "Esc", keys: "Escape", run: () => close(null) })];
      },
    });
    if (to) {
      page.reader.selection.set(span);
      page.mark(to);
    }
  }

  /** Every sentence is ticked off. */
  finished() {
    this.say("Every sentence is done: the model learns all of this document, its mentions too.", "good");
  }
}
