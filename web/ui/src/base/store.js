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

// remembered is a store whose text outlives the page: in this browser, or until its tab is closed ("sessionStorage"). It is for habits, never for
// keys. `allowed` lists the values, or checks one.
export function remembered(name, allowed, first, where = "localStorage") {
  const fits = typeof allowed === "function" ? allowed : (value) => allowed.includes(value);
  let kept = null;
  try {
    kept = globalThis[where].getItem(name);
  } catch { /* a browser that keeps nothing */ }
  const held = store(kept !== null && fits(kept) ? kept : first);
  const set = held.set;
  held.set = (next) => {
    set(next);
    try {
      globalThis[where].setItem(name, next);
    } catch { /* then it lasts as long as the page */ }
  };
  return held;
}
