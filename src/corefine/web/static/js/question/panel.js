/** The panel with the one question that is open. It is built once; its parts keep their places, only words change. */

import { button, h, quoted, replace, visible } from "../core/dom.js";
import { EntityList } from "./entity-list.js";
import { duration, percent, plural } from "../core/format.js";
import { why } from "./why.js";

const LONGEST = 24; // characters of the selection on a button
const clipped = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

const TITLES = {
  discrete: "Same entity?",
  pairwise: "Same entity?",
  "follow-up": "Mark the first appearance",
  mentions: "Is this a mention?",
  group: "All one entity?",
};

export class QuestionPanel {
  /** `act` has a function for each thing a person can do; see annotate.js. */
  constructor(act, { numbered = true } = {}) {
    this.act = act;
    this.count = h("span", { class: "count" });
    this.rest = h("span", { class: "rest" });
    this.progress = h("progress", { "aria-label": "Questions answered in this document", max: "1", value: "0" });
    this.title = h("h1", { id: "question" });
    this.pair = h("p", { class: "pair" });
    this.back = button("Back", { key: "Esc", keys: "Escape", class: "small quiet back", run: () => act.back() });
    this.said = h("p", { class: "said" });
    this.list = new EntityList({
      label: "Type any earlier words",
      numbered,
      choose: (entry) => act.entity(entry),
      preview: (entry, options) => act.preview(entry, options),
      search: (words, shown) => act.search(words, shown),
    });
    this.why = h("div", { class: "why" });
    this.sets = this.actions();
    this.undo = button("Undo", { key: "Z", class: "quiet small", run: () => act.undo() });
    this.redo = button("Redo", { key: "⇧Z", keys: "Shift+Z", class: "quiet small", run: () => act.redo() });
    this.finish = button("Finish document", { key: "⇧D", keys: "Shift+D", class: "quiet small", run: () => act.finish() });
    this.element = h(
      "aside",
      { class: "panel", "aria-labelledby": "question" },
      h("div", { class: "panel-top" }, h("div", { class: "row spread" }, this.count, this.rest), this.progress),
      h("div", { class: "ask", tabindex: "0", role: "group", "aria-labelledby": "question" }, this.title, this.back, this.pair),
      h("div", { class: "actions" }, ...Object.values(this.sets)),
      this.said,
      (this.extra = h("div", { class: "extra" }, this.list.element, this.why)),
      h("div", { class: "panel-foot" }, this.undo, this.redo, h("span", { class: "gap" }), this.finish),
    );
  }

  actions() {
    const { act } = this;
    const others = () =>
      h(
        "div",
        { class: "others" },
        button("Not a mention", { key: "X", class: "small", run: () => act.notAMention() }),
        button("Boundaries", { key: "B", class: "small", title: "Its boundaries are wrong: choose the right words", run: () => act.boundaries() }),
        button("Unsure", { key: "U", class: "small", run: () => act.unsure() }),
      );
    const set = (name, ...children) => h("div", { class: "set", data: { set: name }, hidden: true }, ...children);
    this.use = button("Use selection", { key: "↵", keys: "Enter", run: () => act.use() });
    this.bound = button("Use selection", { key: "↵", keys: "Enter", class: "primary", run: () => act.use() });
    const once = (run) => (event) => {
      run();
      if (event.detail) event.currentTarget.blur(); // after the mouse, Enter uses the selection
    };
    this.other = button("", { key: "P", class: "small", run: once(() => act.proposed()) });
    this.also = button("", { key: "A", class: "small", run: once(() => act.likewise()) });
    this.allOne = button("Yes", { key: "Y", class: "primary yes", run: () => act.yes() });
    this.proceed = button("", { key: "↵", keys: "Enter", class: "primary", run: () => act.proceed() });
    this.aside = button("Review it", { key: "R", run: () => act.review() });
    return {
      initial: set(
        "initial",
        h(
          "div",
          { class: "main-two" },
          button("Yes", { key: "Y", class: "primary yes", run: () => act.yes() }),
          button("No", { key: "N", class: "no", run: () => act.no() }),
        ),
        others(),
      ),
      "follow-up": set(
        "follow-up",
        h("div", { class: "main-two" }, button("This is the first", { key: "F", class: "primary", run: () => act.first() }), this.use),
        others(),
      ),
      boundaries: set(
        "boundaries",
        h("div", { class: "main-two" }, this.bound),
        h("div", { class: "others" }, this.other, this.also),
      ),
      group: set(
        "group",
        h("div", { class: "main-two" }, this.allOne, button("No, not all", { key: "N", class: "no", run: () => act.no() })),
        h(
          "div",
          { class: "others" },
          button("None is a mention", { key: "X", class: "small", run: () => act.notAMention() }),
          button("Unsure", { key: "U", class: "small", run: () => act.unsure() }),
        ),
      ),
      proceed: set("proceed", h("div", { class: "main-two" }, this.proceed, this.aside), (this.links = h("div", { class: "others" })), h("p", { class: "help" })),
    };
  }

  set(name) {
    for (const [other, element] of Object.entries(this.sets)) element.hidden = other !== name;
    this.list.element.hidden = name !== "follow-up";
    this.why.hidden = name !== "initial";
    this.element.dataset.phase = name ?? "none";
  }

  /** Show a question in one of its phases: initial, follow-up, boundaries, group. */
  ask(question, phase, { canGoBack = false } = {}) {
    const mention = quoted(question.mention_text, { class: "chip mention-chip" });
    const words =
      phase === "group"
        ? [`Are these ${question.group.length} `, mention, " all one entity?"]
        : phase === "follow-up"
          ? ["Where does the entity of ", mention, " appear first?"]
          : question.protocol === "mentions"
            ? ["Does ", mention, " refer to something?"]
            : ["Is ", mention, " the same as ", quoted(question.antecedent_text ?? "", { class: "chip antecedent-chip" }), "?"];
    this.title.textContent = { initial: TITLES[question.protocol], boundaries: "Wrong boundaries" }[phase] ?? TITLES[phase];
    if (phase !== "boundaries") replace(this.pair, words); // else see `correct`
    this.element.dataset.question = question.id;
    this.set(phase);
    this.busy(false);
    this.back.hidden = phase === "initial" || phase === "group" || !canGoBack;
    this.chosen(null);
    if (phase === "initial") why(this.why, question, this.act);
  }

  /** Say whose boundaries are being corrected: the mention's or the antecedent's. */
  correct(question, which) {
    const earlier = which === "antecedent";
    const wrong = quoted(earlier ? question.antecedent_text : question.mention_text, { class: `chip ${which}-chip` });
    replace(this.pair, ["Which words should ", wrong, " have been?"]);
    this.other.hidden = !question.antecedent;
    this.other.firstChild.textContent = earlier ? "The later words instead" : "The earlier words instead";
    this.likewise(0, false);
  }

  /** Offer to correct so many others likewise. */
  likewise(count, on) {
    this.also.hidden = !count;
    this.also.setAttribute("aria-pressed", String(on));
    this.also.firstChild.textContent = count === 1 ? "Also the other one" : `Also the ${count} others`;
  }

  /** What yes says about a group now. */
  group(group) {
    this.allOne.firstChild.textContent = group.label;
    this.allOne.disabled = !group.enough;
  }

  /** Take the row with this number from the reasons. */
  choose(number) {
    this.why.querySelectorAll("button.row-choice")[number - 1]?.click();
  }

  /** A card without a question: a title, a text, and what Enter does. */
  card(title, text, { proceed = null, review = false, help = "", links = [] } = {}) {
    this.title.textContent = title;
    replace(this.pair, text);
    delete this.element.dataset.question;
    this.back.hidden = true;
    this.set(proceed || review || links.length ? "proceed" : null);
    replace(this.links, links);
    this.proceed.firstChild.textContent = proceed ?? "";
    this.proceed.hidden = !proceed;
    this.aside.hidden = !review;
    this.sets.proceed.querySelector(".help").textContent = help;
    this.busy(false);
  }

  /** The words now selected in the text. */
  chosen(text) {
    for (const use of [this.use, this.bound]) {
      use.disabled = text === null;
      use.firstChild.textContent = text === null ? "Use selection" : `Use “${clipped(visible(text))}”`;
    }
  }

  busy(on) {
    this.element.setAttribute("aria-busy", String(on));
  }

  progressed(progress, number = null) {
    const { questions, budget, seconds_left: left, settled } = progress;
    const asking = number !== null;
    const of = budget === null ? "" : ` of ${Math.max(budget, questions + Number(asking))}`;
    this.count.textContent = asking ? `Question ${questions + 1}${of}` : `${plural(questions, "answer")}`;
    this.rest.textContent = asking ? [`${percent(settled)} settled`, left === null ? "" : `about ${duration(left)} left`].filter(Boolean).join(" · ") : "";
    this.progress.value = asking ? (budget ? questions / budget : settled) : 1;
    this.undo.disabled = !progress.can_undo;
    this.redo.disabled = !progress.can_redo;
  }

  /** One line about what the last action did. */
  say(text, kind = "") {
    this.said.className = `said ${kind}`;
    this.said.textContent = text;
  }

  settled(outcome) {
    const { pairs, settled_texts: texts } = outcome;
    const others = texts.length ? ` (${texts.slice(0, 3).map((text) => `“${visible(text).slice(0, 30)}”`).join(", ")}${texts.length > 3 ? ", …" : ""})` : "";
    const also = pairs ? `, this also settles ${plural(pairs, "pair")}${others}.` : ".";
    this.say(`Saved${also}`, "good");
  }
}
