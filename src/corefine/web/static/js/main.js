/** Starts the app: logs in, and shows the page that the address names. */

import { get, post } from "./core/api.js";
import { App } from "./app.js";
import { h, button, replace } from "./core/dom.js";

const app = new App();

/** A link of an invitation is /#join=TOKEN: what follows # never reaches a server's log. */
function invitation() {
  const match = /^#join=([\w.~-]+)$/.exec(location.hash);
  if (match) history.replaceState(null, "", location.pathname);
  return match?.[1] ?? null;
}

async function start() {
  const token = invitation();
  try {
    app.begin(token ? await post("/login", { token }) : await get("/me"));
  } catch (problem) {
    if (problem.status === 401 || problem.status === 403) askToken(token ? problem.message : null);
    else later(problem);
  }
}

function later(problem) {
  replace(
    document.getElementById("main"),
    h(
      "div",
      { class: "message", role: "alert" },
      h("h1", {}, "The server cannot be reached"),
      h("p", {}, problem.message, " This page tries again by itself."),
      button("Try now", { run: start, class: "primary" }),
    ),
  );
  setTimeout(start, 3000);
}

function askToken(failure) {
  const input = h("input", { name: "token", autocomplete: "off", required: true, spellcheck: "false" });
  const form = h(
    "form",
    {
      class: "message",
      on: {
        submit: (event) => {
          event.preventDefault();
          const given = input.value.trim().replace(/^.*#join=/, "");
          location.hash = `join=${given}`;
          start();
        },
      },
    },
    h("h1", {}, "An invitation is needed"),
    h("p", {}, "Ask the project’s owner for an invitation, and open its link or paste it here."),
    failure && h("p", { class: "tag bad", role: "alert" }, failure),
    h("label", { class: "field" }, "Invitation link", input),
    h("button", { class: "primary", type: "submit" }, "Join"),
  );
  replace(document.getElementById("main"), form);
  input.focus();
}

document.getElementById("skip").addEventListener("click", () => document.getElementById("main").focus());
window.addEventListener("unhandledrejection", (event) => {
  if (event.reason?.name === "AbortError") return;
  if (event.reason?.status === 401) askToken(null);
  else app.note(event.reason?.message ?? "Something went wrong.", { kind: "bad" });
});
start();
