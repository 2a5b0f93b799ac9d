// What an order locks, costs and yields, and what forbids it. Amounts are whole numbers of smallest
// units; the rules are those of the exchange (docs/exchange-rules.md 2.3 to 2.5).
import { bare, isDecimal, parse, plain } from "../base/amount.js";

export const buy = 0, sell = 1;

const priceDecimals = 12; // of a price on the chain
const quantityDecimals = 18; // room for the decimals of every token's quantity
const rateUnit = 100_000n;

const ten = (n) => 10n ** BigInt(n);

// halfUp divides and rounds half up.
const halfUp = (n, by) => (2n * n + by) / (2n * by);

// rateOf is a fee rate of the API, a part of one, in parts of 100,000.
export const rateOf = (number) => parse(String(number), 5) ?? 0n;

// highest is the rate that a buy locks: the higher one of a fill at once and of one in the book.
export const highest = (maker, taker) => (maker > taker ? maker : taker);

// cost is what an order is worth, its highest fee, and its total: what a buy locks, or what a sale
// yields at least. `market` has `decimals` of the quote token and the fee `rate`.
export function cost(side, price, quantity, market) {
  const [p, q] = [parse(price, priceDecimals), parse(quantity, quantityDecimals)];
  return costOf(side, p, q, market);
}

function costOf(side, p, q, { decimals, rate }) {
  const value = halfUp(p * q * ten(decimals), ten(priceDecimals + quantityDecimals));
  const fee = halfUp(value * rate, rateUnit);
  return { value, fee, total: side === buy ? value + fee : value - fee };
}

// fitting is the largest quantity, as a decimal, whose total is not above a sum of the quote token.
export function fitting(side, total, price, market) {
  const p = parse(price, priceDecimals), step = ten(quantityDecimals - market.quantityPrecision);
  let low = 0n, high = (2n * (total + 1n) * ten(priceDecimals + quantityDecimals)) / (p * ten(market.decimals)) / step + 1n;
  while (low + 1n < high) {
    const middle = (low + high) / 2n;
    if (costOf(side, p, middle * step, market).total <= total) low = middle;
    else high = middle;
  }
  return plain(low, market.quantityPrecision);
}

// most is the largest quantity that can be ordered: a buyer's funds pay the fee too.
export function most(side, available, price, market) {
  if (side === sell) return plain(units(available, market.quantityPrecision), market.quantityPrecision);
  return fitting(buy, units(available, market.decimals), price, market);
}

// units cuts a decimal of the API to so many decimals.
export function units(text, decimals) {
  const [whole, fraction = ""] = text.split(".");
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
}

// share is so many percent of a quantity, in its steps.
export function share(quantity, percent, precision) {
  return plain((units(quantity, precision) * BigInt(percent)) / 100n, precision);
}

// percentOf is the share of one quantity in another, for the slider.
export function percentOf(part, all) {
  const [a, b] = [parse(part, quantityDecimals), parse(all, quantityDecimals)];
  if (!a || !b) return 0;
  return Math.min(100, Number((a * 100n) / b));
}

// crosses reports whether an order at a price would be filled by the best opposite order.
export function crosses(side, price, opposite) {
  if (!opposite) return false;
  const [p, o] = [parse(price, priceDecimals), parse(opposite, priceDecimals)];
  return side === buy ? p >= o : p <= o;
}

const mostDeviation = 500n; // in 1/10,000: 5 %

// deviation is the excess over a reference, to the trader's disadvantage, in 1/10,000; zero up to 5 %.
function deviation(side, price, reference) {
  const [p, r] = [parse(price, priceDecimals), parse(reference, priceDecimals)];
  if (!r) return 0n;
  const away = side === buy ? p - r : r - p;
  return away * 10_000n > mostDeviation * r ? (away * 10_000n) / r : 0n;
}

// worse is how a price is more than 5 % worse than the last price or the best opposite order:
// { reference, percent }, or null.
export function worse(side, price, references) {
  let worst = null;
  for (const reference of references) {
    const away = reference ? deviation(side, price, reference) : 0n;
    if (away > 0n && (!worst || away > worst.away)) worst = { reference, away, percent: plain(away, 2) };
  }
  return worst;
}

const mostImpact = 100n; // in 1/10,000: 1 %

// fillsNow is what of an order the opposite side of the book fills at once: { quantity, average, worst, impact }, or null for nothing. `impact` is
// how much worse the average is than the best level, in percent, where that is more than 1 % or the order takes every level; otherwise null.
export function fillsNow(side, price, quantity, levels) {
  const p = parse(price, priceDecimals);
  let left = parse(quantity, quantityDecimals), value = 0n, filled = 0n, worst = null;
  for (const [at, size] of levels) {
    const [a, s] = [parse(at, priceDecimals), parse(size, quantityDecimals)];
    if (left === 0n || (side === buy ? a > p : a < p)) break;
    const part = s < left ? s : left;
    [left, filled, value, worst] = [left - part, filled + part, value + part * a, at];
  }
  if (filled === 0n) return null;
  const average = value / filled, best = parse(levels[0][0], priceDecimals);
  const away = ((side === buy ? average - best : best - average) * 10_000n) / best;
  const all = left > 0n && worst === levels.at(-1)[0];
  return { quantity: plain(filled, quantityDecimals), average: plain(average, priceDecimals), worst, impact: away > mostImpact || all ? plain(away, 2) : null };
}

// check is what forbids an order, by field: [message, values], or nothing. What is still empty is
// no fault while it is typed.
export function check(order, market) {
  const { side, price, quantity, available, least, postOnly, opposite } = order;
  const faults = {};
  if (price && !isDecimal(price, market.pricePrecision)) faults.price = ["digits", { n: market.pricePrecision }];
  else if (price && bare(price).split(".")[0].length > 12) faults.price = ["tooHigh", {}];
  else if (price && postOnly && crosses(side, price, opposite)) faults.price = [side === buy ? "crossesAsk" : "crossesBid", { price: opposite }];
  if (quantity && !isDecimal(quantity, market.quantityPrecision)) faults.quantity = ["digits", { n: market.quantityPrecision }];
  if (!price || !quantity || faults.quantity || (faults.price && !faults.price[0].startsWith("crosses"))) return faults;
  const { value, total } = cost(side, price, quantity, market);
  if (least && (side === buy ? total : value) < units(least, market.decimals)) faults.total = ["small", { least, symbol: "quote" }];
  if (!available) return faults;
  if (side === buy && total > units(available, market.decimals)) faults.total = ["poor", { have: available, symbol: "quote" }];
  if (side === sell && parse(quantity, quantityDecimals) > units(available, quantityDecimals)) faults.quantity = ["poor", { have: available, symbol: "trade" }];
  return faults;
}

// Statuses of the exchange: a resting order can still fill, an ended one does not change.
export const resting = [3, 5], ended = [4, 7, 8, 9, 10];

// stage returns the progress of an order: sent, in the book, ended.
const stage = ({ status }) => (ended.includes(status) ? 2 : resting.includes(status) || status === 6 ? 1 : 0);

// newest picks the latest of several answers about one order, which may arrive in any order.
export function newest(answers) {
  const later = (a, b) => stage(b) - stage(a) || Number(b.executedQuantity) - Number(a.executedQuantity);
  return answers.filter(Boolean).reduce((last, one) => (last && later(last, one) < 0 ? last : one), null);
}
