/** The keys of a question; every one of them has a button or a gesture too. */

const ASKED = "The question";
const CHOOSING = "Choosing words";
const READING = "Reading";
const ENDS = { Shift: "end", Alt: "start" };

export function bindings(flow) {
  const { reader, panel } = flow;
  const initial = () => flow.phase === "initial";
  const follow = () => flow.phase === "follow-up";
  const group = () => flow.phase === "group";
  const either = () => initial() || follow() || group();
  const bounds = () => flow.phase === "boundaries";
  const picking = () => follow() || flow.phase === "boundaries";
  const asked = (keys, label, when, run) => ({ keys, label, group: ASKED, when, run });
  const choosing = (keys, label, when, run, more = {}) => ({ keys, label, group: CHOOSING, when, run, ...more });
  return [
    asked(["y"], "Yes", () => initial() || group(), () => flow.yes()),
    asked(["n"], "No", () => initial() || group(), () => flow.no()),
    asked(["f"], "This is the first appearance", follow, () => flow.isFirst()),
    asked(["x"], "Not a mention", either, () => flow.reply("not-a-mention")),
    asked(["b"], "Wrong boundaries: choose the right words", () => initial() || follow(), () => flow.boundaries()),
    asked(["s"], "Strike out a mention of a group", group, () => flow.group.toggleHere()),
    asked([..."123456789"], "Strike out the mention with this number", group, (event) => flow.group.toggle(Number(event.key) - 1)),
    asked(["ArrowDown"], "Next mention of a group", group, () => flow.group.step(1)),
    asked(["ArrowUp"], "Previous mention of a group", group, () => flow.group.step(-1)),
    choosing(["p"], "Correct the earlier words instead", bounds, () => panel.act.proposed()),
    choosing(["a"], "Correct others with the same words too", bounds, () => panel.act.likewise()),
    asked(["u"], "Unsure, ask something else", either, () => flow.reply("unsure")),
    asked(["Escape"], "Back", picking, () => flow.back()),
    choosing(["Enter"], "Use the selection", () => picking() && reader.selection.span !== null, () => flow.use()),
    choosing(["Shift+Enter"], "Use it as an earlier mention, not the first", follow, () => flow.use({ earlier: true })),
    choosing(["w"], "A wider candidate", () => follow() && reader.selection.wider, () => flow.widen()),
    asked([..."12345"], "No: the entity with this number", () => flow.quick, (event) => panel.choose(Number(event.key))),
    choosing(["/"], "Find an entity by any of its mentions, or any earlier words", follow, () => panel.list.focus()),
    choosing([..."123456789"], "Take the line with this number", follow, (event) => panel.list.pick(Number(event.key))),
    ...arrows(flow, 1, follow, picking),
    ...arrows(flow, -1, follow, picking),
    { keys: ["o"], label: "Unfold or fold the text between", group: READING, when: () => reader.fold?.range, run: () => flow.toggleFold() },
    { keys: ["c"], label: "Back to the mention", group: READING, when: () => flow.question, run: () => flow.reveal() },
  ];
}

/** Arrows go the way the text runs. */
function arrows(flow, direction, follow, picking) {
  const arrow = direction > 0 ? "ArrowRight" : "ArrowLeft";
  const step = () => (flow.reader.view.doc.rtl ? -direction : direction);
  const shared = { group: CHOOSING, repeats: true };
  return [
    { ...shared, keys: [arrow], label: `${direction > 0 ? "Next" : "Previous"} candidate`, when: follow, run: () => flow.step(step()) },
    ...Object.entries(ENDS).map(([held, end]) => ({
      ...shared,
      keys: [`${held}+${arrow}`],
      label: `Move the ${end} of the selection ${direction > 0 ? "on" : "back"}`,
      when: picking,
      run: () => flow.stretch(end, step()),
    })),
  ];
}
