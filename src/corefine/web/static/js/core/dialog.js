/** A modal dialog; keys below it rest while it is open. */

import { h } from "./dom.js";
import { layer } from "./keys.js";

/** Opens a dialog with this content; resolves with what `close(value)` was given, null for Escape. */
export function dialog({ label, content, keys = [], wide = false }) {
  return new Promise((resolve) => {
    let value = null;
    const element = h("dialog", { class: wide ? "wide" : "", "aria-label": label });
    const close = (given) => {
      value = given;
      element.close();
    };
    element.append(...content(close));
    const drop = layer(keys.map((binding) => ({ ...binding, run: (event) => binding.run(close, event) })), { exclusive: true });
    element.addEventListener("close", () => {
      drop();
      element.remove();
      resolve(value);
    });
    element.addEventListener("click", (event) => event.target === element && close(null));
    document.body.append(element);
    element.showModal();
  });
}
