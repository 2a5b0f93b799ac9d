// Where in the console somebody is: #/records/17, #/records?state=held. Links and the browser's back button work by it.
import { store } from "../base/store.js";
import { query } from "./api.js";

// parse reads the part of a URL behind its hash.
export function parse(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path.split("/");
  return { view: view || "status", name: decodeURIComponent(rest.join("/")), query: Object.fromEntries(new URLSearchParams(search)) };
}

// to is the link to a view.
export const to = (view, name = "", values = {}) => "#/" + view + (name === "" ? "" : "/" + encodeURIComponent(name)) + query(values);

export const route = store(parse(globalThis.location?.hash ?? ""));

globalThis.addEventListener?.("hashchange", () => route.set(parse(location.hash)));

export const go = (...where) => { location.hash = to(...where); };
