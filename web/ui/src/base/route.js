// Where in a page the reader is: the hash is #/segment/segment?key=value. Links, reload and the back button work by it.
import { store } from "./store.js";

// decode reads one segment; a broken escape stays as it is.
function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

// parse reads a hash.
export function parse(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/").filter(Boolean).map(decode), query: Object.fromEntries(new URLSearchParams(search)) };
}

// to returns the link to a place. Empty values of the query are left out.
export function to(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== undefined && value !== null && value !== false);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return "#/" + path.map(encodeURIComponent).join("/") + (given.length ? "?" + search : "");
}

const route = store(parse(globalThis.location?.hash ?? ""));

globalThis.addEventListener?.("hashchange", () => route.set(parse(location.hash)));

// here is the place of the moment, for what happens later than a drawing.
export const here = () => route.get();

// useRoute returns the place of the moment.
export const useRoute = () => route.use();

// go moves to a place. `replace` adds no step to the browser's history: for what is typed.
export function go(path, query = {}, { replace = false } = {}) {
  const hash = to(path, query);
  if (!replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, "", hash);
  route.set(parse(hash));
}
