/** Colours of entities. An entity keeps its own when others merge, split or come. */

import { key } from "./spans.js";

const COLOURS = 12;

export class Colours {
  constructor() {
    this.before = new Map(); // the number of each mention's entity, which its colour follows from
    this.next = 0;
  }

  /** A colour for each of these entities. Where several have mentions of one colour, the one with most keeps it. */
  of(entities) {
    const claims = entities.flatMap(({ mentions }, index) => {
      const votes = new Map();
      for (const { span } of mentions) {
        const colour = this.before.get(key(span));
        if (colour !== undefined) votes.set(colour, (votes.get(colour) ?? 0) + 1);
      }
      return [...votes].map(([colour, count]) => ({ index, colour, count }));
    });
    claims.sort((a, b) => b.count - a.count || a.index - b.index);
    const found = new Array(entities.length).fill(null);
    const owned = new Set();
    for (const { index, colour } of claims) {
      if (found[index] !== null || owned.has(colour)) continue;
      found[index] = colour;
      owned.add(colour);
    }
    entities.forEach(({ mentions }, index) => {
      found[index] ??= this.next++;
      for (const { span } of mentions) this.before.set(key(span), found[index]);
    });
    return found.map((number) => number % COLOURS);
  }
}
