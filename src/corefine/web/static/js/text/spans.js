/** Spans as the API has them: [first, last], or [[first, last], ...] where a span has gaps. */

export const parts = (span) => (Array.isArray(span[0]) ? span : [span]);
export const first = (span) => parts(span)[0][0];
export const last = (span) => parts(span).at(-1)[1];
export const key = (span) => parts(span).map(([a, b]) => `${a}-${b}`).join("+");
export const same = (a, b) => a !== null && b !== null && key(a) === key(b);
/** Where another span's boundaries are if they are moved as those of `from` are moved to `to`. */
export const moved = (from, to, other) => [first(other) + first(to) - first(from), last(other) + last(to) - last(from)];
/** Document order: by start, the shorter first. */
export const compare = (a, b) => first(a) - first(b) || last(a) - last(b);
export const size = (span) => parts(span).reduce((sum, [a, b]) => sum + b - a + 1, 0);
export const holds = (span, token) => parts(span).some(([a, b]) => a <= token && token <= b);
