/** Calls to the server. Every failure is a Problem with the server's `kind`; "offline" where no response came. */

export class Problem extends Error {
  constructor(status, { kind, message, answers = null, new: given = null, next = null }) {
    super(message);
    this.status = status;
    this.kind = kind;
    this.answers = answers;
    this.new = given;
    this.next = next;
  }

  /** Whether the same request may succeed later: the server was not reached, or could not take it. */
  get passing() {
    return this.kind === "offline" || this.kind === "unavailable" || [502, 503, 504].includes(this.status);
  }
}

const PATIENCE = 20_000; // milliseconds until a request without a response counts as lost
export const LONG = 600_000; // the same for what takes its time

async function call(method, path, body = undefined, { signal = null, raw = false, patience = PATIENCE } = {}) {
  const headers = method === "GET" ? {} : { "X-Corefine": "1" };
  if (body !== undefined) headers["Content-Type"] = raw ? "application/octet-stream" : "application/json";
  const limits = [AbortSignal.timeout(patience), ...(signal ? [signal] : [])];
  let response;
  let text;
  try {
    response = await fetch(`/api${path}`, {
      method,
      headers,
      body: body === undefined || raw ? body : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.any(limits),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, { kind: "offline", message: "The server cannot be reached." });
  }
  const value = parsed(text);
  if (response.ok) return value;
  throw new Problem(response.status, value?.error ?? { kind: "unknown", message: `The server answered ${response.status}.` });
}

function parsed(text) {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

export const get = (path, options) => call("GET", path, undefined, options);
export const post = (path, body = {}, options = {}) => call("POST", path, body, options);
export const put = (path, body) => call("PUT", path, body);
export const patch = (path, body) => call("PATCH", path, body);
export const remove = (path) => call("DELETE", path);

/** Send a file. The server reads it after that: `seen` gets how far it is, again and again, until the end is returned. */
export async function upload(file, seen, query = "") {
  let now = await call("POST", `/documents?wait=0&name=${encodeURIComponent(file.name)}${query}`, file, { raw: true, patience: LONG });
  while (now.state === "waiting" || now.state === "reading") {
    seen(now);
    await new Promise((resolve) => setTimeout(resolve, 400));
    try {
      now = await get(`/uploads/${now.id}`);
    } catch (problem) {
      if (!problem.passing) throw problem;
    }
  }
  return now;
}

/** An id for one thing a person does. (randomUUID is missing where a page is served without TLS to another machine.) */
export function clientId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
