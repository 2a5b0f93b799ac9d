// Levels of an order book: steps of its prices, levels that are merged to a step, and their sums.
import { parse, plain } from "../base/amount.js";

const priceDecimals = 12, quantityDecimals = 18;
const stepCount = 4;

// placesOf is the number of decimals that are shown of a pair's prices.
export const placesOf = (pair, price) => Math.min(pair.pricePrecision, Number(price) >= 1000 ? 1 : Number(price) >= 1 ? 4 : 8);

// stepsOf lists the steps of a book, finest first, as decimals of a price; -1 is a step of ten.
export const stepsOf = (places) => Array.from({ length: stepCount }, (_, i) => places - i);

// stepText is a step as a number.
export const stepText = (places) => (places > 0 ? "0." + "0".repeat(places - 1) + "1" : "1" + "0".repeat(-places));

// merged puts the levels of a side together whose prices are in the same step. Asks round up and
// bids down, so that no order looks better than it is.
export function merged(side, places, up) {
  const step = 10n ** BigInt(priceDecimals - places), out = [];
  for (const [price, quantity] of side) {
    const p = parse(price, priceDecimals), at = up ? ((p + step - 1n) / step) * step : (p / step) * step;
    const q = parse(quantity, quantityDecimals), last = out.at(-1);
    if (last?.at === at) last.q += q;
    else out.push({ at, q });
  }
  return out.map(({ at, q }) => [plain(at, priceDecimals), plain(q, quantityDecimals)]);
}

// sums adds up the quantities of a side from its best price on.
export function sums(side) {
  let all = 0n;
  return side.map(([price, quantity]) => ({ price, quantity, sum: plain((all += parse(quantity, quantityDecimals)), quantityDecimals) }));
}

// middleOf is the mid price and the spread of a book with both sides, or null.
export function middleOf({ asks, bids }) {
  if (!asks.length || !bids.length) return null;
  const [a, b] = [asks[0][0], bids[0][0]].map((price) => parse(price, priceDecimals));
  return { price: plain((a + b) / 2n, priceDecimals), spread: plain(a - b, priceDecimals), percent: (Number(a - b) / Number(b)) * 100 };
}
