// Checks what the built pages decide, on their sources: node pages.mjs <directory of the sources>
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const from = (file) => import(process.argv[2] + "/" + file);
const amount = await from("base/amount.js");
const calls = await from("base/vite.js");
const gateway = await from("bridge/gateway.js");
const exchange = await from("trade/exchange.js");
const { formatMessage } = await from("base/messages.js");
const bridgeMessages = (await from("bridge/messages.js")).messages;
const tradeMessages = (await from("trade/messages.js")).messages;
const { shared } = await from("base/messages.js");
const labels = await from("console/labels.js");
const consoleMessages = (await from("console/messages.js")).messages;
const money = await from("console/money.js");
const route = await from("console/route.js");
const demo = await from("console/demo.js");
const keys = await from("keys/exchange.js");
const names = await from("base/names.js");
const startMessages = (await from("start/messages.js")).messages;
const keysMessages = (await from("keys/messages.js")).messages;
const reference = await from("api/document.js");
const { messages: apiMessages, summaries } = await from("api/messages.js");

// What is typed is an exact number of smallest units, or nothing.
for (const [text, units] of Object.entries({ 1: 1_000_000n, "1.5": 1_500_000n, ".000001": 1n, "0": 0n, " 7 ": 7_000_000n, "1,000.10": 1_000_100_000n, "1.0000000": 1_000_000n, "2.": 2_000_000n })) {
  assert.equal(amount.parse(text, 6), units, text);
}
for (const bad of ["", ".", "1.0000001", "-1", "1e3", "0x10", "1,5", "0,125", "1,23,456", "1 0", "9".repeat(61), "１"]) assert.equal(amount.parse(bad, 6), null, bad);
for (const decimals of [0, 6, 18]) for (const units of [0n, 1n, 10n ** 18n, 123_456_789n, 2n ** 256n - 1n]) {
  if (amount.plain(units, decimals).length <= 60) assert.equal(amount.parse(amount.plain(units, decimals), decimals), units);
}
assert.equal(amount.shown(1_234_567_890_123_456_789n, 15, 2), "1,234.56", "cut, not rounded");
assert.equal(amount.shown(-1_500n, 3), "-1.5");
assert.equal(amount.shown(999_999n, 6, 2), "0.99");
assert.deepEqual([amount.product("0.1", "0.2"), amount.product("125909.6", "0.01"), amount.product("3", "0")], ["0.02", "1259.096", "0"]);
assert.deepEqual([amount.product("125,648.2", " 2 "), amount.product("1.", ".5")], ["251296.4", "0.5"], "as they may be typed");
assert.deepEqual([amount.compare("1.10", "1.1"), amount.compare("0.9", "1"), amount.compare("10", "9.99")], [0, -1, 1]);

// The comment of both binding types, byte by byte; lengths count bytes.
assert.equal(calls.hex(gateway.comment(0, "0xAb", "")), "0bc300" + "30784162");
assert.equal(calls.hex(gateway.comment(1, "addr", "12")), "0bc301" + "04" + "61646472" + "02" + "3132");
assert.equal(calls.hex(gateway.comment(1, "a", "")), "0bc301" + "01" + "61" + "00");
assert.equal(calls.hex(gateway.comment(1, "a", "é")), "0bc301" + "0161" + "02" + "c3a9");
assert.throws(() => gateway.comment(1, "a".repeat(256), ""), RangeError);
const token = { tokenId: "tti_1", decimals: 6 };
assert.equal(calls.hex(calls.withdrawCall("tti_5649544520544f4b454e6e40", 258n)), "00365d82" + "5649544520544f4b454e".padStart(64, "0") + "0102".padStart(64, "0"));
assert.equal(calls.paymentLink("vite_1", token, 1_500_000n, new Uint8Array([0xfb, 0xff, 0])), "vite:vite_1?tti=tti_1&amount=1.5&data=-_8A");

// What forbids a withdrawal: minimum and maximum bound what arrives, the balance what leaves.
const rules = { minimum: 10n, maximum: 100n, balance: 50n, fee: 5n };
const check = (net, more = {}) => gateway.check({ ...rules, net, ...more })?.[0] ?? null;
assert.deepEqual([check(9n), check(10n), check(45n), check(46n), check(101n), check(101n, { maximum: null, balance: null })], ["belowMinimum", null, null, "aboveBalance", "aboveMaximum", null]);

// A route names view, token, address and record; links of before have no view. What is missing is what was used last.
const place = await from("bridge/place.js");
const served = [{ name: "eth", tokens: [{ tokenId: "tti_a" }, { tokenId: "tti_b" }] }, { name: "bsc", tokens: [{ tokenId: "tti_a" }] }, { name: "empty", tokens: [] }];
const { parse: parseRoute } = await from("base/route.js");
const placed = (link, last) => {
  const { view, kind, network, token, hash, address } = place.placeOf(parseRoute(link), served, last);
  return [view, kind, network?.name, token?.tokenId, hash, address];
};
assert.deepEqual(placed("#/withdraw/bsc/tti_a?address=vite_1"), ["withdraw", "deposit", "bsc", "tti_a", "", "vite_1"]);
assert.deepEqual(placed("#eth/tti_b"), ["deposit", "deposit", "eth", "tti_b", "", ""], "a link of before");
assert.deepEqual(placed("", "bsc/tti_a"), ["deposit", "deposit", "bsc", "tti_a", "", ""]);
assert.deepEqual(placed("#/history", "gone/tti_x"), ["history", "deposit", "eth", "tti_a", "", ""]);
assert.deepEqual(placed("#/record/withdraw/eth/tti_b/0xab?address=vite_1"), ["record", "withdraw", "eth", "tti_b", "0xab", "vite_1"]);

// What a wallet of the browser is asked to send, byte by byte, and what its errors mean. An unknown error of sending is no failure.
const evm = await from("bridge/evm.js");
const payment = { from: "0xf", chainId: 1337, to: "0x1111111111111111111111111111111111111111", units: 5_000_000n };
assert.deepEqual(evm.transaction({ ...payment, asset: "native", label: "" }), { from: "0xf", chainId: "0x539", to: payment.to, value: "0x4c4b40" });
assert.equal(evm.transaction({ ...payment, asset: "native", label: "7QK2XB4M" }).data, "0x37514b325842344d");
assert.deepEqual(evm.transaction({ ...payment, asset: "0xda1", label: "7QK2XB4M" }), { from: "0xf", chainId: "0x539", to: "0xda1", value: "0x0",
  data: "0xa9059cbb" + "0".repeat(24) + "1".repeat(40) + "4c4b40".padStart(64, "0") + "37514b325842344d" }, "the example of docs/gateway-api.md");
assert.deepEqual([evm.rescaled(15n, 6, 8), evm.rescaled(1500n, 8, 6), evm.rescaled(1501n, 8, 6)], [1500n, 15n, null]);
assert.deepEqual([{ code: 4001 }, { code: -32000, message: "insufficient funds for gas" }, { code: 4902 }, { code: -32603, message: "boom" }, { code: -32002 }, { code: 4900 }, null].map((e) => evm.refusal(e, true)),
  ["walletRejected", "walletGas", "walletNoChain", "walletUnknown", "walletUnknown", "walletUnknown", "walletUnknown"], "a late node may have taken it");
assert.deepEqual([-32002, 4901].map((code) => evm.refusal({ code })), ["walletBusy", "walletAway"]);
assert.equal(evm.refusal({ code: -32603 }), "walletFault");

// The network's cost is an estimate: a wallet that does not answer, or answers nothing, has none.
const costOf = (answers) => evm.networkCost({ ...payment, asset: "native", label: "", account: "0xf", wallet: { provider: { request: async ({ method }) => (method in answers ? answers[method] : Promise.reject(new Error("none"))) } } });
assert.deepEqual([await costOf({ eth_estimateGas: "0x5208", eth_gasPrice: "0x3b9aca00" }), await costOf({ eth_gasPrice: "0x1" }), await costOf({ eth_estimateGas: null, eth_gasPrice: "0x1" })], [21_000n * 10n ** 9n, null, null]);

// A value is shown by a fresh rate alone, and cut, not rounded.
const { valueOf, worth } = await from("bridge/rates.js");
const rate = { usdRate: 2500.5, cnyRate: null, stale: false };
assert.deepEqual([valueOf(1_234_567n, 6, rate, "USD"), valueOf(1n, 6, rate, "CNY"), valueOf(1n, 0, { ...rate, stale: true }, "USD"), valueOf(1n, 0, null, "USD"), valueOf(10n ** 9n, 0, { usdRate: 1e-7, stale: false }, "USD")],
  ["3087.03", null, null, null, "100"]);
const valueAt = (usdRate) => valueOf(1n, 0, { usdRate, stale: false }, "USD");
assert.deepEqual([0.0246913, 0.02, 0.999, 1e-10].map(valueAt), ["0.0246", "0.02", "0.999", "0"], "three digits below 1");
assert.deepEqual([worth(1n, 0, { usdRate: 0.02, stale: false }, "en"), worth(1n, 0, { usdRate: 1e-10, stale: false }, "en"), worth(3n, 0, { usdRate: 2, stale: false }, "en")], ["≈ $0.0200", "< $0.00000001", "≈ $6.00"]);

// Each state of a record has a word in both languages and a step; unknown ones are shown as they are.
for (const [kind, states] of Object.entries({
  deposit: ["OPPOSITE_PROCESSING", "OPPOSITE_CONFIRMED", "OPPOSITE_CONFIRMED_FAIL", "BELOW_MINIMUM", "TOT_PROCESSING", "TOT_CONFIRMED", "FAILED"],
  withdraw: ["TOT_PROCESSING", "TOT_CONFIRMED", "TOT_EXCEED_THE_LIMIT", "WRONG_WITHDRAW_ADDRESS", "OPPOSITE_PROCESSING", "OPPOSITE_CONFIRMED", "FAILED"],
})) for (const state of states) {
  assert.ok(bridgeMessages.en[`${kind}_${state}`] && bridgeMessages.zh[`${kind}_${state}`], state);
  assert.notEqual(gateway.progress({ kind, state }).kind, "wait", state);
}
assert.equal(gateway.progress({ kind: "deposit", state: "NEW" }).kind, "wait");
const timed = { network: { sourceBlockSeconds: 12, exchangeBlockSeconds: 1 }, token: { depositSeconds: 12 * 12 + 60, withdrawSeconds: 180 + 24 } };
const deposited = (more) => ({ ...timed, kind: "deposit", inTxConfirmedCount: 3, inTxConfirmationCount: 12, dateTime: "1000000", state: "OPPOSITE_PROCESSING", ...more });
assert.deepEqual([{}, { inTxConfirmedCount: 0 }, { state: "OPPOSITE_CONFIRMED" }, { state: "TOT_PROCESSING" }, { state: "TOT_CONFIRMED" }, { state: "OPPOSITE_CONFIRMED", held: true }, { network: {} }].map((more) => gateway.remaining(deposited(more))),
  [9 * 12 + 60, null, 60, 30, null, null, null]);
const stepsOf = (more) => gateway.steps(deposited(more)).map(({ name, kind }) => name + " " + kind).join(", ");
assert.equal(stepsOf({}), "sent done, confirm now, pay wait, arrive wait");
assert.equal(stepsOf({ state: "TOT_CONFIRMED" }), "sent done, confirm done, pay done, arrive done");
assert.equal(stepsOf({ state: "OPPOSITE_CONFIRMED", held: true }), "sent done, confirm done, pay warn, arrive wait");
assert.equal(stepsOf({ state: "BELOW_MINIMUM" }), "sent done, confirm done, pay warn");
assert.equal(stepsOf({ state: "FAILED", refundState: "REFUNDED" }), "sent done, confirm done, pay bad, refund done");
const adviceOf = (more, open = true, now = 1_000_000) => gateway.advice(deposited(more), { now, open });
for (const [more, open, now, want] of [
  [{}, true, 1_000_000, null], [{}, false, 1_000_000, "paused"], [{}, true, 1e10, "late"], [{ inTxConfirmedCount: 0 }, true, 1_000_000, "noBlock"], [{ state: "OPPOSITE_CONFIRMED", held: true }, false, 1e10, "held"],
  [{ state: "BELOW_MINIMUM" }, true, 0, "below"], [{ state: "OPPOSITE_CONFIRMED_FAIL" }, true, 0, "sourceFailed"], [{ state: "FAILED" }, true, 0, "failed"], [{ state: "FAILED", refundState: "REFUNDING" }, true, 0, "refunding"],
  [{ state: "FAILED", refundState: "REFUNDED" }, false, 0, "refunded"], [{ state: "TOT_CONFIRMED" }, false, 1e10, null], [{ kind: "withdraw", state: "TOT_EXCEED_THE_LIMIT" }, true, 0, "aboveLimit"], [{ kind: "withdraw", state: "WRONG_WITHDRAW_ADDRESS" }, true, 0, "wrongAddress"],
]) {
  assert.equal(adviceOf(more, open, now), want, JSON.stringify(more));
  if (want) assert.ok(bridgeMessages.en["advice_" + want], want);
}
assert.deepEqual([gateway.ended(deposited({})), gateway.ended(deposited({ held: true })), gateway.ended(deposited({ state: "BELOW_MINIMUM" })), gateway.ended(deposited({ state: "FAILED", refundState: "REFUNDING" }))], [false, false, true, false]);

// What a large deposit needs to leave again, and the money of a record: a refused withdrawal is returned with its fee.
const bounded = { maximumWithdrawAmount: "1000", fee: { kind: "flat", amount: "1" } };
assert.deepEqual([1001n, 1002n, 10_000n].map((units) => gateway.withdrawalsFor(units, bounded)), [1, 2, 10]);
assert.deepEqual([gateway.withdrawalsFor(2001n, { ...bounded, fee: { kind: "network" } }), gateway.withdrawalsFor(10n ** 9n, { maximumWithdrawAmount: "0" })], [3, 1]);
assert.deepEqual([gateway.feesOf(10, bounded), gateway.feesOf(10, { fee: { kind: "network" } })], [10n, null]);
const moneyOf = (more) => gateway.sums({ kind: "withdraw", amount: "20", fee: "1", state: "OPPOSITE_CONFIRMED", ...more });
assert.deepEqual(moneyOf({}), { sent: 21n, fee: 1n, received: 20n, refund: null });
assert.deepEqual(moneyOf({ state: "TOT_EXCEED_THE_LIMIT", refundState: "REFUNDING", refundAmount: "21" }), { sent: 21n, fee: 0n, received: null, refund: 21n });
assert.deepEqual(moneyOf({ state: "FAILED", refundState: "REFUNDED", refundAmount: "20" }), { sent: 21n, fee: 1n, received: null, refund: 20n }, "a payout that failed on the chain is returned less its fee");
assert.equal(moneyOf({ state: "TOT_CONFIRMED", held: true }).received, null);
assert.equal(gateway.csv([["a", 'b"c'], ["d,e", 1]]), 'a,"b""c"\r\n"d,e",1\r\n');
assert.deepEqual([gateway.withAmount("bitcoin:bc1q", 150_000_000n, 8), gateway.withAmount("bitcoin:bc1q", null, 8)], ["bitcoin:bc1q?amount=1.5", "bitcoin:bc1q"]);
for (let status = 0; status <= 10; status++) assert.ok(tradeMessages.en["status_" + status] && tradeMessages.zh["status_" + status]);

// No message hides another one of its name.
for (const page of ["api", "base", "bridge", "console", "keys", "start", "trade"]) {
  for (const language of readFileSync(new URL(`${process.argv[2]}/${page}/messages.js`), "utf8").split(/^  zh: \{/m)) {
    const used = [...language.matchAll(/(?:[{,] +|^ +)(\w+): (?=["`[(])/gm)].map(([, name]) => name);
    assert.deepEqual(used.filter((name, i) => used.indexOf(name) !== i), [], page);
  }
}

// Both languages say the same things with the same values in them.
for (const messages of [bridgeMessages, tradeMessages, keysMessages, startMessages, apiMessages, consoleMessages, shared]) {
  assert.deepEqual(Object.keys(messages.zh).sort(), Object.keys(messages.en).sort());
  for (const [key, text] of Object.entries(messages.en)) {
    const holes = (t) => [...t.matchAll(/\{\w+\}/g)].map(String).sort();
    assert.deepEqual(holes(messages.zh[key]), holes(text), key);
  }
}
assert.equal(formatMessage("{a} of {b}", { a: 1 }), "1 of {b}");
assert.deepEqual(["钱包", "MetaMask"].map((name) => formatMessage("用 {name} 付款", { name })), ["用钱包付款", "用 MetaMask 付款"]);

// The public sample of a signature.
const sample = { amount: "10", key: "11111111", price: "0.1", side: "0", symbol: "VX_ETH-000", timestamp: "1" };
assert.equal(exchange.line(sample), "amount=10&key=11111111&price=0.1&side=0&symbol=VX_ETH-000&timestamp=1");
const { createHmac } = await import("node:crypto");
assert.equal(await exchange.sign("secret é", exchange.line(sample)), createHmac("sha256", "secret é").update(exchange.line(sample)).digest("hex"));

// What an order locks and yields, with its fee: the rows of docs/exchange-rules.md 2.5 among them.
const order = await from("trade/order.js");
const asksOf = [["100", "1"], ["101", "1"], ["110", "2"]], sweeps = (side, price, quantity, levels = asksOf) => { const f = order.fillsNow(side, price, quantity, levels); return f && [f.quantity, f.average, f.worst, f.impact]; };
assert.deepEqual(sweeps(0, "99", "1"), null, "it rests");
assert.deepEqual(sweeps(0, "105", "1.5"), ["1.5", "100.333333333333", "101", null]);
assert.deepEqual(sweeps(0, "105", "9"), ["2", "100.5", "101", null], "the rest waits in the book");
assert.deepEqual(sweeps(0, "120", "3"), ["3", "103.666666666666", "110", "3.66"], "more than 1 % worse than the best");
assert.deepEqual(sweeps(0, "101", "3", asksOf.slice(0, 2)), ["2", "100.5", "101", "0.5"], "it takes every level");
assert.deepEqual(sweeps(1, "90", "2", [["100", "1"], ["95", "1"]]), ["2", "97.5", "95", "2.5"]);

const vite = { decimals: 18, rate: 200n, pricePrecision: 6, quantityPrecision: 8 };
const costs = (...of) => Object.values(order.cost(...of)).map(String);
assert.deepEqual(costs(order.buy, "50,000", "1", { ...vite, decimals: 0 }), ["50000", "100", "50100"], "a total of 50,000 locks 50,100");
assert.deepEqual(costs(order.sell, "50000", "1", { ...vite, decimals: 0 }), ["50000", "100", "49900"]);
assert.deepEqual(costs(order.buy, "0.00000182", "100", { decimals: 8, rate: 250n }), ["18200", "46", "18246"], "45.5 is rounded up");
assert.deepEqual(costs(order.buy, "0.00000001", "1000", { decimals: 8, rate: 200n }), ["1000", "2", "1002"]);
assert.deepEqual(costs(order.buy, "3.5", "10", { decimals: 3, rate: 300n }), ["35000", "105", "35105"]);
assert.deepEqual([order.rateOf(0.0025), order.rateOf(0), order.rateOf("0.00198"), order.highest(220n, 250n)], [250n, 0n, 198n, 250n]);
for (const [available, price] of [["200000", "125000"], ["50100", "50000"], ["0.00000001", "3"], ["123456.78901234", "0.000007"]]) {
  const most = order.most(order.buy, available, price, vite), more = amount.plain(amount.parse(most, 8) + 1n, 8), have = amount.parse(available, 18);
  assert.ok((amount.parse(most, 8) === 0n || order.cost(order.buy, price, most, vite).total <= have) && order.cost(order.buy, price, more, vite).total > have, `${most} for ${available}`);
}
assert.equal(order.most(order.buy, "50100", "50000", vite), "1", "all of it, with the fee");
assert.equal(order.most(order.sell, "1.123456789", "5", vite), "1.12345678");
assert.equal(order.fitting(order.sell, amount.parse("49900", 18), "50000", vite), "1");
assert.deepEqual([order.share("1", 25, 8), order.share("0.00000003", 50, 8), order.percentOf("0.5", "1"), order.percentOf("2", "1"), order.percentOf("1", "0")], ["0.25", "0.00000001", 50, 100, 0]);
assert.deepEqual([order.crosses(order.buy, "100", "100"), order.crosses(order.buy, "99.9", "100"), order.crosses(order.sell, "100", "100"), order.crosses(order.sell, "100.1", "100"), order.crosses(order.buy, "1", undefined)], [true, false, true, false, false]);
const worse = (side, price, ...references) => order.worse(side, price, references)?.percent ?? null;
assert.deepEqual([worse(order.buy, "105", "100"), worse(order.buy, "105.01", "100"), worse(order.sell, "95", "100"), worse(order.sell, "94.99", "100"), worse(order.buy, "50", "100"), worse(order.buy, "800000", "100", null)], [null, "5.01", null, "5.01", null, "799900"]);
assert.equal(worse(order.buy, "106", "105", "100"), "6", "the best opposite order counts too");
const faultsOf = (more) => {
  const found = order.check({ side: order.buy, price: "100", quantity: "10", available: "1002", least: "100", postOnly: false, opposite: "101", ...more }, vite);
  return Object.fromEntries(Object.entries(found).map(([field, [message]]) => [field, message]));
};
for (const [more, want] of [
  [{}, {}], [{ available: "1001.99999999" }, { total: "poor" }], [{ price: "", quantity: "" }, {}], [{ price: "1.0000001" }, { price: "digits" }], [{ price: "0" }, { price: "digits" }],
  [{ price: "1234567890123" }, { price: "tooHigh" }], [{ quantity: "1e3" }, { quantity: "digits" }], [{ price: "101", postOnly: true, available: "2000" }, { price: "crossesAsk" }], [{ price: "101", available: "2000" }, {}],
  [{ side: order.sell, opposite: "100", postOnly: true, available: "10" }, { price: "crossesBid" }], [{ side: order.sell, available: "9.99999999" }, { quantity: "poor" }],
  [{ quantity: "0.998004", available: "1000" }, {}], [{ quantity: "0.998", available: "1000" }, { total: "small" }], [{ side: order.sell, quantity: "0.99999999" }, { total: "small" }], [{ available: null, quantity: "99" }, {}],
]) assert.deepEqual(faultsOf(more), want, JSON.stringify(more));
for (const key of ["digits", "tooHigh", "small", "poor", "crossesAsk", "crossesBid"]) assert.ok(tradeMessages.en[key], key);

const inOrder = (...list) => order.newest(list.map(([status, executedQuantity]) => ({ status, executedQuantity }))).status;
assert.deepEqual([inOrder([3, "0"], [1, "0"]), inOrder([1, "0"], [3, "0"]), inOrder([5, "1"], [3, "0"]), inOrder([7, "1"], [5, "1"])], [3, 3, 5, 7], "an older answer changes nothing");

// An order whose answer was lost keeps its client ID over a reload: the same order is sent with it, another one is not.
globalThis.sessionStorage = { getItem: (key) => sessionStorage[key] ?? null, setItem: (key, value) => { sessionStorage[key] = value; } };
const draft = await from("trade/draft.js");
const lost = draft.attemptOf({ address: "vite_1", symbol: "ETH-000_VITE", side: order.buy, price: "100", quantity: "0.03" });
assert.equal(draft.isUnknown(lost), false, "nothing was sent");
draft.keepDraft(lost.symbol, { price: "100", quantity: "0.030" });
draft.holdAttempt(lost);
draft.holdAttempt(lost);
draft.keepDraft("VITE_BTC-000", { price: "1", quantity: "" });
const reloaded = await from("trade/draft.js?reloaded");
assert.deepEqual(reloaded.draftOf(lost.symbol), { price: "100", quantity: "0.030", attempts: [lost] });
assert.deepEqual([reloaded.isUnknown(lost), reloaded.attemptOf({ ...lost, clientId: "", price: "100.0", quantity: ".030" })], [true, lost]);
for (const other of [{ quantity: "0.031" }, { price: "99" }, { side: order.sell }, { address: "vite_2" }, { symbol: "VITE_BTC-000" }]) assert.notEqual(reloaded.attemptOf({ ...lost, ...other }).clientId, lost.clientId, JSON.stringify(other));
assert.equal(reloaded.sameOrder({ ...lost, quantity: "" }, lost), false);
const second = { ...lost, clientId: "id-2", quantity: "1" };
reloaded.holdAttempt(second);
assert.deepEqual([reloaded.waiting(lost.symbol, "vite_1"), reloaded.waiting(lost.symbol, "vite_2")], [[second, lost], []], "the newest first");
reloaded.dropAttempt(second);
reloaded.dropAttempt(lost);
assert.notEqual(reloaded.attemptOf(lost).clientId, lost.clientId, "its outcome is known");
assert.deepEqual((await from("trade/draft.js?again")).draftOf(lost.symbol), { price: "100", quantity: "0.030", attempts: [] });

// Levels of the book: merged so that none looks better than it is, exact sums.
const levels = await from("trade/levels.js");
assert.deepEqual(levels.stepsOf(1).map(levels.stepText), ["0.1", "1", "10", "100"]);
assert.deepEqual(levels.merged([["125000.11", "1"], ["125000.19", "0.2"], ["125000.21", "1"]], 1, true), [["125000.2", "1.2"], ["125000.3", "1"]]);
assert.deepEqual(levels.merged([["19", "1"], ["11", "2"], ["9", "3"]], -1, false), [["10", "3"], ["0", "3"]]);
assert.deepEqual(levels.sums([["2", "0.1"], ["1", "0.2"]]).map((l) => l.sum), ["0.1", "0.3"]);
assert.deepEqual(levels.middleOf({ asks: [["101", "1"]], bids: [["100", "1"]] }), { price: "100.5", spread: "1", percent: 1 });
assert.equal(levels.middleOf({ asks: [], bids: [["100", "1"]] }), null);

// What the chart draws.
const series = await from("trade/series.js");
const list = [1, 2, 3, 6].map((close, i) => ({ time: i * 60, close }));
assert.deepEqual(series.average(list, 2), [{ time: 60, value: 1.5 }, { time: 120, value: 2.5 }, { time: 180, value: 4.5 }]);
assert.deepEqual(series.put(list, { time: 180, close: 7 }).map((b) => b.close), [1, 2, 3, 7]);
assert.deepEqual([series.put(list, { time: 240, close: 8 }).length, series.put(list, { time: 60, close: 8 })], [5, list]);
const bar = (time, close) => ({ time, open: 1, high: 9, low: 1, close, volume: 5 }), drawn = (bars, now) => series.filled(bars, 60, now).map((b) => [b.time, b.open, b.close, b.volume].join(" "));
assert.deepEqual(drawn([bar(60, 2), bar(240, 3)], 361), ["60 1 2 5", "120 2 2 0", "180 2 2 0", "240 1 3 5", "300 3 3 0", "360 3 3 0"], "an interval without a trade is a flat candle");
assert.deepEqual([drawn([], 999), drawn([bar(60, 2)], 0), drawn([bar(60, 2)], 119)], [[], ["60 1 2 5"], ["60 1 2 5"]], "a clock that is behind removes nothing");
const long = series.filled([bar(60, 2), bar(60 * 5000, 3)], 60, 60 * 5001);
assert.deepEqual([long.length, long[0].time, long.at(-2).close, long.at(-1).time], [1000, 60 * 4002, 3, 60 * 5001], "their number is bounded");
const rests = (price, quantity, side = 0) => ({ side, price, quantity, executedQuantity: "1" });
assert.deepEqual(series.nearOrders([rests("100", "3"), rests("100", "2"), rests("100", "2", 1), rests("80", "9")], 100), [{ side: 0, price: 100, quantity: 3 }, { side: 1, price: 100, quantity: 1 }], "orders far away have no label");
assert.deepEqual([series.barAt(list, 119), series.barAt(list, 999), series.barAt(list, -1)], [60, 180, null]);

const traded = (ms, side, price, quantity) => ({ ms, side, price, quantity });
assert.deepEqual(series.ownTrades(list, [traded(125_000, 0, "3", "1"), traded(-1, 0, "9", "9"), traded(61_000, 1, "2", "1"), traded(121_000, 0, "1", "3"), traded(122_000, 1, "4", "0.5")]), [
  { time: 60, side: 1, count: 1, quantity: 1, average: 2 }, { time: 120, side: 0, count: 2, quantity: 4, average: 1.5 }, { time: 120, side: 1, count: 1, quantity: 0.5, average: 4 },
]);

// What people put between the digits of an order is not sent.
const sent = [];
globalThis.location = { pathname: "/trade" };
globalThis.fetch = async (url, options) => {
  sent.push(options.body);
  return { status: 200, json: async () => ({ code: 0, data: 0 }) };
};
const signedAt = [];
const session = new exchange.Session({ address: "a", key: "k", secret: "s" }), typed = { symbol: "VX_VITE", side: 1, price: "125,648.2", quantity: " 2. ", clientId: "id-1" };
await session.place(typed, (at) => signedAt.push(at, sent.length));
assert.match(sent[1], /^amount=2&clientOrderId=id-1&key=k&price=125648\.2&side=1&/);
assert.ok(signedAt.length === 2 && sent[1].includes("&timestamp=" + signedAt[0] + "&") && signedAt[1] === 1, "the time in the signature is known before the order is sent");

// An order was never placed only if it can no longer arrive and a test shows that its client ID belongs to no order.
for (const [more, age, test, want] of [
  [{}, 150_000, { code: 0 }, true], [{}, 149_999, { code: 0 }, false], [{ at: undefined }, 900_000, { code: 0 }, false], [{ key: "other" }, 900_000, { code: 0 }, false],
  [{}, 900_000, { code: 1004, msg: "clientOrderId id-1 belongs to order 1" }, false], [{}, 900_000, { code: 1007, msg: "funds" }, true], [{}, 900_000, { code: 1006, msg: "minimum" }, true],
  [{}, 900_000, { code: 1002, msg: "Invalid key" }, false], [{}, 900_000, { code: 1003, msg: "frequent" }, false], [{}, 900_000, { code: 1005, msg: "away" }, false],
]) {
  globalThis.fetch = async (url) => ({ status: 200, json: async () => (/\/time\?/.test(url) ? { code: 0, data: 1_000 + age } : test) });
  assert.equal(await session.neverPlaced({ ...typed, key: "k", at: 1_000, ...more }), want, JSON.stringify([more, age, test]));
}

const clocked = (more) => Object.assign(new exchange.Session({ address: "a" }), more);
assert.deepEqual([-9e9, 0, 60_000, 149_000, 150_000, 900_000].map((age) => clocked({ ahead: 0 }).minutesOf({ at: Date.now() - age })), [3, 3, 2, 1, 0, 0]);
assert.deepEqual([clocked({}).minutesOf({ at: 1 }), clocked({ ahead: 0, seen: -900_000 }).minutesOf({ at: Date.now() - 900_000 })], [3, 3], "the computer's clock may be wrong");

// Where in the console somebody is: what a link says is what it leads to.
for (const [link, where] of [
  ["", { view: "overview", name: "", query: {} }], ["#/held?unattributed=true", { view: "attention", name: "", query: { unattributed: "true" } }], [route.to("records", "0x/ä"), { view: "records", name: "0x/ä", query: {} }],
  [route.to("records", "", { state: "held", hash: "", before: 7 }), { view: "records", name: "", query: { state: "held", before: "7" } }],
]) assert.deepEqual(route.parse(link), where, link);

// What amounts of the console are of, on both chains; what is not configured has no decimals.
const networks = money.grouped([{ network: "eth", source: "eth", exchange: "vite", sourceExplorer: "https://s/{$tx}", exchangeExplorer: "", coinDecimals: 18,
  token: "tti_1", symbol: "DAI-000", decimals: 6, asset: "0xda1", assetSymbol: "DAI", assetDecimals: 18 }]);
assert.deepEqual(money.assetOf(networks, "eth", "tti_1"), { symbol: "DAI-000", decimals: 6 });
assert.deepEqual(money.assetOf(networks, "eth", "native"), { symbol: null, decimals: 18 });
assert.deepEqual(money.assetOf(networks, "eth", "0xda1"), { symbol: "DAI", decimals: 18 });
assert.deepEqual([money.assetOf(networks, "eth", "0xother"), money.assetOf(networks, "bsc", "native")], [null, null]);
assert.deepEqual(money.chainsOf(networks, { network: "eth", direction: "deposit", asset: "0xda1" }), { from: "eth", to: "vite" });
assert.deepEqual(money.chainsOf(networks, { network: "eth", direction: "withdrawal", asset: "tti_1" }), { from: "vite", to: "eth" });
assert.deepEqual([money.linkTo(networks, "eth", "0x1"), money.linkTo(networks, "vite", "0x1"), money.networkOf(networks, "vite", "tti_1")], ["https://s/0x1", "", "eth"]);

// A record's way: what has happened, what happens now, what comes.
const record = (more) => ({ id: 1, direction: "deposit", state: "final", reason: "", token: "tti_1", incident: "", lost: "", inTx: "0x1", outTx: "", refundTx: "", seen: "2026-01-01T00:00:00Z", ...more });
const pay = (purpose, state) => ({ id: 7, purpose, state, chain: "vite", attempts: state === "bound" || state === "paid" ? [{ at: "2026-01-01 00:01:00.000", hash: "0x2" }] : [] });
const wayOf = (r, payments, language = "en", history = []) => labels.way({ record: r, payments, history, in: { chain: "eth", confirmations: 1, wanted: 2 } }, "vite", { ...consoleMessages[language], language });
for (const [r, payments, kinds] of [
  [record({ state: "seen" }), [], "done now wait wait"],
  [record({}), [pay("credit", "queued")], "done done now wait"],
  [record({}), [pay("credit", "held")], "done done warn wait"],
  [record({}), [pay("receive", "paid"), pay("credit", "bound")], "done done now wait"],
  [record({}), [pay("credit", "void"), pay("refund", "paid")], "done done done done"],
  [record({ state: "refused", reason: "below_minimum" }), [], "done done bad"],
  [record({ state: "refused", reason: "operator" }), [pay("refund", "queued")], "done done warn now wait"],
  [record({ state: "held", reason: "unknown_label", token: "" }), [], "done done warn wait wait"],
  [record({ state: "orphaned" }), [], "done warn wait wait"],
  [record({ incident: "its block has left" }), [pay("credit", "paid")], "done bad done done"],
  [record({ direction: "funding" }), [], "done done"],
]) assert.equal(wayOf(r, payments).map((s) => s.kind).join(" "), kinds, JSON.stringify([r, payments]));
const last = wayOf(record({}), [pay("credit", "paid")], "en", [{ what: "payment 7 paid", at: "2026-01-01 00:02:00.000" }]).at(-1);
assert.deepEqual([last.at, last.tx.hash, last.tx.chain], ["2026-01-01 00:02:00.000", "0x2", "vite"]);

// What a search may mean, whom an order pays, and how it is called.
for (const [text, kinds] of Object.entries({ 17: "id amount", "1.5": "amount", "0x52908400098527886E0F7030069857D2E4169EE7": "address", "0xabcdef": "hash", "abcdef…1234": "hash", "vite_f9ce4c0e38610ac61442fecf8adc30c7c55fa187aba0936acb": "address", bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080: "address", hello: "" })) assert.equal(labels.kindsOf(text).join(" "), kinds, text);
const small = record({ state: "refused", reason: "below_minimum", wallet: "vite_1", from: "0xuser" });
assert.deepEqual([labels.orderLabel("retry", small, consoleMessages.en), labels.orderLabel("retry", record({}), consoleMessages.en)], ["Credit", "Retry"]);
assert.deepEqual([labels.payeeOf("retry", small, []), labels.payeeOf("refund", small, []), labels.payeeOf("retry", small, [{ state: "held", purpose: "refund", payee: "0xother" }])], ["vite_1", "0xuser", "0xother"]);
assert.deepEqual(["0xnew", " 0xnew ", "", " "].map((typed) => labels.payeeOf("refund", small, [], typed)), ["0xnew", "0xnew", "0xuser", "0xuser"]);
assert.deepEqual([labels.payeeOf("credit", record({ wallet: "" }), [], "vite_2"), labels.payeeOf("credit", record({ wallet: "" }), [])], ["vite_2", ""]);
assert.match(labels.adviceOf("zh", "reason", "below_minimum"), /入账/);
assert.equal(labels.eventLabel("zh", "payment", "paid"), "付款已到账");
assert.equal(labels.eventLabel("en", "payment", "new_thing"), "Payment new thing");

for (const order of ["retry", "credit", "refund", "reject", "hold", "reclassify", "write-off", "settle"]) for (const text of ["order_" + order, "lead_" + order]) assert.ok(consoleMessages.en[text] && consoleMessages.zh[text], text);

assert.equal(wayOf(record({ state: "held", reason: "unknown_label" }), [], "zh")[2].name, "已搁置：未知标签");

// What the program says in one word is told in the reader's language, and as it is where nobody has translated it.
assert.deepEqual([labels.codeLabel("zh", "reason", "below_minimum"), labels.codeLabel("en", "reason", "below_minimum"), labels.codeLabel("zh", "reason", "new_reason"), labels.codeLabel("en", "kind", "hot")],
  ["低于最低金额", "below minimum", "new reason", "Hot: pays withdrawals"]);
assert.deepEqual([labels.stateLabel("account", "halted", "zh"), labels.stateLabel("account", "halted"), labels.stateLabel("account", "else", "zh")], [["bad", "已停用"], ["bad", "Halted"], ["wait", "else"]]);
for (const list of Object.values(labels.states)) for (const [kind, en, zh] of Object.values(list)) assert.ok(["wait", "run", "good", "warn", "bad"].includes(kind) && en && /[\u4e00-\u9fff]/.test(zh), en);
const chinese = (text) => !/[A-Za-z]{3,}/.test(text.replace(/`[^`]*`|\{\w+\}|https?:\S+|gatewayd|signer\.limits|signer\.approvals\.\w+|docs\/\S+|HTTPS|UTC/g, ""));
for (const text of [...Object.values(consoleMessages.zh), ...Object.values(labels.chinese).flatMap(Object.values), ...Object.values(labels.refusals)]) assert.ok(chinese(text), text);

// The demo operator's codes are those of every authenticator (RFC 6238, Appendix B, by their last six digits).
const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
for (const [seconds, code] of [[59, "287082"], [1111111109, "081804"], [20000000000, "353130"]]) assert.equal(await demo.codeAt(secret, seconds * 1000), code);
assert.deepEqual(demo.demoOf("#demo=demo:pass_Word-1:" + secret), { name: "demo", password: "pass_Word-1", secret });
for (const other of ["", "#/status", "#demo=demo:x", "#demo=Demo:x:" + secret]) assert.equal(demo.demoOf(other), null);

// The page of API keys: what is signed, and what is read of what was signed.
const agent = "vite_f9ce4c0e38610ac61442fecf8adc30c7c55fa187aba0936acb";
assert.ok(names.isAddress(agent));
for (const bad of ["", "vite_", agent.replace("f9ce", "f9cf"), calls.exchangeContract, agent + "0", agent.toUpperCase(), " " + agent, "0x" + "0".repeat(40)]) assert.ok(!names.isAddress(bad), bad);
assert.equal(keys.challenge(agent, 1614571200, false), agent + "_1614571200");
assert.equal(keys.challenge(agent, 1614571200, true), "remove_" + agent + "_1614571200");
assert.match(keys.command(keys.challenge(agent, 1, true)), /^[A-Za-z0-9_ -]+$/, "needs no quotes in any shell");
const key = "ab".repeat(32), signature = "CD".repeat(64);
const want = { pubKey: key, signature };
assert.deepEqual(keys.signed(" " + key + "\n", signature), want);
assert.deepEqual(keys.signed(`Address: ${agent}\nPublic key: ${key}\nSignature: ${signature}\n`, ""), want);
assert.deepEqual(keys.signed(JSON.stringify({ address: agent, publicKey: key, signature }), "ignored"), want);
const base64 = [Buffer.from(key, "hex").toString("base64"), Buffer.from(signature, "hex").toString("base64")];
assert.deepEqual(keys.signed(...base64), { pubKey: base64[0], signature: base64[1] });
for (const [first, second] of [["", ""], [key, ""], ["", signature], [key + "0", signature], [key, key], ["{", ""], ["{}", ""], ['{"publicKey":1}', ""], ["null", ""]]) {
  assert.equal(keys.signed(first, second), null, first);
}

assert.deepEqual([keys.faulty("x"), keys.faulty(key), keys.placeOf({ message: "Invalid timestamp" }), keys.placeOf({})], ["public", "signature", "text", "send"]);

// What the exchange is asked, and what is made of its answers.
const asked = [];
const answers = (answer) => {
  globalThis.fetch = async (url, options) => {
    asked.push([url, options]);
    return { status: 200, json: async () => { if (answer instanceof Error) throw answer; return answer; } };
  };
  return new keys.Exchange("/test");
};
await answers({ code: 0, data: {} }).issue({ a: "x y", b: "1+1" });
assert.deepEqual([asked[0][0], asked[0][1].method, asked[0][1].body.toString(), asked[0][1].credentials], ["/test/api/v2/agent/key", "POST", "a=x+y&b=1%2B1", "omit"]);
assert.equal(await answers({ code: 0, data: 1614571200999 }).seconds(), 1614571200);
const told = async (answer) => answers(answer).seconds().then(() => assert.fail("it was taken"), (e) => keys.fault(e, { ...shared.en, ...keysMessages.en }));
assert.match(await told({ code: 1002, msg: "Invalid timestamp" }), /has expired/);
assert.equal(await told({ code: 1002, msg: "Invalid address" }), "Invalid address");
assert.match(await told({ code: 1001, msg: "Too frequent request" }), /Too many requests/);
assert.match(await told({ code: 5 }), /refused/);
await assert.rejects(answers(new Error("no JSON")).seconds(), (e) => e.code === undefined && /no JSON/.test(e.message));

// A transaction is recognised by the exchange's own answer.
const attempts = await from("keys/attempts.js"), shown = { info: { agentPledgeAmount: "20" }, pairs: ["VX_VITE"] };
assert.deepEqual([["stake", { before: "10" }], ["stake", { before: "20" }], ["grant VX_VITE", {}], ["grant A_B", {}], ["first", {}]].map(([name, attempt]) => attempts.shows(name, attempt, shown)), [true, false, true, false, false]);

// The reference's examples become values of the service; the document itself stays as it is.
const described = { servers: [{ url: "/api/v2" }, { url: "/test/api/v2" }], components: { securitySchemes: { ApiKey: {} }, parameters: { a: { name: "symbol", example: "A_B" }, b: { name: "limit", example: 1 } } }, paths: { "/x": { get: { security: [{ ApiKey: [] }], parameters: [{ name: "symbol" }, { $ref: "#/a" }] } } } };
const fitted = reference.fits(described, "/test", reference.exchangeValues([{ symbol: "VX_VITE", tradeToken: "tti_1" }]));
assert.deepEqual([reference.withSigning(fitted, "Sign it.").paths["/x"].get.description, fitted.paths["/x"].get.description], ["Sign it.", undefined]);
assert.deepEqual([fitted.components.parameters.a.example, fitted.components.parameters.b.example, fitted.paths["/x"].get.parameters[0].example], ["VX_VITE", 1, "VX_VITE"]);
assert.deepEqual([fitted.components.securitySchemes, fitted.paths["/x"].get.security, described.paths["/x"].get.security], [undefined, undefined, [{ ApiKey: [] }]]);
assert.deepEqual([fitted.servers[0].url, described.servers[0].url, described.components.parameters.a.example], ["/test/api/v2", "/api/v2", "A_B"]);
assert.deepEqual([reference.gatewayValues([{ tokens: [] }, { tokens: [{ tokenId: "tti_2" }] }]), reference.gatewayValues([]), reference.exchangeValues([])], [{ tokenId: "tti_2" }, {}, {}]);

// A topic's fields, and what cannot be in them; what the console shows of a message.
assert.deepEqual(reference.topicsOf({ components: { messages: { commandPush: { examples: [{ name: "market.{symbol}.kline.{interval}", summary: "s", payload: 1 }] } } } }),
  [{ name: "market.{symbol}.kline.{interval}", summary: "s", example: 1, fields: ["symbol", "interval"] }]);
for (const [field, good, bad] of [["symbol", "VX_VITE", "VX"], ["token", "USDT-000", "usdt"], ["address", "vite_" + "a".repeat(50), "vite_1"], ["interval", "hour", "year"], ["step", "8", "9"]])
  assert.deepEqual([reference.wrong(field, good), reference.wrong(field, bad)], [false, true], field);
assert.deepEqual(['{"code":0,"event":"push","topic":"t"}', '{"code":0,"event":"sub"}', '{"code":1002,"event":"error"}'].map((text) => reference.frame(text).kind), ["push", "answer", "fault"]);
assert.equal(reference.frame('{"code":0,"event":"pong"}'), null);
assert.deepEqual(["illegal topic", "invalid key, timestamp or signature", "another"].map((msg) => reference.frame(JSON.stringify({ code: 1002, event: "error", msg })).fault), ["topic", "signature", 1002]);
const guide = reference.guideOf({ "x-limits": 1, "x-closes": 2, "x-sign-in": 3, components: { messages: {
  commandRequest: { examples: [{ name: "sub", payload: { params: ["market.DEMO-000_USDT-000.depth"], command: "sub" } }] }, commandAnswer: { examples: [{ name: "sub", payload: { topic: "t", event: "sub", code: 0 } }] },
  commandPush: { examples: [{ name: "market.{symbol}.depth.updates", payload: { data: { s: "DEMO-000_USDT-000" }, code: 0 } }] } } } }, "VX_VITE");
assert.equal(JSON.stringify(guide), JSON.stringify({ frames: { sub: { send: { command: "sub", params: ["market.VX_VITE.depth"] }, receive: { code: 0, event: "sub", topic: "t" } } }, push: { code: 0, data: { s: "VX_VITE" } }, limits: 1, closes: 2, signIn: 3 }));
let messagesKept = [];
for (let i = 0; i < 150; i++) messagesKept = reference.kept(messagesKept, i);
assert.deepEqual([messagesKept.length, messagesKept[0], messagesKept[99]], [100, 149, 50]);
for (const text of Object.values(summaries)) assert.match(text, /[\u4e00-\u9fff]/);
