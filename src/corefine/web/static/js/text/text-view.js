/**
 * A document on the page: one span a token, drawn once. Marks are classes put on tokens and on the spaces between them
 * (a space becomes an element when it is first marked); nothing is drawn anew from one question to the next.
 */

import { blank, h, shortened, visible } from "../core/dom.js";
import { Colours } from "./colours.js";
import { parts } from "./spans.js";

const LONGEST = 300; // characters of a token that are shown
const VISUAL_PARAGRAPH = 90; // tokens after which a text without paragraphs gets a break, for the eye only
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

export class TextView {
  constructor(doc) {
    this.doc = doc;
    this.tokens = new Array(doc.tokens); // elements
    this.words_ = new Array(doc.tokens);
    this.spaced = new Uint8Array(doc.tokens);
    this.sentenceOf = new Uint32Array(doc.tokens);
    this.characters = new Uint32Array(doc.tokens + 1); // shown before each token: for estimating distances
    this.sentences = []; // elements
    this.marks = new Map(); // name -> [[element, class], ...]
    this.coloured = [];
    this.colours = new Colours();
    this.element = h("article", {
      class: "text",
      lang: doc.language,
      dir: doc.rtl ? "rtl" : "ltr",
      "aria-label": `Text of ${doc.name}`,
    });
    this.draw();
  }

  draw() {
    const { sentences } = this.doc;
    const divided = sentences.some((sentence, index) => index > 0 && sentence.paragraph);
    let paragraph = null;
    let speaker = null;
    let length = 0;
    sentences.forEach((sentence, index) => {
      const turn = sentence.speaker !== speaker;
      const full = !divided && length >= VISUAL_PARAGRAPH;
      if (!paragraph || sentence.paragraph || turn || full) {
        paragraph = h("p", {}, turn && sentence.speaker ? h("span", { class: "speaker" }, sentence.speaker) : null);
        this.element.append(paragraph);
        length = 0;
      }
      speaker = sentence.speaker;
      length += sentence.tokens.length;
      paragraph.append(this.sentence(sentence, index));
    });
  }

  sentence({ start, tokens, spaces, breaks }, index) {
    const element = h("span", { class: "sentence" });
    const ends = new Set(breaks);
    element.dataset.sentence = index;
    tokens.forEach((word, offset) => {
      const token = start + offset;
      const span = document.createElement("span");
      span.className = "t";
      span.dataset.i = token;
      span.textContent = shown(word, span);
      this.tokens[token] = span;
      this.words_[token] = word;
      this.sentenceOf[token] = index;
      this.spaced[token] = spaces[offset] ? 1 : 0;
      this.characters[token + 1] = this.characters[token] + span.textContent.length + this.spaced[token];
      element.append(span);
      if (ends.has(offset)) element.append(document.createElement("br"));
      else if (spaces[offset]) element.append(" ");
    });
    // Sentences that are not told apart by a space still need a place where a line may break.
    if (!spaces.at(-1) && !ends.has(tokens.length - 1)) element.append(document.createElement("wbr"));
    this.sentences.push(element);
    return element;
  }

  /** The words of a span as the document has them. */
  words(span) {
    const text = ([a, b]) => {
      let words = "";
      for (let token = a; token <= Math.min(b, a + 200); token += 1)
        words += shortened(this.words_[token], LONGEST) + (token < b && this.spaced[token] ? " " : "");
      return words;
    };
    return parts(span).map(text).join(" … ");
  }

  sentenceText(index) {
    const { start, tokens } = this.doc.sentences[index];
    return this.words([start, start + tokens.length - 1]);
  }

  /** The space after a token as an element, made on first use; null where there is none. */
  space(token) {
    const next = this.tokens[token].nextSibling;
    if (!next) return null;
    if (next.nodeType === Node.ELEMENT_NODE) return next.classList.contains("s") ? next : null;
    const element = h("span", { class: "s" }, next.data);
    next.replaceWith(element);
    return element;
  }

  *elements(span) {
    for (const [a, b] of parts(span)) {
      for (let token = a; token <= b; token += 1) {
        yield [this.tokens[token], token === a, token === b];
        const space = token < b ? this.space(token) : null;
        if (space) yield [space, false, false];
      }
    }
  }

  /** Put a mark on a span, in place of the one with that name; null takes it off. */
  mark(name, span) {
    for (const [element, added] of this.marks.get(name) ?? []) element.classList.remove(...added);
    this.marks.delete(name);
    if (span === null || span === undefined) return;
    const marked = [];
    for (const [element, starts, ends] of this.elements(span)) {
      const added = [name, ...(starts ? [`${name}-start`] : []), ...(ends ? [`${name}-end`] : [])];
      element.classList.add(...added);
      marked.push([element, added]);
    }
    this.marks.set(name, marked);
  }

  /** Mark several spans under one name, without ends. What has the mark already is left alone. */
  markAll(name, spans) {
    const before = new Set((this.marks.get(name) ?? []).map(([element]) => element));
    const marked = new Set();
    for (const span of spans) for (const [element] of this.elements(span)) marked.add(element);
    for (const element of before) if (!marked.has(element)) element.classList.remove(name);
    for (const element of marked) if (!before.has(element)) element.classList.add(name);
    this.marks.set(name, [...marked].map((element) => [element, [name]]));
  }

  /**
   * Coloured underlines for entities with more than one mention, and for a single mention that people have marked;
   * null takes them off. Returns the colour of each entity.
   */
  underline(entities) {
    for (const [element, levels] of this.coloured) {
      for (let level = 0; level < levels; level += 1) element.style.removeProperty(`--u${level}`);
    }
    this.coloured = [];
    this.element.classList.toggle("entities", entities !== null);
    const levels = new Map();
    const colours = this.colours.of(entities ?? []);
    const shown = ({ mentions }) => mentions.length > 1 || mentions[0].source === "human";
    const spans = (entities ?? [])
      .flatMap((entity, index) => (shown(entity) ? entity.mentions.map(({ span }) => [span, colours[index]]) : []))
      .sort(([a], [b]) => length(a) - length(b));
    for (const [span, colour] of spans) {
      const elements = [...this.elements(span)].map(([element]) => element);
      const level = Math.max(...elements.map((element) => levels.get(element) ?? 0));
      for (const element of elements) levels.set(element, level + 1);
      if (level > 2) continue;
      for (const element of elements) element.style.setProperty(`--u${level}`, `var(--e${colour})`);
    }
    this.coloured = [...levels];
    return colours;
  }

  tokenAt(target) {
    const element = target instanceof Element ? target.closest(".t") : null;
    return element && this.element.contains(element) ? Number(element.dataset.i) : null;
  }
}

const length = (span) => parts(span).reduce((sum, [a, b]) => sum + b - a, 0);

/** What is shown of a token: all of it, if it is of a usual length and can be seen. */
function shown(word, span) {
  let text = word;
  if (BIDI.test(word)) span.classList.add("isolated");
  if (blank(word)) {
    span.classList.add("strange");
    text = visible(word);
  } else if (visible(word) !== word) {
    span.title = "This word has invisible characters.";
  }
  if (text.length <= LONGEST) return text;
  span.title = `A word of ${word.length.toLocaleString("en")} characters; its beginning is shown.`;
  return shortened(text, LONGEST);
}
