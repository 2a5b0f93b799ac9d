// Checks what the page of API keys decides: node keys.mjs <module of the page>
import assert from "node:assert/strict";

const page = await import(process.argv[2]);
const agent = "vite_" + "0".repeat(50);

for (const [path, base] of Object.entries({ "/keys": "", "/keys/": "", "/test/keys": "/test", "/keys/keys": "/keys" })) {
  assert.equal(page.baseOf(path), base);
}
assert.ok(page.isAddress(agent));
for (const bad of ["", "vite_", agent + "0", agent.toUpperCase(), " " + agent, "0x" + "0".repeat(40)]) assert.ok(!page.isAddress(bad), bad);

assert.equal(page.challenge(agent, 1614571200, false), agent + "_1614571200");
assert.equal(page.challenge(agent, 1614571200, true), "remove_" + agent + "_1614571200");
assert.match(page.command(page.challenge(agent, 1, true)), /^[A-Za-z0-9_ -]+$/, "needs no quotes in any shell");

const key = "ab".repeat(32), signature = "CD".repeat(64);
const want = { pubKey: key, signature };
assert.deepEqual(page.signed(" " + key + "\n", signature), want);
assert.deepEqual(page.signed(`Address: ${agent}\nPublic key: ${key}\nSignature: ${signature}\n`, ""), want);
assert.deepEqual(page.signed(JSON.stringify({ address: agent, publicKey: key, signature }), "ignored"), want);
const base64 = [Buffer.from(key, "hex").toString("base64"), Buffer.from(signature, "hex").toString("base64")];
assert.deepEqual(page.signed(...base64), { pubKey: base64[0], signature: base64[1] });
for (const [first, second] of [["", ""], [key, ""], ["", signature], [key + "0", signature], [key, key], ["{", ""], ["{}", ""], ['{"publicKey":1}', ""], ["null", ""]]) {
  assert.equal(page.signed(first, second), null, first);
}

for (const [raw, text] of Object.entries({ 0: "0 VITE", 1: "0.000000000000000001 VITE", "1500000000000000000": "1.5 VITE", "134000000000000000000": "134 VITE" })) {
  assert.equal(page.coins(raw), text);
}
const info = { agentAddress: agent, apiKey: null, createTime: null, agentPledgeAmount: "0", quota: 29999, maxCount: 10 };
const poor = page.shown({ info, pairs: [], cycle: 30 });
assert.deepEqual([poor.key, poor.created, poor.calls, poor.quota], ["none", "–", "up to 10 orders and cancels in 30 seconds", "29,999 – too little for an order"]);
const rich = page.shown({ info: { ...info, apiKey: "K", createTime: 1614571200, quota: 30000 }, pairs: ["VX_VITE", "A_B"], cycle: 60 });
assert.deepEqual([rich.key, rich.created, rich.quota, rich.pairs], ["K", "2021-03-01 04:00:00 UTC", "30,000", "VX_VITE, A_B"]);
assert.ok(page.wanted(true).removal && !page.wanted(false).removal);

// asked is what the exchange is asked, and said what it answers.
const asked = [];
const says = (answer) => async (url, options) => {
  asked.push([url, options]);
  return { json: async () => { if (answer instanceof Error) throw answer; return answer; } };
};
await new page.Exchange("/test", says({ code: 0, data: {} })).issue({ a: "x y", b: "1+1" });
assert.equal(asked[0][0], "/test/api/v2/agent/key");
assert.deepEqual([asked[0][1].method, asked[0][1].body.toString(), asked[0][1].credentials], ["POST", "a=x+y&b=1%2B1", "omit"]);
assert.equal(await new page.Exchange("", says({ code: 0, data: 1614571200999 })).seconds(), 1614571200);
const fails = (answer, message) => assert.rejects(new page.Exchange("", says(answer)).seconds(), { message });
await fails({ code: 1002, msg: "Invalid timestamp" }, /too old/);
await fails({ code: 1002, msg: "Invalid address" }, "Invalid address");
await fails({ code: 1001, msg: "Too frequent request" }, /Too many requests/);
await fails({ code: 5 }, /refuses/);
await fails(new Error("no JSON"), /does not answer/);
