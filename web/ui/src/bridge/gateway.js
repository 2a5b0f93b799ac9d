// The gateway's seven public endpoints, as docs/gateway-api.md says; and the comment and the payment link that a withdrawal needs.
import { ask, Refused } from "../base/http.js";
import { plain } from "../base/amount.js";

// Gateway asks one network of a gateway about one token.
export class Gateway {
  constructor(path, token, language) {
    Object.assign(this, { path, token, language });
  }

  async get(endpoint, query, signal) {
    const values = new URLSearchParams({ tokenId: this.token.tokenId, ...query });
    const headers = { lang: this.language === "zh" ? "zh-cn" : "en", version: "v1.0" };
    const answer = await ask(this.path + endpoint + "?" + values, { headers, signal });
    if (answer.code !== 0) throw new Refused(answer.msg, answer.subCode);
    return answer.data;
  }

  meta(signal) { return this.get("/meta-info", {}, signal); }
  depositInfo(walletAddress, signal) { return this.get("/deposit-info", { walletAddress }, signal); }
  withdrawInfo(walletAddress, signal) { return this.get("/withdraw-info", { walletAddress }, signal); }
  verify(withdrawAddress, label, signal) {
    return this.get("/withdraw-address/verification", { withdrawAddress, ...(label === null ? {} : { label }) }, signal);
  }

  async fee(walletAddress, amount, containsFee, signal) {
    return BigInt((await this.get("/withdraw-fee", { walletAddress, amount: amount.toString(), containsFee }, signal)).fee);
  }

  // records answers one page of deposits or withdrawals, with links to explorers filled in.
  async records(kind, walletAddress, pageNum, pageSize, signal) {
    const data = await this.get(kind === "deposit" ? "/deposit-records" : "/withdraw-records", { walletAddress, pageNum, pageSize }, signal);
    const link = (format, hash) => (hash && format ? format.replaceAll("{$tx}", encodeURIComponent(hash)) : "");
    const rows = (kind === "deposit" ? data.depositRecords : data.withdrawRecords) ?? [];
    return {
      total: data.totalCount,
      rows: rows.map((r) => ({ ...r, kind, inLink: link(data.inTxExplorerFormat, r.inTxHash), outLink: link(data.outTxExplorerFormat, r.outTxHash) })),
    };
  }
}

// isWallet tells whether a text has the form of an address of the exchange chain; the gateway checks the rest.
export const isWallet = (text) => /^vite_[0-9a-f]{50}$/.test(text);

// comment is the data of the block that withdraws: content type 0x0bc3, the binding type, then the address alone (0), or address and label with
// their lengths in front (1).
export function comment(type, address, label) {
  const bytes = (text) => [...new TextEncoder().encode(text)];
  const sized = (text) => {
    const b = bytes(text);
    if (b.length > 255) throw new RangeError("longer than a length byte allows");
    return [b.length, ...b];
  };
  return new Uint8Array([0x0b, 0xc3, type, ...(type === 1 ? [...sized(address), ...sized(label)] : bytes(address))]);
}

export const hex = (bytes) => [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");

export const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

// paymentLink asks a wallet of the exchange chain to send an amount with a comment (Vite URI format, VEP 6).
export function paymentLink(to, token, units, data) {
  const safe = base64(data).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `vite:${to}?tti=${token.tokenId}&amount=${plain(units, token.decimals)}&data=${safe}`;
}

// progress says of a record which of its three steps is going on, and how it stands: run, good, warn, bad.
export function progress(record) {
  const states = {
    deposit: {
      OPPOSITE_PROCESSING: [0, "run"], OPPOSITE_CONFIRMED: [1, "run"], TOT_PROCESSING: [2, "run"], TOT_CONFIRMED: [3, "good"],
      OPPOSITE_CONFIRMED_FAIL: [0, "bad"], BELOW_MINIMUM: [1, "warn"], FAILED: [1, "bad"],
    },
    withdraw: {
      TOT_PROCESSING: [0, "run"], TOT_CONFIRMED: [1, "run"], OPPOSITE_PROCESSING: [2, "run"], OPPOSITE_CONFIRMED: [3, "good"],
      TOT_EXCEED_THE_LIMIT: [1, "bad"], WRONG_WITHDRAW_ADDRESS: [1, "bad"], FAILED: [1, "bad"],
    },
  };
  const [at, kind] = states[record.kind][record.state] ?? [0, "wait"];
  return { at, kind };
}

// depth names the message about a record's confirmations. A deposit without any is in no block.
export const depth = (record) => (record.kind === "deposit" && !record.inTxConfirmedCount ? "pooled" : "counted");

// check finds what forbids a withdrawal of a net amount: a key of the page's messages with values, or null. Balance null is not known.
export function check({ net, fee, minimum, maximum, balance }) {
  if (net < minimum) return ["belowMinimum", minimum];
  if (maximum !== null && net > maximum) return ["aboveMaximum", maximum];
  if (balance !== null && fee !== null && net + fee > balance) return ["aboveBalance", balance];
  return null;
}
