// Asking servers: bounded in time, and every failure is one of two kinds.
import { value } from "./value.js";

// Away: nothing sensible was answered, now. Asking again may help.
export class Away extends Error {}

// Refused: the server has answered that it does not, in words for people where it has any.
export class Refused extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

// connected is false from the first request without a sensible answer until the next one with.
export const connected = value(true);

const patience = 15_000;

// request answers the status and the JSON of a URL.
export async function request(url, options = {}) {
  const late = AbortSignal.timeout(options.patience ?? patience);
  const signal = options.signal ? AbortSignal.any([options.signal, late]) : late;
  try {
    const answer = await fetch(url, { cache: "no-store", credentials: "omit", ...options, signal });
    const data = await answer.json();
    connected.set(true);
    return { status: answer.status, data };
  } catch (e) {
    if (options.signal?.aborted) throw e;
    connected.set(false);
    throw new Away(String(e));
  }
}

// ask answers the JSON of a URL, whatever the status.
export const ask = async (url, options) => (await request(url, options)).data;

// base is what stands before the page's last word in its path: "" or the path of a test network.
export function base(pathname = location.pathname) {
  return pathname.replace(/\/[^/]*$/, "");
}
