// The gateway's seven public endpoints, as docs/gateway-api.md says; and the comment that a withdrawal needs.
import { ask, Refused } from "../base/http.js";
import { plain } from "../base/amount.js";

// Gateway asks one network of a gateway about one token.
export class Gateway {
  constructor(network, token, language) {
    Object.assign(this, { network, path: network.path, token, language });
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
      rows: rows.map((r) => ({
        ...r, kind, network: this.network, token: this.token, inLink: link(data.inTxExplorerFormat, r.inTxHash), outLink: link(data.outTxExplorerFormat, r.outTxHash),
        refundLink: link(data.inTxExplorerFormat, r.refundTxHash),
      })),
    };
  }

  // all answers the records of a direction, newest first, up to a thousand, and whether there are more.
  async all(kind, walletAddress, signal) {
    const rows = [];
    for (let page = 1; page <= 10; page++) {
      const found = await this.records(kind, walletAddress, page, 100, signal);
      rows.push(...found.rows);
      if (page * 100 >= found.total) return { rows, more: false };
    }
    return { rows, more: true };
  }

  // find returns the record of a transaction among the newest thousand, or null. It begins on the page of the last time.
  async find(kind, walletAddress, hash, signal) {
    const first = this.foundOn ?? 1;
    for (let page = first; page <= 10; page++) {
      const { rows, total } = await this.records(kind, walletAddress, page, 100, signal);
      const row = rows.find((r) => r.inTxHash.toLowerCase() === hash.toLowerCase());
      this.foundOn = row ? page : 1;
      if (row || page * 100 >= total) return row ?? null;
    }
    return null;
  }
}

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

// withAmount adds an amount to the payment link of a ledger of coins (BIP-21).
export const withAmount = (uri, units, decimals) => (units ? uri + (uri.includes("?") ? "&" : "?") + "amount=" + plain(units, decimals) : uri);

const positions = {
  deposit: {
    OPPOSITE_PROCESSING: [0, "run"], OPPOSITE_CONFIRMED: [1, "run"], TOT_PROCESSING: [2, "run"], TOT_CONFIRMED: [3, "good"],
    OPPOSITE_CONFIRMED_FAIL: [0, "bad"], BELOW_MINIMUM: [1, "warn"], FAILED: [1, "bad"],
  },
  withdraw: {
    TOT_PROCESSING: [0, "run"], TOT_CONFIRMED: [1, "run"], OPPOSITE_PROCESSING: [2, "run"], OPPOSITE_CONFIRMED: [3, "good"],
    TOT_EXCEED_THE_LIMIT: [1, "bad"], WRONG_WITHDRAW_ADDRESS: [1, "bad"], FAILED: [1, "bad"],
  },
};

// states are the public states of a direction.
export const states = (kind) => Object.keys(positions[kind]);

// progress returns the step of a record that is in progress, and its kind: run, good, warn, bad.
export function progress(record) {
  const [at, kind] = positions[record.kind][record.state] ?? [0, "wait"];
  return { at, kind: record.held && kind === "run" ? "warn" : kind };
}

// ended reports whether nothing of a record changes without the operator.
export const ended = (record) => ["good", "bad", "warn"].includes(progress(record).kind) && !record.held && record.refundState !== "REFUNDING";

const names = ["sent", "confirm", "pay", "arrive"];

// steps are the steps of a record: [{ name, kind }], with the kinds of a timeline. What does not follow any more is left out.
export function steps(record) {
  const { at, kind } = progress(record);
  const list = [{ name: "sent", kind: "done" }];
  for (let i = 0; i < 3; i++) {
    if (i < at) list.push({ name: names[i + 1], kind: "done" });
    else if (i > at) list.push({ name: names[i + 1], kind: "wait" });
    else list.push({ name: names[i + 1], kind: kind === "run" ? "now" : kind });
  }
  const stop = kind === "bad" || kind === "warn";
  const shown = stop && !record.held ? list.slice(0, at + 2) : list;
  if (record.refundState) shown.push({ name: "refund", kind: record.refundState === "REFUNDED" ? "done" : record.held ? "warn" : "now" });
  return shown;
}

// noBlock reports whether a deposit is in no block: it waits in a pool, or its block has left the chain.
export const noBlock = (record) => record.kind === "deposit" && record.state === "OPPOSITE_PROCESSING" && !record.inTxConfirmedCount;

// remaining is the expected time in seconds until a record arrives, by measured times; null where it is not known or has arrived.
export function remaining(record) {
  const { at, kind } = progress(record), { network, token } = record;
  const [total, block] = record.kind === "deposit" ? [token.depositSeconds, network.sourceBlockSeconds] : [token.withdrawSeconds, network.exchangeBlockSeconds];
  if (!total || !block || kind !== "run" || noBlock(record)) return null;
  const wanted = record.inTxConfirmationCount ?? 0;
  const pay = Math.max(total - wanted * block, 0);
  return at === 0 ? Math.max(total - (record.inTxConfirmedCount ?? 0) * block, pay) : at === 1 ? pay : pay / 2;
}

// late reports whether a record has taken far longer than expected.
export function late(record, now) {
  const total = record.kind === "deposit" ? record.token.depositSeconds : record.token.withdrawSeconds;
  return Boolean(total) && progress(record).kind === "run" && now - Number(record.dateTime) > 1000 * (3 * total + 1800);
}

// advice names the message for a record that needs one: what happened, and what to do. `open` is whether its channel is.
export function advice(record, { now, open }) {
  const { kind } = progress(record);
  if (record.refundState === "REFUNDED") return "refunded";
  if (record.held) return "held";
  if (record.refundState === "REFUNDING") return "refunding";
  if (record.state === "BELOW_MINIMUM") return "below";
  if (record.state === "OPPOSITE_CONFIRMED_FAIL") return "sourceFailed";
  if (record.state === "TOT_EXCEED_THE_LIMIT") return "aboveLimit";
  if (record.state === "WRONG_WITHDRAW_ADDRESS") return "wrongAddress";
  if (kind === "bad") return "failed";
  if (kind === "run" && !open) return "paused";
  if (noBlock(record)) return "noBlock";
  return late(record, now) ? "late" : null;
}

// check finds what forbids an amount: a key of the page's messages with a value, or null. For a withdrawal net is what arrives. What is null is
// not known, or has no bound.
export function check({ net, fee, minimum, maximum, balance }) {
  if (net < minimum) return ["belowMinimum", minimum];
  if (maximum !== null && net > maximum) return ["aboveMaximum", maximum];
  if (balance !== null && fee !== null && net + fee > balance) return ["aboveBalance", balance];
  return null;
}

// feesOf are the fees of so many withdrawals in smallest units; null where they depend on the amounts or the network.
export const feesOf = (n, { fee }) => (fee?.kind === "flat" ? BigInt(fee.amount ?? 0) * BigInt(n) : null);

// withdrawalsFor is the number of withdrawals that take an amount out again: the maximum bounds what arrives, and a flat fee is paid in addition.
export function withdrawalsFor(units, { maximumWithdrawAmount, fee }) {
  const maximum = BigInt(maximumWithdrawAmount), each = maximum + (fee?.kind === "flat" ? BigInt(fee.amount ?? 0) : 0n);
  return maximum === 0n ? 1 : Number((units + each - 1n) / each);
}

// sums are the money of a record: what was sent and what is received, in smallest units of the token. Null is not known, or does not come. The fee
// of a withdrawal is returned with it if the refund is the full amount.
export function sums(record) {
  const net = BigInt(record.amount), fee = BigInt(record.fee), sent = net + fee;
  const comes = ["run", "good"].includes(progress(record).kind);
  const refund = record.refundAmount ? BigInt(record.refundAmount) : null;
  return { sent, fee: refund !== null && refund >= sent ? 0n : fee, received: comes ? net : null, refund };
}

const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// csv is a table for spreadsheets.
export const csv = (rows) => rows.map((row) => row.map((value) => cell(String(value))).join(",") + "\r\n").join("");
