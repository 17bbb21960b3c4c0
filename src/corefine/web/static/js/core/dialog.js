/** A modal dialog; keys below it rest while it is open. */

import { h } from "./dom.js";
import { layer } from "./keys.js";

/** Opens a dialog with this content; resolves with what `close(value)` was given, null for Escape. */
export function dialog({ label, content, keys = [], wide = false }) {
  return new Promise((resolve) => {
    let value = null;
    const element = h("dialog", { class: wide ? "wide" : "", "aria-label": label });
    // The keys below work again as soon as the dialog is gone: the event "close" comes a moment later.
    const close = (given) => {
      value = given;
      drop();
      element.close();
    };
    const drop = layer(keys.map((binding) => ({ ...binding, run: (event) => binding.run(close, event) })), { exclusive: true });
    element.append(...content(close));
    element.addEventListener("cancel", (event) => {
      if (event.target !== element) return; // a file picker inside
      event.preventDefault();
      close(null);
    });
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
