import { h, replace } from "../dom.js";
export async function show(body) { replace(body, h("h1", {}, "Timing study")); }
