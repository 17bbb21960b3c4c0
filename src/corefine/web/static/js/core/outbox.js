/**
 * Requests that the server has not acknowledged yet. Each is kept in the browser's storage before it is sent, and sent
 * again with the same client_id until a response comes; after a crash or a reload it is sent from the storage.
 */

import { post } from "./api.js";

const PREFIX = "corefine.outbox.";
const WAITS = [500, 1000, 2000, 4000, 8000, 15_000];

function store(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Storage can be full or forbidden: then the request is only in memory.
  }
}

/** Sends one request at a time; `listen` is told "sent", or "waiting" with the problem while it must be repeated. */
export class Outbox {
  constructor(person, listen) {
    this.person = person;
    this.listen = listen;
    this.wake = null;
    window.addEventListener("online", () => this.retry());
  }

  /** Post until there is a response; resolves with it, or rejects with a problem that repeating would not solve. */
  async send(path, body) {
    const name = PREFIX + body.client_id;
    store(name, { person: this.person, path, body });
    try {
      const value = await this.insist(path, body);
      store(name, null);
      return value;
    } catch (problem) {
      if (problem.status !== 401) store(name, null); // after a new login it is sent
      throw problem;
    }
  }

  async insist(path, body) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const value = await post(path, body);
        this.listen("sent");
        return value;
      } catch (problem) {
        if (!problem.passing) {
          this.listen("sent");
          throw problem;
        }
        this.listen("waiting", problem);
        await this.pause(WAITS[Math.min(attempt, WAITS.length - 1)]);
      }
    }
  }

  pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Try again now. */
  retry() {
    this.wake?.();
  }

  /** Send what an earlier visit left behind; returns how many requests the server took. */
  async recover() {
    let taken = 0;
    for (const name of keptNames()) {
      const kept = read(name);
      if (!kept || kept.person !== this.person) continue;
      try {
        const value = await this.insist(kept.path, kept.body);
        taken += value?.repeated ? 0 : 1;
      } catch (problem) {
        // Its question is no longer open, or it contradicts: the page then shows the present state.
        if (problem.status === 401) continue;
      }
      store(name, null);
    }
    return taken;
  }
}

function keptNames() {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
  } catch {
    return [];
  }
}

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null;
  }
}
