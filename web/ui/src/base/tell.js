// Short messages to the reader, and errors in words for people.
import { store } from "./store.js";

export const said = store("");
let forget = null;

// tell shows a short message for a while, and has it read out.
export function tell(text) {
  said.set(text);
  clearTimeout(forget);
  forget = setTimeout(() => said.set(""), 6000);
}

// trouble is an error in words for people.
export function trouble(error, w) {
  if (error.name === "Error" && error.code === undefined && !error.message) return w.broken;
  return error.code === undefined ? w.offline : error.message || w.broken;
}
