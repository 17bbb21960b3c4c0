/** A history entry in its context: the sentences it is about, with its spans marked. */

import { h, shortened, visible } from "../core/dom.js";
import { holds } from "./spans.js";

const LONGEST = 60; // tokens of a sentence that are shown around a span

export function context(entry, doc) {
  const pieces = [];
  let before = null;
  for (const index of [...new Set(entry.sentences)].sort((a, b) => a - b)) {
    if (before !== null) pieces.push(index > before + 1 ? h("span", { class: "gap-mark" }, " … ") : " ");
    pieces.push(...sentence(doc.sentences[index], entry.spans));
    before = index;
  }
  return h("p", { class: "context", dir: doc.rtl ? "rtl" : "ltr", lang: doc.language }, ...pieces);
}

function sentence({ start, tokens, spaces }, spans) {
  const marked = tokens.map((_, offset) => spans.findIndex((span) => holds(span, start + offset)));
  const first = Math.max(0, marked.findIndex((mark) => mark >= 0) - LONGEST / 2);
  const end = Math.min(tokens.length, first + LONGEST);
  const pieces = first > 0 ? ["… "] : [];
  for (let offset = first; offset < end; ) {
    const mark = marked[offset];
    let text = "";
    let next = offset;
    for (; next < end && marked[next] === mark; next += 1) {
      const inner = next + 1 < end && marked[next + 1] === mark;
      text += shortened(visible(tokens[next]), 80) + (inner && spaces[next] ? " " : "");
    }
    pieces.push(mark < 0 ? text : h("mark", { class: mark === 0 ? "first-mark" : "other-mark" }, text));
    if (spaces[next - 1]) pieces.push(" ");
    offset = next;
  }
  if (end < tokens.length) pieces.push("…");
  return pieces;
}
