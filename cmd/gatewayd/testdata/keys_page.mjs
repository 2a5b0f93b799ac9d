// Uses the page of API keys as a person does, on a document that is no browser's, against a running exchange:
//   node keys_page.mjs <module of the page> <URL of the exchange> <base path> <address> <store> <directory> <password file>
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

const [module, url, base, address, store, dir, password] = process.argv.slice(2);
const page = await import(module);

class Element {
  constructor() {
    this.value = this.textContent = "";
    this.hidden = false;
    this.attributes = {};
    this.listeners = {};
  }
  addEventListener(name, f) { this.listeners[name] = f; }
  setAttribute(name, value) { this.attributes[name] = value; }
  focus() {}
  fire(name) { return this.listeners[name]({ preventDefault() {} }); }
}

const elements = {};
const document = { getElementById: (id) => (elements[id] ??= new Element()) };
const at = document.getElementById;
for (const id of ["account", "proof", "issued"]) at(id).hidden = true; // as the document says
let copied = "", left = 0, leave = null;
const timers = {}; // by their seconds
page.start({
  document, location: { pathname: base + "/keys" }, clipboard: { writeText: async (text) => { copied = text; } },
  fetch: (path, options) => fetch(url + path, options),
  setTimeout: (f, ms) => { timers[ms / 1000] = f; },
  addEventListener: (name, f) => { if (name === "beforeunload") leave = () => f({ preventDefault: () => left++ }); },
});

// sign runs the command that the page shows, with what its words leave open filled in.
async function sign(asJSON) {
  await at("copy-command").fire("click");
  const words = copied.split(" ").map((word) => (word === "STORE" ? store : word)).filter((word) => asJSON || word !== "--json");
  return execFileSync(words[0], [...words.slice(1), "--dir", dir, "--password-file", password], { encoding: "utf8" });
}

async function look(who) {
  at("address").value = who;
  await at("lookup").fire("submit");
  return at("fault").textContent;
}

assert.match(await look("vite_1"), /begins with vite_/);
at("address").value = address;
const both = [at("lookup").fire("submit"), at("lookup").fire("submit")];
assert.equal(at("page").attributes["aria-busy"], "true");
await Promise.all(both);
assert.deepEqual([at("page").attributes["aria-busy"], at("fault").textContent], ["false", ""]);
assert.match(await look(address.slice(0, -1) + (address.endsWith("0") ? "1" : "0")), /Invalid address/);
assert.equal(await look(" " + address + " "), "");
assert.equal(at("key").textContent, "none");
assert.match(at("agent").textContent, /^vite_[0-9a-f]{50}$/);
assert.match(at("calls").textContent, /^up to 60 orders and cancels a minute$/);
assert.match(at("pairs").textContent, /^none/);
assert.equal(at("send").textContent, "Get the key");
await at("copy-text").fire("click");
assert.equal(copied, at("text").value);
assert.match(copied, new RegExp("^" + at("agent").textContent + "_[0-9]{10}$"));
timers[page.life]();
assert.match(at("until").textContent, /too old/);

at("public").value = "nonsense";
await at("sign").fire("submit");
assert.match(at("refused").textContent, /32 bytes/);
const stale = await sign(true);
const other = JSON.parse(stale);
at("public").value = other.publicKey;
at("signature").value = other.signature.replace(/^../, (two) => (two === "00" ? "01" : "00"));
await at("sign").fire("submit");
assert.match(at("refused").textContent, /not this account's signature/);
assert.equal(at("issued").hidden, true, "nothing is shown of a key that there is not");

at("public").value = stale;
at("signature").value = "";
await at("sign").fire("submit");
assert.equal(at("refused").textContent, "");
const [key, secret] = [at("new-key").textContent, at("new-secret").textContent];
assert.match(key, /^[0-9A-F]{32}$/);
assert.match(secret, /^[0-9A-F]{32}$/);
assert.equal(at("issued").hidden, false);
assert.equal(at("key").textContent, key);
await at("copy-secret").fire("click");
assert.equal(copied, secret);
assert.equal(at("proof").hidden, true, "what would remove the key is not beside it");
assert.match(await look(address), /Save the new key/);
leave();
at("done").fire("click");
leave();
assert.equal(left, 1, "who leaves while the secret is shown is asked whether to");
assert.equal(at("proof").hidden, false);
assert.deepEqual([at("new-secret").textContent, at("new-key").textContent, at("issued").hidden], ["", "", true]);

assert.equal(await look(address), "");
assert.equal(at("send").textContent, "Remove the key");
assert.match(at("text").value, /^remove_vite_/);
at("public").value = await sign(false);
await at("sign").fire("submit");
assert.equal(at("refused").textContent, "");
assert.equal(at("said").textContent, "The key is removed.");
assert.equal(at("key").textContent, "none");
console.log(JSON.stringify({ key, secret, agent: at("agent").textContent }));
