/** The keys of a question; every one of them has a button or a gesture too. */

const ASKED = "The question";
const CHOOSING = "Choosing words";
const READING = "Reading";
const ENDS = { Shift: "end", Alt: "start" };

export function bindings(asker) {
  const { reader, panel } = asker;
  const initial = () => asker.phase === "initial";
  const follow = () => asker.phase === "follow-up";
  const either = () => initial() || follow();
  const picking = () => follow() || asker.phase === "boundaries";
  const asked = (keys, label, when, run) => ({ keys, label, group: ASKED, when, run });
  const choosing = (keys, label, when, run, more = {}) => ({ keys, label, group: CHOOSING, when, run, ...more });
  return [
    asked(["y"], "Yes", initial, () => asker.yes()),
    asked(["n"], "No", initial, () => asker.no()),
    asked(["f"], "This is the first appearance", follow, () => asker.isFirst()),
    asked(["x"], "Not a mention", either, () => asker.reply("not-a-mention")),
    asked(["b"], "Wrong boundaries: choose the right words", either, () => asker.boundaries()),
    asked(["u"], "Unsure, ask something else", either, () => asker.reply("unsure")),
    asked(["Escape"], "Back", picking, () => asker.back()),
    choosing(["Enter"], "Use the selection", () => picking() && reader.selection.span !== null, () => asker.use()),
    choosing(["Shift+Enter"], "Use it as an earlier mention, not the first", follow, () => asker.use({ earlier: true })),
    choosing(["w"], "A wider candidate", () => follow() && reader.selection.wider, () => asker.widen()),
    choosing(["/"], "Find a known entity by its first mention", follow, () => panel.list.focus()),
    choosing([..."123456789"], "Take the entity with this number", follow, (event) => panel.list.pick(Number(event.key))),
    ...arrows(asker, 1, follow, picking),
    ...arrows(asker, -1, follow, picking),
    { keys: ["o"], label: "Unfold or fold the text between", group: READING, when: () => reader.fold?.range, run: () => asker.toggleFold() },
    { keys: ["c"], label: "Back to the mention", group: READING, when: () => asker.question, run: () => asker.reveal() },
  ];
}

/** Arrows go the way the text runs. */
function arrows(asker, direction, follow, picking) {
  const arrow = direction > 0 ? "ArrowRight" : "ArrowLeft";
  const step = () => (asker.reader.view.doc.rtl ? -direction : direction);
  const shared = { group: CHOOSING, repeats: true };
  return [
    { ...shared, keys: [arrow], label: `${direction > 0 ? "Next" : "Previous"} candidate`, when: follow, run: () => asker.step(step()) },
    ...Object.entries(ENDS).map(([held, end]) => ({
      ...shared,
      keys: [`${held}+${arrow}`],
      label: `Move the ${end} of the selection ${direction > 0 ? "on" : "back"}`,
      when: picking,
      run: () => asker.stretch(end, step()),
    })),
  ];
}
