// What was typed for each pair, and its orders whose outcome is unknown: both survive a reload of
// this tab.
import { parse } from "../base/amount.js";

const name = "trade.drafts";
const drafts = kept();

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(name)) ?? {};
  } catch {
    return {};
  }
}

// draftOf returns the stored draft of a pair. Price and amount typed for one side are not used for the other.
export function draftOf(symbol, side = drafts[symbol]?.side) {
  const draft = { price: "", quantity: "", attempts: [], ...drafts[symbol] };
  return draft.side === side ? draft : { ...draft, price: "", quantity: "" };
}

export function keepDraft(symbol, values) {
  drafts[symbol] = { ...draftOf(symbol), ...values };
  try {
    sessionStorage.setItem(name, JSON.stringify(drafts));
  } catch { /* then it lasts as long as the page */ }
}

const mostDecimals = 18;
const sameNumber = (a, b) => parse(a, mostDecimals) !== null && parse(a, mostDecimals) === parse(b, mostDecimals);

// sameOrder reports whether two orders ask for the same.
export const sameOrder = (a, b) => ["address", "symbol", "side"].every((field) => a[field] === b[field])
  && sameNumber(a.price, b.price) && sameNumber(a.quantity, b.quantity);

// attemptOf is what to send for an order: the same one whose outcome is unknown, since the exchange
// places a client ID once, or else a new one.
export function attemptOf(order) {
  return draftOf(order.symbol).attempts.find((one) => sameOrder(one, order)) ?? { ...order, clientId: crypto.randomUUID() };
}

const others = ({ symbol, clientId }) => draftOf(symbol).attempts.filter((one) => one.clientId !== clientId);

// holdAttempt keeps an order before it is sent: its answer may be lost.
export const holdAttempt = (order) => keepDraft(order.symbol, { attempts: [...others(order), order] });

// dropAttempt forgets an order whose outcome is known.
export const dropAttempt = (order) => keepDraft(order.symbol, { attempts: others(order) });

// waiting lists an account's orders of a pair whose outcome is unknown, newest first.
export const waiting = (symbol, address) => draftOf(symbol).attempts.filter((one) => one.address === address).reverse();

// heldOf is an order as it was sent last, while its outcome is unknown.
export const heldOf = ({ symbol, clientId }) => draftOf(symbol).attempts.find((one) => one.clientId === clientId);

export const isUnknown = (order) => heldOf(order) !== undefined;
