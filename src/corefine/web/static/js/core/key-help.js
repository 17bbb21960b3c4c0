/** All keys that work now, by group. */

import { button, h, kbd } from "./dom.js";
import { dialog } from "./dialog.js";
import { active, singleKeys, written } from "./keys.js";

const MANY = 4;

export function showKeys() {
  const groups = new Map();
  const seen = new Set();
  for (const { keys, label, group } of active()) {
    if (!label || seen.has(label)) continue;
    seen.add(label);
    groups.set(group, [...(groups.get(group) ?? []), [keys, label]]);
  }
  const shown = (keys) => (keys.length > MANY ? [kbd(written(keys[0])), " – ", kbd(written(keys.at(-1)))] : keys.slice(0, 2).flatMap((key) => [kbd(written(key)), " "]));
  const list = ([group, rows]) =>
    h("section", {}, h("h3", {}, group), h("dl", { class: "keys" }, ...rows.map(([keys, label]) => h("div", {}, h("dt", {}, ...shown(keys)), h("dd", {}, label)))));
  const toggle = h("input", { type: "checkbox", on: { change: () => (singleKeys.on = toggle.checked) } });
  toggle.checked = singleKeys.on;
  return dialog({
    label: "Keys",
    wide: true,
    content: (close) => [
      h("header", { class: "row spread" }, h("h2", {}, "Keys"), button("Close", { key: "Esc", keys: "Escape", class: "small", run: () => close(null) })),
      h("div", { class: "key-groups" }, ...[...groups].map(list)),
      h("label", { class: "check" }, toggle, "Single letters work as keys (turn this off if you dictate or use another tool’s keys)"),
    ],
  });
}
