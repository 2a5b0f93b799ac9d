// The exchange's public API, as docs/exchange-api.md says: queries, and calls signed in the page with a key that stays in its memory.
import { bare } from "../base/amount.js";
import { ask, Away, base, Refused } from "../base/http.js";

const api = () => base() + "/api/v2";

async function answered(promise) {
  const answer = await promise;
  if (answer.code !== 0) throw answer.code === 1005 ? new Away(answer.msg) : new Refused(answer.msg, answer.code);
  return answer.data;
}

// query asks what anybody may read.
export function query(path, fields = {}, signal) {
  return answered(ask(api() + path + "?" + new URLSearchParams(fields), { signal }));
}

// line is what is signed: all parameters in the order of their names.
export const line = (fields) => Object.keys(fields).sort().map((name) => name + "=" + fields[name]).join("&");

// sign is the HMAC-SHA-256 of a text with the key's secret, in hexadecimal.
export async function sign(secret, text) {
  const bytes = (t) => new TextEncoder().encode(t);
  const key = await crypto.subtle.importKey("raw", bytes(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return [...new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(text)))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

// longestUnknown is the time after which a signed order can no longer be placed: a signature is
// valid for 5 seconds, and the exchange ends a request after a minute at most.
const longestUnknown = 150_000;

const fieldsOf = ({ symbol, side, price, quantity, clientId }) => ({ symbol, side: String(side), price: bare(price), amount: bare(quantity), clientOrderId: clientId });

// Session is an account; with a key and its secret it can trade. The clock is the exchange's: the
// computer's may be wrong.
export class Session {
  constructor({ address, key = "", secret = "", demo = false }) {
    Object.assign(this, { address, key, secret, demo, ahead: null, seen: null });
  }

  // call signs and sends. `signed` gets the time in the signature right before the request leaves.
  async call(method, path, fields, signed = () => {}, late = false) {
    if (this.ahead === null) this.ahead = (await query("/time")) - Date.now();
    const at = Math.floor(Date.now() + this.ahead);
    const all = { ...fields, key: this.key, timestamp: String(at) };
    const body = line(all) + "&signature=" + (await sign(this.secret, line(all)));
    const url = api() + path + (method === "POST" ? "" : "?" + body);
    const options = method === "POST" ? { body, headers: { "Content-Type": "application/x-www-form-urlencoded" } } : {};
    signed(at);
    try {
      return await answered(ask(url, { method, ...options }));
    } catch (error) {
      if (!/^Invalid timestamp/.test(error.message) || late) throw error;
      this.ahead = null; // the computer's clock was set, or it slept; the exchange has done nothing
      return this.call(method, path, fields, signed, true);
    }
  }

  // place sends an order. Its client ID makes it safe to send it again when no answer came.
  place(order, signed) { return this.call("POST", "/order", fieldsOf(order), signed); }

  // neverPlaced reports whether an order without an answer is certainly not on the exchange. A lookup
  // alone proves nothing: the exchange may know the client ID before it lists the order. A test with
  // the same ID is refused while the ID belongs to an order. The checks that give these two codes come later.
  async neverPlaced(order) {
    const now = await query("/time");
    this.seen = now - Date.now();
    if (!order.at || !this.key || order.key !== this.key || now - order.at < longestUnknown) return false;
    try {
      await this.call("POST", "/order/test", fieldsOf(order));
      return true;
    } catch (error) {
      return error.code === 1006 || error.code === 1007;
    }
  }

  // minutesOf returns for how many minutes an order without an answer can still be placed; the longest time while the exchange's clock is not known.
  minutesOf(order) {
    const ahead = this.seen ?? this.ahead, left = ahead === null ? longestUnknown : order.at + longestUnknown - Date.now() - ahead;
    return Math.ceil(Math.min(Math.max(left, 0), longestUnknown) / 60_000);
  }

  cancel(symbol, orderId) { return this.call("DELETE", "/order", { symbol, orderId }); }
  cancelAll(symbol) { return this.call("DELETE", "/orders", { symbol }); }
}

// demoSession is the demo user's, in a development environment.
export async function demoSession() {
  const answer = await ask(base() + "/demo/session");
  if (answer.error) throw new Refused(answer.error, 1);
  return new Session({ ...answer, demo: true });
}

const fillPage = 100, mostFills = 1000;

// fillsOf is an order's fills, newest first.
export async function fillsOf(order) {
  const found = [];
  for (let offset = 0; offset === found.length && offset < mostFills; offset += fillPage) {
    found.push(...((await query("/trades/all", { symbol: order.symbol, orderId: order.orderId, offset, limit: fillPage })).trade ?? []));
  }
  return found.map((t) => ({
    id: t.tradeId + order.side, ms: t.time * 1000, symbol: t.symbol, side: order.side, price: t.price, quantity: t.quantity, amount: t.amount,
    fee: order.side === 0 ? t.buyFee : t.sellFee, maker: t.side !== order.side,
  }));
}

// bars are candles of a pair, oldest first, as the chart wants them, and the exchange's time in seconds: { bars, now }.
export async function bars(symbol, interval, signal) {
  const [k, now] = await Promise.all([query("/klines", { symbol, interval, limit: 500 }, signal), query("/time", {}, signal)]);
  return { bars: (k.t ?? []).map((time, i) => ({ time, open: k.p[i], high: k.h[i], low: k.l[i], close: k.c[i], volume: k.v[i] })), now: now / 1000 };
}
