// The console's API, below /console/api of the listener that the page came from, and who is signed in.
import { base, Refused, request } from "../base/http.js";
import { store } from "../base/store.js";
import { language, formatMessage } from "../base/messages.js";
import { messages } from "./messages.js";
import { refusals } from "./labels.js";

// me is who is signed in: name, role and the token that orders carry. null is nobody; undefined until the server has said.
export const me = store(undefined);

// query is the part of a URL behind its question mark, without what is empty.
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== "" && value !== undefined && value !== null && value !== false);
  return given.length ? "?" + new URLSearchParams(given.map(([name, value]) => [name, String(value)])) : "";
}

// translated is what the server says, in the reader's language where it is known there.
const translated = (text) => (language.get() === "zh" && refusals[text]) || text;

async function call(path, options) {
  const { status, data } = await request(base() + "/console/api" + path, { credentials: "same-origin", ...options });
  if (status === 401 && !options.method) me.set(null); // what a person sends is refused for other reasons as well
  if (status >= 400) throw new Refused(translated(data.error) || formatMessage(messages[language.get()].refuses, { status }), status);
  return data;
}

// answered is when the server has answered last, in milliseconds; 0 before that.
export const answered = store(0);

export async function get(path, values = {}, signal) {
  const data = await call(path + query(values), { signal });
  answered.set(Date.now());
  return data;
}

export const post = (path, body = {}) => call(path, {
  method: "POST", headers: { "Content-Type": "application/json", "X-CSRF-Token": me.get()?.csrf ?? "" }, body: JSON.stringify(body),
});

// signed takes over what the server has said of who has signed in.
export const signed = (found) => me.set(found);

export async function signOut() {
  await post("/sign-out");
  me.set(null);
}
