/**
 * A small part of Markdown, made into elements with text nodes: headings, paragraphs, lists, quotes, code, emphasis and
 * links to http(s). HTML in it stays text.
 */

import { h } from "./dom.js";

export function markdown(text) {
  const lines = text.replaceAll("\r\n", "\n").replaceAll("\t", "    ").split("\n");
  return h("div", { class: "markdown" }, ...blocks(lines));
}

const HEADING = /^(#{1,6})\s+(.*?)\s*#*\s*$/;
const BULLET = /^\s{0,3}[-*+]\s+(.*)$/;
const NUMBERED = /^\s{0,3}\d{1,9}[.)]\s+(.*)$/;
const QUOTE = /^\s{0,3}>\s?(.*)$/;
const FENCE = /^\s{0,3}(```|~~~)/;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const starts = (line) => !line.trim() || [HEADING, BULLET, NUMBERED, QUOTE, FENCE, RULE].some((form) => form.test(line));

function blocks(lines) {
  const made = [];
  for (let at = 0; at < lines.length; ) {
    const [block, next] = one(lines, at);
    if (block) made.push(block);
    at = next;
  }
  return made;
}

/** The block that begins at a line, and the line after it. */
function one(lines, at) {
  const line = lines[at];
  if (!line.trim()) return [null, at + 1];
  if (FENCE.test(line)) {
    const fence = FENCE.exec(line)[1];
    let end = at + 1;
    while (end < lines.length && !lines[end].trim().startsWith(fence)) end += 1;
    return [h("pre", { tabindex: "0" }, h("code", {}, lines.slice(at + 1, end).join("\n"))), end + 1];
  }
  const heading = HEADING.exec(line);
  if (heading) return [h(`h${Math.min(heading[1].length + 2, 6)}`, {}, ...inline(heading[2])), at + 1];
  if (RULE.test(line)) return [h("hr"), at + 1];
  if (QUOTE.test(line)) {
    const end = run(lines, at, (other) => QUOTE.test(other));
    return [h("blockquote", {}, ...blocks(lines.slice(at, end).map((other) => QUOTE.exec(other)[1]))), end];
  }
  if (BULLET.test(line)) return list("ul", BULLET, lines, at);
  if (NUMBERED.test(line)) return list("ol", NUMBERED, lines, at);
  const end = run(lines, at + 1, (other) => !starts(other));
  return [h("p", {}, ...inline(lines.slice(at, end).join("\n"))), end];
}

function run(lines, at, holds) {
  let end = at;
  while (end < lines.length && holds(lines[end])) end += 1;
  return end;
}

/** Items; what is indented below an item belongs to it. */
function list(tag, form, lines, at) {
  const items = [];
  let end = at;
  while (end < lines.length && form.test(lines[end])) {
    const inner = [form.exec(lines[end])[1]];
    end += 1;
    while (end < lines.length && (/^\s{2,}\S/.test(lines[end]) || (lines[end].trim() && !starts(lines[end])))) {
      inner.push(lines[end].replace(/^\s{2,4}/, ""));
      end += 1;
    }
    items.push(item(inner));
  }
  return [h(tag, {}, ...items), end];
}

function item(lines) {
  const end = run(lines, 0, (line) => !starts(line));
  return h("li", {}, ...inline(lines.slice(0, Math.max(end, 1)).join(" ")), ...blocks(lines.slice(Math.max(end, 1))));
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|__([^_]+)__|\*([^*\s][^*]*)\*|\b_([^_]+)_\b|\[([^\]]+)\]\(([^)\s]+)\)/g;

function inline(text) {
  const pieces = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, strong2, em, em2, label, address] = match;
    if (match.index > from) pieces.push(text.slice(from, match.index));
    from = match.index + whole.length;
    if (code !== undefined) pieces.push(h("code", {}, code));
    else if (strong ?? strong2) pieces.push(h("strong", {}, strong ?? strong2));
    else if (em ?? em2) pieces.push(h("em", {}, em ?? em2));
    else if (/^https?:\/\//i.test(address)) pieces.push(h("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, label));
    else pieces.push(whole);
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}
