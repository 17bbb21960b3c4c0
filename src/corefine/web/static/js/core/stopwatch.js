/**
 * Time a person spends, measured in the browser: a gap between two actions longer than IDLE counts as IDLE seconds,
 * and the time a tab is hidden does not count. performance.now() never jumps with the computer's clock.
 */

export const IDLE = 60;
const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove", "scroll"];

export class Stopwatch {
  constructor({ now = () => performance.now(), page = document } = {}) {
    this.now = now;
    this.page = page;
    this.total = 0;
    this.from = null; // the last action while running
    this.sign = () => this.tick();
    this.seen = () => (page.hidden ? this.stop() : this.start());
    for (const sign of SIGNS) page.addEventListener(sign, this.sign, { passive: true, capture: true });
    page.addEventListener("visibilitychange", this.seen);
  }

  start() {
    if (this.from === null && !this.page.hidden) this.from = this.now();
  }

  stop() {
    this.tick();
    this.from = null;
  }

  tick() {
    if (this.from === null) return;
    const now = this.now();
    this.total += Math.min((now - this.from) / 1000, IDLE);
    this.from = now;
  }

  /** Seconds since the last lap; begins the next one. */
  lap() {
    this.tick();
    const seconds = this.total;
    this.total = 0;
    this.start();
    return Math.round(seconds * 1000) / 1000;
  }

  close() {
    for (const sign of SIGNS) this.page.removeEventListener(sign, this.sign, { capture: true });
    this.page.removeEventListener("visibilitychange", this.seen);
  }
}
