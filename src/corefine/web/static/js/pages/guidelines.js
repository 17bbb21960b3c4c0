/** The project's guidelines, as its owner wrote them. */

import { get } from "../core/api.js";
import { h, replace } from "../core/dom.js";
import { markdown } from "../core/markdown.js";

export const NONE = "The project’s owner has not written guidelines yet.";

export async function fill(body, app) {
  const { markdown: text } = await get("/guidelines");
  const none = app.owner ? "There are no guidelines yet. Write them on the page Project." : NONE;
  replace(
    body,
    text.trim() ? markdown(text) : h("p", { class: "soft" }, none),
    h("p", { class: "help after" }, h("a", { href: "#tutorial" }, "The tutorial"), " shows how questions are answered."),
  );
}
