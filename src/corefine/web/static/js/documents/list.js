/** Which documents are shown, and in which order. */

/** The states of a document for the person who looks: words, and the kind of its tag. */
export const STATES = { new: ["not begun", ""], open: ["begun", "warn"], done: ["done", "good"], taken: ["taken by somebody else", ""] };

export const FILTERS = [
  ["", "All"],
  ["new", "Not begun"],
  ["open", "Begun"],
  ["done", "Done"],
  ["reviewed", "Reviewed"],
  ["unreviewed", "Not reviewed"],
];

const ORDER = { open: 0, new: 1, done: 2, taken: 3 };
const KEYS = {
  added: ({ id }) => id,
  name: ({ name }) => name,
  state: ({ state }) => ORDER[state],
  language: ({ language }) => language,
  tokens: ({ tokens }) => tokens,
  answers: ({ answers }) => answers,
  settled: ({ settled }) => settled ?? -1,
};
const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const fits = (row, filter) =>
  filter === "" || row.state === filter || (filter === "reviewed" && row.reviewed) || (filter === "unreviewed" && !row.reviewed);

/** Every word that is searched for must stand in the name, the language, a tag, or the name of somebody it is for. */
export function chosen(rows, { search, filter, tag, sort, down, names }) {
  const wanted = search.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => {
    if (!fits(row, filter) || (tag && !row.tags.includes(tag))) return false;
    if (!wanted.length) return true;
    const text = [row.name, row.language, ...row.tags, ...row.assigned.map((id) => names.get(id) ?? "")].join(" ").toLocaleLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const key = KEYS[sort];
  const by = (a, b) => (typeof a === "string" ? words.compare(a, b) : a - b);
  found.sort((a, b) => (by(key(a), key(b)) || a.id - b.id) * (down ? -1 : 1));
  return found;
}

/** All tags, by name. */
export const tagsOf = (rows) => [...new Set(rows.flatMap(({ tags }) => tags))].sort(words.compare);
