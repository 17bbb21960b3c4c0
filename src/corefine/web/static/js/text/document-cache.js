/** Caches of documents' texts and entities. */

import { get } from "../core/api.js";

const KEPT = 8;

export class DocumentCache {
  constructor() {
    this.texts = new Map();
  }

  /** A document's text; it never changes, so it is kept. */
  text(id) {
    if (!this.texts.has(id)) {
      const loading = get(`/documents/${id}`);
      loading.catch(() => this.texts.delete(id));
      this.texts.set(id, loading);
      if (this.texts.size > KEPT) this.texts.delete(this.texts.keys().next().value);
    }
    return this.texts.get(id);
  }
}

/** The entities of one document as they are now; forgotten when an answer changes them. */
export class EntityCache {
  constructor() {
    this.forget(null);
  }

  forget(document) {
    this.document = document;
    this.loading?.abort.abort();
    this.loading = null;
  }

  /** Resolves with the EntitiesView, or null if it was forgotten meanwhile. */
  fetch() {
    if (this.document === null) return Promise.resolve(null);
    if (!this.loading) {
      const abort = new AbortController();
      const value = get(`/documents/${this.document}/entities`, { signal: abort.signal });
      const loading = { abort };
      loading.value = value.catch(() => {
        if (this.loading === loading) this.loading = null;
        return null;
      });
      this.loading = loading;
    }
    return this.loading.value;
  }
}
