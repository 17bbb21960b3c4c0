/** Who takes part: invitations, roles, revocation. A link is shown once. */

import { get, post, remove } from "../core/api.js";
import { dialog } from "../core/dialog.js";
import { button, h, quoted, replace } from "../core/dom.js";
import { when } from "../core/format.js";
import { table } from "./tables.js";

export async function show(body, app) {
  const list = h("div", {});
  const link = h("div", { role: "status" });
  const refresh = async () => replace(list, rows(await get("/people"), invite, revoke));

  const told = ({ person, link: address }) => {
    const field = h("input", { readonly: true, value: address, "aria-label": `Invitation link for ${person.name}`, class: "link" });
    const copy = async () => {
      field.select();
      await navigator.clipboard?.writeText(address).catch(() => {});
      app.note("The link is copied.");
    };
    replace(
      link,
      h(
        "div",
        { class: "panel-box stack invitation" },
        h("p", {}, "Invitation for ", h("strong", {}, quoted(person.name)), ". It is shown only now: only a hash of it is kept."),
        h("div", { class: "row" }, field, button("Copy", { run: copy, class: "primary" })),
      ),
    );
    field.focus();
    field.select();
  };

  async function invite(person) {
    told(await post(`/people/${person.id}/invitation`));
    await refresh();
  }

  async function revoke(person) {
    const sure = await dialog({
      label: "Revoke access",
      content: (close) => [
        h("h2", {}, "Revoke the access of ", quoted(person.name), "?"),
        h("p", {}, "Links and logins end at once. The answers stay."),
        h("div", { class: "row" }, button("Revoke", { class: "bad", run: () => close(true) }), button("Cancel", { key: "Esc", keys: "Escape", run: () => close(null) })),
      ],
    });
    if (!sure) return;
    await remove(`/people/${person.id}`);
    await refresh();
  }

  const name = h("input", { name: "name", required: true, maxlength: "100", autocomplete: "off" });
  const role = h("select", { name: "role" }, h("option", { value: "annotator" }, "Annotator"), h("option", { value: "owner" }, "Owner"));
  const form = h(
    "form",
    { class: "row form", on: { submit: (event) => (event.preventDefault(), send()) } },
    h("label", { class: "field" }, "Name", name),
    h("label", { class: "field" }, "Role", role),
    h("button", { class: "primary", type: "submit" }, "Invite"),
  );

  async function send() {
    try {
      told(await post("/people", { name: name.value.trim(), role: role.value }));
      name.value = "";
    } catch (problem) {
      replace(link, h("p", { class: "said bad wrap" }, problem.message));
    }
    await refresh();
  }

  replace(body, h("h1", {}, "People"), form, link, list);
  if (app.me.auth === "open") {
    form.after(h("p", { class: "help" }, "Until now, everybody on this computer who opens this page is the owner. After the first invitation, everybody needs one. This browser gets yours automatically."));
  }
  await refresh();
}

const rows = (people, invite, revoke) =>
  table(
    "People",
    [
      ["Name", ({ name }) => quoted(name)],
      ["Role", ({ role }) => role],
      ["Access", ({ active }) => h("span", { class: active ? "tag good" : "tag" }, active ? "active" : "revoked")],
      ["Answers", ({ answers }) => String(answers), true],
      ["Last seen", ({ last_seen: seen }) => (seen ? when(seen) : "–")],
      [
        "",
        (person) =>
          h(
            "span",
            { class: "row" },
            button("New link", { class: "small", run: () => invite(person), "aria-label": `New invitation link for ${person.name}` }),
            person.active ? button("Revoke", { class: "small bad", run: () => revoke(person), "aria-label": `Revoke ${person.name}` }) : null,
          ),
      ],
    ],
    people,
  );
