/** The learning curve as a line chart in SVG, with its numbers in a table below for those who do not see it. */

import { svg } from "../core/dom.js";

const WIDTH = 720;
const HEIGHT = 280;
const LEFT = 52;
const BOTTOM = 40;
const TOP = 16;
const RIGHT = 20;

const ticks = (low, high) => {
  const rough = (high - low) / 4 || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough);
  const first = Math.ceil(low / step) * step;
  return Array.from({ length: Math.floor((high - first) / step + 1e-9) + 1 }, (_, index) => first + index * step);
};

/** `points` are {x, y, name}; y in percent. */
export function curve({ points, label, across }) {
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const [x0, x1] = [0, Math.max(...xs, 1)];
  const low = Math.max(0, Math.min(...ys) - 5);
  const high = Math.min(100, Math.max(...ys) + 5);
  const left = (x) => LEFT + ((x - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT);
  const top = (y) => HEIGHT - BOTTOM - ((y - low) / (high - low || 1)) * (HEIGHT - BOTTOM - TOP);
  const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": `${label} by ${across}: from ${ys[0].toFixed(1)} to ${ys.at(-1).toFixed(1)}` });
  const text = (words, attributes) => {
    const element = svg("text", attributes);
    element.textContent = words;
    return element;
  };
  for (const y of ticks(low, high)) {
    chart.append(
      svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: top(y), y2: top(y), class: "grid" }),
      text(String(Math.round(y * 10) / 10), { x: LEFT - 8, y: top(y) + 4, "text-anchor": "end" }),
    );
  }
  for (const x of ticks(x0, x1)) chart.append(text(x.toLocaleString("en"), { x: left(x), y: HEIGHT - BOTTOM + 20, "text-anchor": "middle" }));
  chart.append(
    text(label, { x: LEFT, y: 11, class: "title" }),
    text(across, { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end", class: "title" }),
    svg("polyline", { points: points.map(({ x, y }) => `${left(x)},${top(y)}`).join(" "), class: "line" }),
  );
  for (const { x, y, name } of points) {
    const dot = svg("circle", { cx: left(x), cy: top(y), r: 5, class: "dot" });
    const title = svg("title");
    title.textContent = `${name}: ${y.toFixed(1)} after ${x} answers`;
    dot.append(title);
    chart.append(dot);
  }
  return chart;
}
