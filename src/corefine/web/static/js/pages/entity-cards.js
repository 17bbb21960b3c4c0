/** All entities of a document side by side, each with its mentions. Arrows walk, Space selects, drag and keys edit. */

import { Drag } from "../text/drag.js";
import { h, quoted, replace, visible } from "../core/dom.js";
import { percent, plural } from "../core/format.js";
import { key } from "../text/spans.js";

/** The words of the mention that names an entity best. */
export const named = ({ name, mentions, first }) => mentions.find(({ span }) => key(span) === key(name))?.text ?? first;

export class EntityCards {
  /** `act` has merge(a, b), split(spans), move(span, to), remove(span), confirm(span); `look(mention, entity)` follows the focus. */
  constructor(act, look) {
    this.act = act;
    this.look = look;
    this.entities = [];
    this.selected = new Set();
    this.cards = h("div", { class: "cards" });
    this.zones = h(
      "div",
      { class: "zones" },
      h("div", { class: "zone", data: { drop: "new" } }, "Drop here: a new entity"),
      h("div", { class: "zone bad", data: { drop: "bin" } }, "Drop here: not a mention"),
    );
    this.element = h("div", { class: "entity-cards" }, this.cards, this.zones);
    this.cards.addEventListener("click", (event) => this.click(event));
    this.cards.addEventListener("focusin", (event) => this.focused(event.target));
    this.drag = new Drag(this.element, { label: (source) => source.dataset.label, dropped: (source, target) => this.dropped(source, target) });
  }

  /** `colours` has the number of each entity's colour. */
  show(entities, colours) {
    this.colours = colours;
    const before = document.activeElement?.dataset?.mention;
    this.entities = entities;
    this.where = new Map(); // mention -> [entity, mention]
    entities.forEach((entity, index) => entity.mentions.forEach((mention) => this.where.set(key(mention.span), [index, mention])));
    for (const name of this.selected) if (!this.where.has(name)) this.selected.delete(name);
    const many = entities.map((entity, index) => [entity, index]).filter(([{ mentions }]) => mentions.length > 1);
    const single = entities.map((entity, index) => [entity, index]).filter(([{ mentions }]) => mentions.length === 1);
    replace(
      this.cards,
      many.length ? null : h("p", { class: "soft" }, "No entity has two mentions yet."),
      ...many.map(([entity, index]) => this.card(entity, index)),
      single.length ? h("h2", { class: "group" }, `Mentioned once (${single.length})`) : null,
      ...single.map(([entity, index]) => this.card(entity, index)),
    );
    const chip = before && this.chip(before);
    (chip ?? this.chips()[0])?.setAttribute("tabindex", "0");
    chip?.focus({ preventScroll: true });
    this.paint();
  }

  card(entity, index) {
    const head = h(
      "header",
      { data: { drag: "entity", label: named(entity) }, title: "Drag onto another entity to merge the two" },
      quoted(named(entity), { class: "first" }),
      h("span", { class: "count" }, `×${entity.mentions.length}`),
      this.confirmation(entity),
    );
    const card = h(
      "section",
      { class: entity.mentions.length > 1 ? "card" : "card once", data: { drop: "entity", entity: index }, "aria-label": `${visible(named(entity))}, ${plural(entity.mentions.length, "mention")}` },
      entity.mentions.length > 1 ? head : null,
      h("div", { class: "mentions", role: "group" }, ...entity.mentions.map((mention) => this.mention(mention)), entity.mentions.length > 1 ? null : this.confirmation(entity)),
    );
    card.style.setProperty("--colour", `var(--e${this.colours[index]})`);
    return card;
  }

  /** Whether people have said all of an entity; if not, the button to say it. */
  confirmation(entity) {
    if (entity.confirmed) return h("span", { class: "tag good", title: "People have said all of this" }, "✓ confirmed");
    return h("button", { type: "button", class: "small quiet confirm-entity", "aria-label": `Confirm ${visible(named(entity))}`, on: { click: () => this.act.confirm(entity.mentions[0].span) } }, "Confirm");
  }

  mention(mention) {
    const said = mention.source === "human";
    const sure = said ? "by people" : mention.probability === null ? "by the model" : `by the model, ${percent(mention.probability)}`;
    return h(
      "button",
      {
        type: "button",
        class: said ? "mention-item human" : "mention-item",
        tabindex: "-1",
        title: `Sentence ${mention.sentence + 1}, ${sure}`,
        "aria-pressed": "false",
        "aria-label": `${visible(mention.text)}, sentence ${mention.sentence + 1}, ${sure}`,
        data: { drag: "mention", mention: key(mention.span), label: mention.text },
      },
      quoted(mention.text),
      h("span", { class: "where" }, String(mention.sentence + 1)),
    );
  }

  chips() {
    return [...this.cards.querySelectorAll(".mention-item")];
  }

  chip(name) {
    return this.cards.querySelector(`[data-mention="${CSS.escape(name)}"]`);
  }

  span(name) {
    return this.where.get(name)[1].span;
  }

  // Focus and selection

  click(event) {
    const chip = event.target.closest(".mention-item");
    if (!chip) return;
    chip.focus();
    const { mention } = chip.dataset;
    const alone = !(event.ctrlKey || event.metaKey || event.shiftKey);
    const had = this.selected.has(mention) && (!alone || this.selected.size === 1);
    if (alone) this.selected.clear();
    if (had) this.selected.delete(mention);
    else this.selected.add(mention);
    this.paint();
  }

  focused(chip) {
    if (!chip.dataset.mention) return;
    for (const other of this.cards.querySelectorAll(".mention-item[tabindex='0']")) other.setAttribute("tabindex", "-1");
    chip.setAttribute("tabindex", "0");
    const [entity, mention] = this.where.get(chip.dataset.mention);
    this.look(mention, this.entities[entity]);
  }

  toggle() {
    const name = document.activeElement?.dataset?.mention;
    if (!name) return;
    if (!this.selected.delete(name)) this.selected.add(name);
    this.paint();
  }

  clear() {
    this.selected.clear();
    this.paint();
  }

  paint() {
    for (const chip of this.chips()) chip.setAttribute("aria-pressed", String(this.selected.has(chip.dataset.mention)));
  }

  /** Focus the next mention, or the first one of the next entity. */
  walk(by, whole = false) {
    const chips = this.chips();
    const at = chips.indexOf(document.activeElement);
    if (at < 0) return chips.find((chip) => chip.tabIndex === 0)?.focus();
    if (!whole) return chips[at + by]?.focus();
    const cards = [...this.cards.querySelectorAll(".card")];
    const card = cards[cards.indexOf(chips[at].closest(".card")) + by];
    return card?.querySelector(".mention-item")?.focus();
  }

  focus(span) {
    this.chip(key(span))?.focus();
  }

  /** The selected mentions, or the one in focus. */
  get chosen() {
    if (this.selected.size) return [...this.selected].map((name) => this.span(name));
    const name = document.activeElement?.dataset?.mention;
    return name ? [this.span(name)] : [];
  }

  entityOf(span) {
    return this.entities[this.where.get(key(span))[0]];
  }

  // Dropping

  dropped(source, target) {
    const { drop } = target.dataset;
    const whole = source.dataset.drag === "entity";
    const from = this.entities[Number(source.closest("[data-entity]").dataset.entity)];
    const spans = whole ? from.mentions.map(({ span }) => span) : this.taken(source.dataset.mention);
    if (drop === "bin") this.act.remove(spans);
    else if (drop === "new" && !whole) this.act.split(spans);
    else if (drop === "entity") {
      const to = this.entities[Number(target.dataset.entity)];
      if (to === from) return;
      if (whole) this.act.merge(from.mentions[0].span, to.mentions[0].span);
      else this.act.move(spans, to.mentions[0].span);
    }
  }

  /** Dragging one of several selected mentions takes them all. */
  taken(name) {
    return this.selected.has(name) ? [...this.selected].map((other) => this.span(other)) : [this.span(name)];
  }

  close() {
    this.drag.close();
  }
}
