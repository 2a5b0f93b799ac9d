// A value that others watch. Code without components uses it as well.
export function value(now) {
  const watchers = new Set();
  return {
    get: () => now,
    set(next) {
      if (next === now) return;
      now = next;
      for (const tell of [...watchers]) tell(next);
    },
    // watch calls a function at each change; it returns how to end that.
    watch(tell) {
      watchers.add(tell);
      return () => watchers.delete(tell);
    },
  };
}
