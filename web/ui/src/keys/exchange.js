// What the page of API keys asks the exchange, and what it decides: functions of plain values.
import { ask, Refused } from "../base/http.js";
import { bytes, exchangeContract, tokenWord, word } from "../base/vite.js";

// life is how long the exchange takes a signed text, in seconds, less what sending takes.
export const life = 280;

// Exchange is the part of the exchange's API that the page needs.
export class Exchange {
  constructor(base) {
    this.base = base + "/api/v2";
  }

  async ask(path, options) {
    const answer = await ask(this.base + path, options);
    if (answer.code !== 0) throw new Refused(answer.msg ?? "", answer.code);
    return answer.data;
  }

  post(path, fields) {
    return this.ask(path, { method: "POST", body: new URLSearchParams(fields) });
  }

  // seconds is the exchange's clock: the computer's may be wrong.
  async seconds() {
    return Math.floor((await this.ask("/time")) / 1000);
  }

  // account is all that the page shows of an account.
  async account(address) {
    const query = "?address=" + encodeURIComponent(address);
    const [info, pairs, packages] = await Promise.all([
      this.ask("/agent/info" + query), this.ask("/agent/grants" + query), this.ask("/agent/package"),
    ]);
    return { address, info, pairs, cycle: packages[0].cycle };
  }

  // rate is VITE's value in ordinary money: { usdRate, cnyRate, stale }, or null.
  async rate() { return (await this.ask("/exchange-rate?tokenIds=" + VITE.tokenId))?.[0] ?? null; }

  // markets are the pairs that may be granted.
  markets() { return this.ask("/markets"); }

  issue(proof) { return this.post("/agent/key", proof); }

  remove(proof) { return this.post("/agent/removal", proof); }
}

// advice is the page's word for what the exchange says is wrong, where that is not enough to know what to do.
const advice = { "Invalid timestamp": "tooOld", "Invalid signature": "notSigned", "Invalid pubKey: not the account's": "otherKey" };

// placeOf names the field that a refusal concerns.
const places = { "Invalid timestamp": "text", "Invalid signature": "public", "Invalid pubKey: not the account's": "public" };
export const placeOf = (error) => places[error.message] ?? "send";

// fault is why the exchange has refused, in the page's messages where it has one.
export function fault(error, w) {
  if (error.code === 1001) return w.tooMany;
  return w[advice[error.message]] ?? (error.message || w.refuses);
}

// challenge is the text that proves an account to the exchange. The one that removes a key makes none.
export function challenge(agent, seconds, removal) {
  return (removal ? "remove_" : "") + agent + "_" + seconds;
}

// command signs a text with a wallet file of this program. The text has letters, digits and underscores alone, so it needs no quotes.
export function command(text) {
  return "gatewayd wallet sign STORE --json --text " + text;
}

// signed reads what a user has pasted: what the command has printed, as JSON or as lines, or a public key and a signature by themselves.
// Anything else is null.
export function signed(first, second) {
  const lines = /Public key:\s*(\S+)\s+Signature:\s*(\S+)/.exec(first);
  let found = lines ? { publicKey: lines[1], signature: lines[2] } : { publicKey: first.trim(), signature: second.trim() };
  if (first.trim().startsWith("{")) {
    try {
      found = JSON.parse(first);
    } catch {
      return null;
    }
  }
  const ok = isBytes(found.publicKey, 32) && isBytes(found.signature, 64);
  return ok ? { pubKey: found.publicKey, signature: found.signature } : null;
}

// faulty names the field of what signed refuses.
export const faulty = (first) => (isBytes(first.trim(), 32) ? "signature" : "public");

// isBytes tells whether a text is so many bytes in hexadecimal or base64.
function isBytes(text, size) {
  if (typeof text !== "string") return false;
  const base64 = 4 * Math.ceil(size / 3);
  return new RegExp("^[0-9a-fA-F]{" + 2 * size + "}$").test(text) || (text.length === base64 && /^[A-Za-z0-9+/]+={0,2}$/.test(text));
}

// enough is the quota that an order takes.
export const enough = 30_000;

// A stake gives quota for each snapshot block, one a second, which accumulates over 75 of them (docs/exchange-chain-wire.md 4.6).
const quotaWindow = 75, quotaSection = 280, quotaSections = 3571;
const quotaPerBlock = (vite) => Math.min(quotaSections, Math.floor((Math.tanh((vite * 4.201037667e-6) / 2) * 1e6) / quotaSection)) * quotaSection;

// leastStake is the smallest one that the chain accepts, and firstStake the proposed one, in VITE.
export const leastStake = 134, firstStake = 1_000;

// ordersOf estimates the orders that a stake in VITE allows: at once, and per minute on average.
export function ordersOf(vite) {
  const quota = quotaPerBlock(vite);
  return { atOnce: Math.floor((quota * quotaWindow) / enough), aMinute: (quota * 60) / enough };
}

// What the account's wallet sends, so that the key can trade: { to, units of VITE, data }. docs/exchange-api.md has the forms.
export const VITE = { tokenId: "tti_5649544520544f4b454e6e40", decimals: 18 };
const quotaContract = "vite_0000000000000000000000000000000000000003f6af7459b9";

const addressWord = (address) => word(address.slice(5, 45) + "00"); // 20 bytes and the kind: a user's

export const firstTransfer = (agent) => ({ to: agent, units: 1n, data: bytes("") });

export const stake = (agent, units) => ({ to: quotaContract, units, data: bytes("d2fd352d" + addressWord(agent)) });

export const grant = (agent, { tradeToken, quoteToken }) => ({
  to: exchangeContract, units: 0n,
  data: bytes("2020d850" + ["1", addressWord(agent), "80", "c0", "1", tokenWord(tradeToken), "1", tokenWord(quoteToken)].map(word).join("")),
});
