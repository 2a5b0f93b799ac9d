// A value that several components show: a component that uses it is drawn again when it changes.
import { useEffect, useState } from "preact/hooks";
import { value } from "./value.js";

// usable lets components use a value.
export const usable = (held) => ({
  ...held,
  use() {
    const [, draw] = useState(0);
    useEffect(() => {
      const tell = () => draw((n) => n + 1);
      tell(); // it may have changed since the first drawing
      return held.watch(tell);
    }, []);
    return held.get();
  },
});

export const store = (first) => usable(value(first));

// cookie keeps a text for all pages of this host: its listeners on other ports are other origins, which share no localStorage.
const cookie = {
  getItem: (name) => document.cookie.split("; ").find((one) => one.startsWith(name + "="))?.slice(name.length + 1) ?? null,
  setItem(name, text) { document.cookie = `${name}=${text}; Path=/; Max-Age=31536000; SameSite=Lax`; },
};

// remembered is a store whose text outlives the page: in this browser, until its tab is closed ("sessionStorage"), or for the pages on all ports of
// this host ("cookie", for texts without special characters). It is for habits, never for keys. `allowed` lists the values, or checks one.
export function remembered(name, allowed, first, where = "localStorage") {
  const fits = typeof allowed === "function" ? allowed : (value) => allowed.includes(value);
  const place = () => (where === "cookie" ? cookie : globalThis[where]);
  let kept = null;
  try {
    kept = place().getItem(name);
  } catch { /* a browser that keeps nothing */ }
  const held = store(kept !== null && fits(kept) ? kept : first);
  const set = held.set;
  held.set = (next) => {
    set(next);
    try {
      place().setItem(name, next);
    } catch { /* then it lasts as long as the page */ }
  };
  return held;
}
