/** The learning curve as a chart in SVG, with its numbers in a table below for those who do not see it. */

import { svg } from "../core/dom.js";

const WIDTH = 720;
const HEIGHT = 260;
const LEFT = 52;
const BOTTOM = 44;
const TOP = 24;
const RIGHT = 20;
const APART = 46; // the room of a version without answers, left of the curve

const ticks = (low, high) => {
  const rough = (high - low) / 4 || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough);
  const first = Math.ceil(low / step - 1e-9) * step;
  return Array.from({ length: Math.floor((high - first) / step + 1e-9) + 1 }, (_, index) => first + index * step);
};

const text = (words, attributes) => {
  const element = svg("text", attributes);
  element.textContent = words;
  return element;
};

/**
 * `points` are {x, y, low, high, name}; y in percent, low and high its 95 % interval.
 * Versions without answers stand apart on the left, each by its name: they are no part of the curve.
 */
export function curve({ points, label, across }) {
  const first = points.filter(({ x }) => x === 0);
  const rest = points.filter(({ x }) => x > 0);
  const start = LEFT + APART * first.length + (first.length ? 14 : 0);
  const [x0, x1] = rest.length > 1 ? [rest[0].x, rest.at(-1).x] : [0, 2 * (rest[0]?.x ?? 1)];
  const ends = points.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y]);
  const room = Math.max(1, (Math.max(...ends) - Math.min(...ends)) * 0.08);
  const [low, high] = [Math.max(0, Math.min(...ends) - room), Math.min(100, Math.max(...ends) + room)];
  const left = ({ x }) => start + 16 + ((x - x0) / (x1 - x0 || 1)) * (WIDTH - start - 32 - RIGHT);
  const places = new Map([...first.map((point, index) => [point, LEFT + APART * (index + 0.5)]), ...rest.map((point) => [point, left(point)])]);
  const top = (y) => HEIGHT - BOTTOM - ((y - low) / (high - low || 1)) * (HEIGHT - BOTTOM - TOP);
  const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": `${label} by ${across}: from ${points[0].y.toFixed(1)} to ${points.at(-1).y.toFixed(1)}` });
  for (const y of ticks(low, high)) {
    chart.append(svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: top(y), y2: top(y), class: "grid" }), text(String(Math.round(y * 10) / 10), { x: LEFT - 8, y: top(y) + 4, "text-anchor": "end" }));
  }
  if (first.length) chart.append(svg("line", { x1: start, x2: start, y1: TOP, y2: HEIGHT - BOTTOM, class: "apart" }));
  for (const [point, x] of places) chart.append(text(point.x === 0 ? point.name : point.x.toLocaleString("en"), { x, y: HEIGHT - BOTTOM + 18, "text-anchor": "middle", class: point.x === 0 ? "name" : "" }));
  chart.append(text(label, { x: LEFT, y: 13, class: "title" }), text(across, { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end", class: "title" }));
  if (first.length) chart.append(text("before any answer", { x: LEFT, y: HEIGHT - 6, class: "title" }));
  const banded = rest.filter((point) => point.low !== null && point.low !== undefined);
  if (banded.length > 1) {
    const edge = [...banded.map((point) => `${places.get(point)},${top(point.high)}`), ...[...banded].reverse().map((point) => `${places.get(point)},${top(point.low)}`)];
    chart.append(svg("polygon", { points: edge.join(" "), class: "band" }));
  }
  if (rest.length > 1) chart.append(svg("polyline", { points: rest.map((point) => `${places.get(point)},${top(point.y)}`).join(" "), class: "line" }));
  for (const [point, x] of places) {
    const { y, low: from, high: to } = point;
    if (from !== null && from !== undefined) chart.append(svg("line", { x1: x, x2: x, y1: top(from), y2: top(to), class: "whisker" }));
    const dot = svg("circle", { cx: x, cy: top(y), r: 5, class: point.x === 0 ? "dot first" : "dot" });
    const title = svg("title");
    title.textContent = `${point.name}: ${y.toFixed(1)}${from === null || from === undefined ? "" : ` (${from.toFixed(1)} to ${to.toFixed(1)})`}${point.x ? ` after ${point.x} answers` : ""}`;
    dot.append(title);
    chart.append(dot);
  }
  return chart;
}
