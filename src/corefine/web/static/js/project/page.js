/** The owner's pages: dashboard, people, agreement, adjudication, settings and so on. */

import { h, replace } from "../core/dom.js";

const PARTS = {
  dashboard: ["Dashboard", () => import("./dashboard.js")],
  people: ["People", () => import("./people.js")],
  agreement: ["Agreement", () => import("./agreement.js")],
  adjudication: ["Adjudication", () => import("./adjudication.js")],
  guidelines: ["Guidelines", () => import("./guidelines.js")],
  study: ["Timing study", () => import("./study.js")],
  settings: ["Settings", () => import("./settings.js")],
  export: ["Export", () => import("./export.js")],
};

export function mount(main, app, [wanted]) {
  const part = Object.hasOwn(PARTS, wanted ?? "") ? wanted : "dashboard";
  const page = { closed: false, keys: [], close: () => (page.closed = true) };
  if (!app.owner) {
    main.append(h("div", { class: "message" }, h("h1", {}, "For the project’s owner"), h("p", {}, "These pages are not open to annotators.")));
    return page;
  }
  const names = Object.keys(PARTS);
  const link = (name) => h("a", { href: `#project/${name}`, "aria-current": name === part ? "page" : null }, PARTS[name][0]);
  const body = h("div", { class: "stack", "aria-busy": "true" });
  main.append(h("div", { class: "page project" }, h("nav", { class: "parts", "aria-label": "Project" }, ...names.map(link)), body));
  main.querySelector(".parts [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  const turn = (by) => app.go(`project/${names[(names.indexOf(part) + by + names.length) % names.length]}`);
  page.keys.push(
    { keys: ["]"], label: "Next part", group: "Project", run: () => turn(1) },
    { keys: ["["], label: "Previous part", group: "Project", run: () => turn(-1) },
  );
  open(PARTS[part][1], body, app, page);
  return page;
}

async function open(load, body, app, page) {
  try {
    const { show } = await load();
    if (!page.closed) await show(body, app, page);
  } catch (problem) {
    replace(body, h("p", { role: "alert", class: "said bad" }, problem.message));
  }
  body.removeAttribute("aria-busy");
}
