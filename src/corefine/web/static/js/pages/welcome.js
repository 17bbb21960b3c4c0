/** For somebody who was invited: their name, the guidelines, and then the tutorial, before the first question. */

import { get, post } from "../core/api.js";
import { button, h, replace } from "../core/dom.js";
import { markdown } from "../core/markdown.js";
import { NONE } from "./guidelines.js";

const STEPS = ["Your name", "The guidelines", "The tutorial"];

export function mount(main, app) {
  const page = { closed: false, keys: [], close: () => (page.closed = true) };
  const body = h("div", { class: "stack", "aria-busy": "true" });
  const steps = h("ol", { class: "steps", "aria-label": "Steps" });
  main.append(h("div", { class: "page welcome" }, h("header", {}, h("h1", {}, `Welcome to ${app.me.project}`)), steps, body));
  const at = (step) => replace(steps, ...STEPS.map((name, index) => h("li", { "aria-current": index === step ? "step" : null, class: index < step ? "passed" : "" }, `${index + 1}. ${name}`)));

  function name() {
    at(0);
    const input = h("input", { value: app.me.person.name, required: true, maxlength: "100", autocomplete: "name" });
    const said = h("p", { class: "said bad wrap", role: "alert" });
    const send = async (event) => {
      event.preventDefault();
      try {
        if (input.value.trim() !== app.me.person.name) app.me = await post("/me", { name: input.value.trim() });
        await guidelines();
      } catch (problem) {
        said.textContent = problem.message;
      }
    };
    replace(
      body,
      h("p", {}, "You are asked questions about texts, one at a time. Your answers are kept under this name; the project’s owner sees it."),
      h("form", { class: "stack", on: { submit: send } }, h("label", { class: "field" }, "Your name", input), said, h("div", {}, h("button", { type: "submit", class: "primary" }, "That is me"))),
    );
    input.focus();
  }

  async function guidelines() {
    const { markdown: text } = await get("/guidelines");
    if (page.closed) return;
    at(1);
    const next = button("I have read them", { class: "primary", run: () => tutorial() });
    replace(body, text.trim() ? h("div", { class: "panel-box" }, markdown(text)) : h("p", {}, NONE), h("p", { class: "help" }, "You can open them at any time: key G."), h("div", {}, next));
    next.focus();
  }

  function tutorial() {
    at(2);
    const begin = button("Begin the tutorial", { class: "primary", run: () => app.go("tutorial/welcome") });
    replace(body, h("p", {}, "Three questions about a short story, to learn the keys. Your answers are checked, and nothing of it is stored. After the third, the work begins."), h("div", {}, begin));
    begin.focus();
  }

  name();
  body.removeAttribute("aria-busy");
  return page;
}
