// Checks what the built pages decide, on their sources: node pages.mjs <directory of the sources>
import assert from "node:assert/strict";

const from = (file) => import(process.argv[2] + "/" + file);
const amount = await from("base/amount.js");
const gateway = await from("bridge/gateway.js");
const exchange = await from("trade/exchange.js");
const { say } = await from("base/words.js");
const bridgeWords = (await from("bridge/words.js")).words;
const tradeWords = (await from("trade/words.js")).words;
const { shared } = await from("base/words.js");

// What is typed is an exact number of smallest units, or nothing.
for (const [text, units] of Object.entries({ 1: 1_000_000n, "1.5": 1_500_000n, ".000001": 1n, "0": 0n, " 7 ": 7_000_000n, "1,000.10": 1_000_100_000n, "1.0000000": 1_000_000n, "2.": 2_000_000n })) {
  assert.equal(amount.parse(text, 6), units, text);
}
for (const bad of ["", ".", "1.0000001", "-1", "1e3", "0x10", "1,5", "1 0", "9".repeat(61), "１"]) assert.equal(amount.parse(bad, 6), null, bad);
for (const decimals of [0, 6, 18]) for (const units of [0n, 1n, 10n ** 18n, 123_456_789n, 2n ** 256n - 1n]) {
  if (amount.plain(units, decimals).length <= 60) assert.equal(amount.parse(amount.plain(units, decimals), decimals), units);
}
assert.equal(amount.shown(1_234_567_890_123_456_789n, 15, 2), "1,234.56", "cut, not rounded");
assert.equal(amount.shown(-1_500n, 3), "-1.5");
assert.equal(amount.shown(999_999n, 6, 2), "0.99");
assert.deepEqual([amount.product("0.1", "0.2"), amount.product("125909.6", "0.01"), amount.product("3", "0")], ["0.02", "1259.096", "0"]);
assert.deepEqual([amount.compare("1.10", "1.1"), amount.compare("0.9", "1"), amount.compare("10", "9.99")], [0, -1, 1]);

// The comment of both binding types, byte by byte; lengths count bytes.
assert.equal(gateway.hex(gateway.comment(0, "0xAb", "")), "0bc300" + "30784162");
assert.equal(gateway.hex(gateway.comment(1, "addr", "12")), "0bc301" + "04" + "61646472" + "02" + "3132");
assert.equal(gateway.hex(gateway.comment(1, "a", "")), "0bc301" + "01" + "61" + "00");
assert.equal(gateway.hex(gateway.comment(1, "a", "é")), "0bc301" + "0161" + "02" + "c3a9");
assert.throws(() => gateway.comment(1, "a".repeat(256), ""), RangeError);
const token = { tokenId: "tti_1", decimals: 6 };
assert.equal(gateway.paymentLink("vite_1", token, 1_500_000n, new Uint8Array([0xfb, 0xff, 0])), "vite:vite_1?tti=tti_1&amount=1.5&data=-_8A");

// What forbids a withdrawal: minimum and maximum bound what arrives, the balance what leaves.
const rules = { minimum: 10n, maximum: 100n, balance: 50n, fee: 5n };
const check = (net, more = {}) => gateway.check({ ...rules, net, ...more })?.[0] ?? null;
assert.deepEqual([check(9n), check(10n), check(45n), check(46n), check(101n), check(101n, { maximum: null, balance: null })], ["belowMinimum", null, null, "aboveBalance", "aboveMaximum", null]);

// Each state of a record has a word in both languages and a step; unknown ones are shown as they are.
for (const [kind, states] of Object.entries({
  deposit: ["OPPOSITE_PROCESSING", "OPPOSITE_CONFIRMED", "OPPOSITE_CONFIRMED_FAIL", "BELOW_MINIMUM", "TOT_PROCESSING", "TOT_CONFIRMED", "FAILED"],
  withdraw: ["TOT_PROCESSING", "TOT_CONFIRMED", "TOT_EXCEED_THE_LIMIT", "WRONG_WITHDRAW_ADDRESS", "OPPOSITE_PROCESSING", "OPPOSITE_CONFIRMED", "FAILED"],
})) for (const state of states) {
  assert.ok(bridgeWords.en[`${kind}_${state}`] && bridgeWords.zh[`${kind}_${state}`], state);
  assert.notEqual(gateway.progress({ kind, state }).kind, "wait", state);
}
assert.equal(gateway.progress({ kind: "deposit", state: "NEW" }).kind, "wait");
for (let status = 0; status <= 10; status++) assert.ok(tradeWords.en["status_" + status] && tradeWords.zh["status_" + status]);

// Both languages say the same things with the same values in them.
for (const words of [bridgeWords, tradeWords, shared]) {
  assert.deepEqual(Object.keys(words.zh).sort(), Object.keys(words.en).sort());
  for (const [key, text] of Object.entries(words.en)) {
    const holes = (t) => [...t.matchAll(/\{\w+\}/g)].map(String).sort();
    assert.deepEqual(holes(words.zh[key]), holes(text), key);
  }
}
assert.equal(say("{a} of {b}", { a: 1 }), "1 of {b}");

// The public sample of a signature.
const sample = { amount: "10", key: "11111111", price: "0.1", side: "0", symbol: "VX_ETH-000", timestamp: "1" };
assert.equal(exchange.line(sample), "amount=10&key=11111111&price=0.1&side=0&symbol=VX_ETH-000&timestamp=1");
const { createHmac } = await import("node:crypto");
assert.equal(await exchange.sign("secret é", exchange.line(sample)), createHmac("sha256", "secret é").update(exchange.line(sample)).digest("hex"));
assert.deepEqual(exchange.sums([["2", "1"], ["1", "0.5"]]).map((l) => l.sum), [1, 1.5]);
