/** Keeps several tabs of one project in sync: each tells the others when something was answered. */

export class Tabs {
  constructor(app) {
    this.hear = () => {};
    if (typeof BroadcastChannel === "undefined") return;
    this.channel = new BroadcastChannel("corefine");
    this.channel.addEventListener("message", ({ data }) => {
      if (data.kind === "hello") this.channel.postMessage({ kind: "here" });
      if (data.kind === "hello" || data.kind === "here") {
        if (!this.told) app.note("corefine is open in another tab too. You can use both: they stay in sync.");
        this.told = true;
      }
      if (data.kind === "changed") this.hear(data.document);
    });
    this.channel.postMessage({ kind: "hello" });
  }

  /** Tell the other tabs that a document's answers changed. */
  changed(document) {
    this.channel?.postMessage({ kind: "changed", document });
  }
}
