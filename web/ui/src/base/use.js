// Hooks that all pages use.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ask, Away, base, connected } from "./http.js";
import { store, usable } from "./store.js";

const retryEvery = 5000;

// usePoll asks at once and again so many milliseconds after each answer, but not while nobody looks at the page. What was answered last stays
// while later answers fail; `error` is the last failure, `at` the moment of the last answer. Without an answer from the server it asks again after
// `retryEvery` at the latest, also what is asked only once. Changed keys begin again; `act` null asks nothing.
export function usePoll(act, every, keys) {
  const [state, set] = useState({ data: null, at: 0, error: null, loading: true });
  const again = useRef(() => {});
  useEffect(() => {
    set({ data: null, at: 0, error: null, loading: act !== null });
    if (!act) return undefined;
    const end = new AbortController();
    let timer = null, away = false;
    const round = async () => {
      clearTimeout(timer);
      if (!document.hidden) {
        try {
          const data = await act(end.signal);
          away = false;
          if (!end.signal.aborted) set({ data, at: Date.now(), error: null, loading: false });
        } catch (error) {
          away = error instanceof Away;
          if (!end.signal.aborted) set((before) => ({ ...before, error, loading: false }));
        }
      }
      clearTimeout(timer);
      const pause = away ? Math.min(every || retryEvery, retryEvery) : every;
      if (!end.signal.aborted && pause) timer = setTimeout(round, pause);
    };
    const seen = () => document.hidden || round();
    document.addEventListener("visibilitychange", seen);
    addEventListener("retry", seen);
    addEventListener("online", seen);
    again.current = round;
    round();
    return () => {
      end.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
      removeEventListener("retry", seen);
      removeEventListener("online", seen);
    };
  }, keys);
  return { ...state, every, again: useCallback(() => again.current(), []) };
}

// online is whether the server answers, for components.
export const online = usable(connected);

// retry has all polls of the page ask at once.
export const retry = () => dispatchEvent(new Event("retry"));

// useLater is a value after it has rested for a while: what is typed is asked about when the typing pauses.
export function useLater(value, wait = 350) {
  const [rested, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), wait);
    return () => clearTimeout(timer);
  }, [value, wait]);
  return rested;
}

// site is where the pages are; {} until it is known.
export const site = store({});

export async function loadSite() {
  try {
    site.set(await ask(base() + "/site.json"));
  } catch {
    setTimeout(loadSite, retryEvery); // the links to the other pages come with the server
  }
}
