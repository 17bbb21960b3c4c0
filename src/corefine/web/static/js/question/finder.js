/** What can be named as an earlier mention: the known entities, every other span that the model knows, any text. */

import { compare, first, key, last } from "../text/spans.js";

const MOST = 60; // occurrences of a word that are listed

/** Entities as entries of an EntityList: by their best name, with its place, found by the words of any mention. */
export function entityEntries(view, entities) {
  return entities.map((entity) => {
    const name = entity.name ?? entity.mentions[0].span;
    const texts = entity.mentions.map(({ span }) => view.words(span));
    return entry(view, name, { entity, span: entity.mentions[0].span, spans: entity.mentions.map(({ span }) => span), texts });
  });
}

/** Spans that are in no entity as entries. */
export function spanEntries(view, spans) {
  return spans.map((span) => entry(view, span, { span, spans: [span], texts: [view.words(span)] }));
}

function entry(view, name, rest) {
  return { name: view.words(name), place: view.sentenceOf[first(name)] + 1, probability: 0, ...rest };
}

/** Every place up to a token where these words stand, the nearest first, as entries. The last word may be unfinished. */
export function occurrences(view, wanted, end, taken) {
  const starts = []; // where each token begins in the text
  let text = "";
  for (let token = 0; token <= end; token += 1) {
    starts.push(text.length);
    text += view.words_[token].toLocaleLowerCase() + (view.spaced[token] ? " " : "");
  }
  const found = [];
  let token = end;
  for (let at = text.lastIndexOf(wanted); at >= 0 && found.length < MOST; at = at > 0 ? text.lastIndexOf(wanted, at - 1) : -1) {
    while (token > 0 && starts[token] > at) token -= 1;
    if (starts[token] !== at) continue; // not at the beginning of a word
    let to = token;
    while (to < end && starts[to + 1] < at + wanted.length) to += 1;
    if (!taken.has(key([token, to]))) found.push({ ...spanEntries(view, [[token, to]])[0], plain: true });
  }
  return found;
}

/**
 * All that can be named for a question, the likeliest first: entities and spans before the mention, without what was
 * rejected now or earlier. `rejected` has the spans of the entity just denied.
 */
export function choices(view, known, question, rejected) {
  const { mention, why, apart = [] } = question;
  const chances = new Map(why.entities.filter(({ span }) => span).map(({ span, probability }) => [key(span), probability]));
  const out = new Set([...rejected, ...apart].map(key));
  const before = (span) => compare(span, mention) < 0;
  const entities = known.entities.filter(
    ({ mentions }) => before(mentions[0].span) && !mentions.some(({ span }) => out.has(key(span))),
  );
  const inEntity = new Set(known.entities.flatMap(({ mentions }) => mentions.map(({ span }) => key(span))));
  const alone = (span) => before(span) && !inEntity.has(key(span)) && !out.has(key(span)) && !overlap(span, mention);
  const nearest = (a, b) => b.probability - a.probability || compare(b.span, a.span);
  const likely = (entries) => entries.map((each) => ({ ...each, probability: chances.get(key(each.span)) ?? 0 })).sort(nearest);
  const found = [
    ...likely(entityEntries(view, entities)),
    ...likely(spanEntries(view, known.mentions.filter(alone))),
    ...likely(spanEntries(view, (known.unlikely ?? []).filter(alone))),
  ];
  return [...found.filter(({ probability }) => probability > 0).sort(nearest), ...found.filter(({ probability }) => !probability)];
}

const overlap = (a, b) => first(a) <= last(b) && first(b) <= last(a);
