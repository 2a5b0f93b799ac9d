// Checks what the built pages decide, on their sources: node pages.mjs <directory of the sources>
import assert from "node:assert/strict";

const from = (file) => import(process.argv[2] + "/" + file);
const amount = await from("base/amount.js");
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
const keysMessages = (await from("keys/messages.js")).messages;

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
  assert.ok(bridgeMessages.en[`${kind}_${state}`] && bridgeMessages.zh[`${kind}_${state}`], state);
  assert.notEqual(gateway.progress({ kind, state }).kind, "wait", state);
}
assert.equal(gateway.progress({ kind: "deposit", state: "NEW" }).kind, "wait");
const depthOf = (kind, inTxConfirmedCount) => gateway.depth({ kind, inTxConfirmedCount });
assert.deepEqual([depthOf("deposit", 0), depthOf("deposit", undefined), depthOf("deposit", 1), depthOf("withdraw", 0)], ["pooled", "pooled", "counted", "counted"]);
for (let status = 0; status <= 10; status++) assert.ok(tradeMessages.en["status_" + status] && tradeMessages.zh["status_" + status]);

// Both languages say the same things with the same values in them.
for (const messages of [bridgeMessages, tradeMessages, keysMessages, consoleMessages, shared]) {
  assert.deepEqual(Object.keys(messages.zh).sort(), Object.keys(messages.en).sort());
  for (const [key, text] of Object.entries(messages.en)) {
    const holes = (t) => [...t.matchAll(/\{\w+\}/g)].map(String).sort();
    assert.deepEqual(holes(messages.zh[key]), holes(text), key);
  }
}
assert.equal(formatMessage("{a} of {b}", { a: 1 }), "1 of {b}");

// The public sample of a signature.
const sample = { amount: "10", key: "11111111", price: "0.1", side: "0", symbol: "VX_ETH-000", timestamp: "1" };
assert.equal(exchange.line(sample), "amount=10&key=11111111&price=0.1&side=0&symbol=VX_ETH-000&timestamp=1");
const { createHmac } = await import("node:crypto");
assert.equal(await exchange.sign("secret é", exchange.line(sample)), createHmac("sha256", "secret é").update(exchange.line(sample)).digest("hex"));
assert.deepEqual(exchange.sums([["2", "1"], ["1", "0.5"]]).map((l) => l.sum), [1, 1.5]);

// What people put between the digits of an order is not sent.
const sent = [];
globalThis.location = { pathname: "/trade" };
globalThis.fetch = async (url, options) => {
  sent.push(options.body);
  return { status: 200, json: async () => ({ code: 0, data: 0 }) };
};
await new exchange.Session({ address: "a", key: "k", secret: "s" }).place("VX_VITE", 1, "125,648.2", " 2. ");
assert.match(sent[1], /^amount=2&key=k&price=125648\.2&side=1&/);

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
  [record({ state: "refused", reason: "operator" }), [pay("refund", "queued")], "done done done now wait"],
  [record({ state: "held", reason: "unknown_label", token: "" }), [], "done done warn wait wait"],
  [record({ state: "orphaned" }), [], "done warn wait wait"],
  [record({ incident: "its block has left" }), [pay("credit", "paid")], "done bad done done"],
  [record({ direction: "funding" }), [], "done done"],
]) assert.equal(wayOf(r, payments).map((s) => s.kind).join(" "), kinds, JSON.stringify([r, payments]));
const last = wayOf(record({}), [pay("credit", "paid")], "en", [{ what: "payment 7 paid", at: "2026-01-01 00:02:00.000" }]).at(-1);
assert.deepEqual([last.at, last.tx.hash, last.tx.chain], ["2026-01-01 00:02:00.000", "0x2", "vite"]);

// What a search may mean, whom an order pays, and how it is called.
for (const [text, kinds] of Object.entries({ 17: "id amount", "1.5": "amount", "0x52908400098527886E0F7030069857D2E4169EE7": "address", "0xabcdef": "hash", "abcdef…1234": "hash", ["vite_" + "a".repeat(50)]: "address", bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080: "address", hello: "" })) assert.equal(labels.kindsOf(text).join(" "), kinds, text);
const small = record({ state: "refused", reason: "below_minimum", wallet: "vite_1", from: "0xuser" });
assert.deepEqual([labels.orderLabel("retry", small, consoleMessages.en), labels.orderLabel("retry", record({}), consoleMessages.en)], ["Credit", "Retry"]);
assert.deepEqual([labels.payeeOf("retry", small, []), labels.payeeOf("refund", small, []), labels.payeeOf("retry", small, [{ state: "held", purpose: "refund", payee: "0xother" }])], ["vite_1", "0xuser", "0xother"]);
assert.match(labels.adviceOf("zh", "reason", "below_minimum"), /入账/);
assert.equal(labels.eventLabel("zh", "payment", "paid"), "付款已到账");
assert.equal(labels.eventLabel("en", "payment", "new_thing"), "payment new thing");

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
const agent = "vite_" + "0".repeat(50);
assert.ok(keys.isAddress(agent));
for (const bad of ["", "vite_", agent + "0", agent.toUpperCase(), " " + agent, "0x" + "0".repeat(40)]) assert.ok(!keys.isAddress(bad), bad);
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
