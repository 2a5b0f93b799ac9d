// Numbers for the chart: they are drawn, never paid.

// average is the simple moving average of the closes of so many bars.
export function average(bars, length) {
  let sum = 0;
  const out = [];
  bars.forEach((bar, i) => {
    sum += bar.close - (i >= length ? bars[i - length].close : 0);
    if (i >= length - 1) out.push({ time: bar.time, value: sum / length });
  });
  return out;
}

// put adds a bar to a list that is sorted by time, or replaces the bar of its time; a bar that is
// older than the last one changes nothing.
export function put(bars, bar) {
  const last = bars.at(-1);
  if (last && bar.time < last.time) return bars;
  return [...(last?.time === bar.time ? bars.slice(0, -1) : bars), bar];
}

// lengths of the intervals of candles, in seconds.
export const lengths = { minute: 60, minute30: 1800, hour: 3600, hour6: 21_600, day: 86_400, week: 604_800 };

const mostBars = 1000;

// filled adds a flat candle for every interval without a trade, up to now: distances on the axis are time. The newest `mostBars` are kept.
export function filled(bars, length, now) {
  if (!bars.length) return [];
  const out = [], last = bars.at(-1).time;
  let next = last + (Math.max(0, Math.floor((now - last) / length)) + 1) * length;
  for (let i = bars.length - 1; i >= 0; i--) {
    const { time, close } = bars[i];
    for (next -= length; next > time && out.length < mostBars; next -= length) out.push({ time: next, open: close, high: close, low: close, close, volume: 0 });
    if (out.length === mostBars) break;
    out.push(bars[i]);
    next = time;
  }
  return out.reverse();
}

const near = 0.1; // of the last price: labels of orders further away would cover the axis

// nearOrders sums what is left of open orders by side and price, without those far from a price: { side, price, quantity }.
export function nearOrders(orders, last) {
  const found = new Map();
  for (const { side, price, quantity, executedQuantity } of orders) {
    if (!last || Math.abs(price / last - 1) > near) continue;
    const one = found.get(side + price) ?? { side, price: Number(price), quantity: 0 };
    found.set(side + price, { ...one, quantity: one.quantity + Number(quantity) - Number(executedQuantity) });
  }
  return [...found.values()];
}

// ownTrades sums fills by bar and side, oldest first: { time, side, count, quantity, average }.
export function ownTrades(bars, fills) {
  const found = new Map();
  for (const { ms, side, price, quantity } of fills) {
    const time = barAt(bars, ms / 1000), key = time + ":" + side;
    if (time === null) continue;
    const one = found.get(key) ?? { time, side, count: 0, quantity: 0, value: 0 };
    found.set(key, { ...one, count: one.count + 1, quantity: one.quantity + Number(quantity), value: one.value + Number(quantity) * Number(price) });
  }
  return [...found.values()].map(({ value, ...one }) => ({ ...one, average: value / one.quantity })).sort((a, b) => a.time - b.time || a.side - b.side);
}

// barAt is the start of the bar that a moment is in, or null before the first one.
export function barAt(bars, seconds) {
  let found = null;
  for (const { time } of bars) {
    if (time > seconds) break;
    found = time;
  }
  return found;
}
