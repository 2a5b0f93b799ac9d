// Uses the page of API keys in a browser as people do, against a running exchange:
//   node keys_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: url, address, store, dir, password (of the wallet).
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { execFileSync } from "node:child_process";
import { launch, looks, Visit } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { axe, browser, close } = await launch(given);

// sign runs the command that the page shows, with what its words leave open filled in.
function sign(command) {
  const words = command.split(/\s+/).map((word) => (word === "STORE" ? given.store : word));
  return execFileSync(words[0], [...words.slice(1), "--dir", given.dir, "--password-file", given.password], { encoding: "utf8" });
}

// KeyVisit is a visit to the page of keys.
class KeyVisit extends Visit {
  static async begin(options, path = "/keys") {
    const v = await super.begin(browser, given, options);
    await v.context.addInitScript(() => { // what the page has told: it stands there for some seconds only
      globalThis.told = [];
      new MutationObserver(() => globalThis.told.push(document.getElementById("said")?.textContent ?? "")).observe(document, { subtree: true, childList: true, characterData: true });
    });
    await v.page.goto(given.url + path);
    return v;
  }

  at(id) { return this.page.locator("#" + id); }
  text(id) { return this.at(id).innerText(); }
  says(id, pattern) { return this.until(async () => pattern.test(await this.text(id)), id + " says " + pattern); }
  shot(name) { return super.shot("keys-" + name); }

  async look(address) {
    await this.at("address").fill(address);
    await this.page.getByRole("button", { name: "Look up" }).click();
    await this.idle();
  }

  tells(text) { return this.until(async () => (await this.page.evaluate(() => globalThis.told)).some((told) => told.includes(text)), "the page tells " + text); }

  // wrong lists the fields that are marked as wrong; step is the one that is next.
  wrong() { return this.page.locator("[aria-invalid=true]").evaluateAll((all) => all.map((e) => e.id)); }
  step() { return this.page.locator(".step[aria-current=step] h2").textContent(); }

  // idle waits until the page has done what it was asked for.
  idle() { return this.page.waitForSelector("#page[aria-busy=false]"); }

  // prove pastes what the wallet prints and sends it.
  async prove(printed = null) {
    await this.at("public").fill(printed ?? sign(await this.text("command")));
    await this.at("send").click();
    await this.idle();
  }
}

// works tells whether the exchange takes a key: what it says of an order that is none.
async function works(key, secret) {
  const fields = { key, side: "0", symbol: "NO_PAIR", amount: "1", price: "1", timestamp: String(Date.now()) };
  const line = Object.keys(fields).sort().map((name) => name + "=" + fields[name]).join("&");
  const signature = createHmac("sha256", secret).update(line).digest("hex");
  const answer = await fetch(given.url + "/api/v2/order/test", { method: "POST", body: new URLSearchParams({ ...fields, signature }) });
  return (await answer.json()).msg;
}

// withMouse applies for a key and removes it, with every refusal on the way. It returns the key and its secret.
async function withMouse() {
  const v = await KeyVisit.begin({ viewport: { width: 1200, height: 900 } });
  await v.look("vite_1");
  await v.says("address-hint", /This is no address, or it is mistyped/);
  assert.deepEqual(await v.wrong(), ["address"]);
  await v.at("language").click();
  await v.says("address-hint", /地址无效/);
  await v.at("language").click();
  await v.look(given.address);
  assert.deepEqual(await v.wrong(), []);
  assert.equal(await v.text("found"), given.address);
  assert.equal(await v.step(), "2Prove that the account is yours");
  for (const rule of ["Place and cancel orders", "Withdraw, transfer", "An account has one key", "no expiry and no list of allowed IP addresses", "Remove it here with a signature"]) await v.sees(rule);
  await v.says("until", /Valid for another 4 min \d+ s/);
  await v.says("agent", /^vite_[0-9a-f]{50}$/);
  await v.shot("looked-up");
  await v.at("copy-text").click();
  await v.until(async () => (await v.copied()) === (await v.text("text")), "the text is copied");
  await v.tells("Copied.");

  const wrong = JSON.parse(sign("gatewayd wallet sign STORE --json --text something_else"));
  await v.prove(JSON.stringify(wrong));
  await v.says("public-hint", /does not match this account/);
  await v.prove("nonsense");
  await v.says("public-hint", /32 bytes/);
  assert.deepEqual(await v.wrong(), ["public"]);
  await v.prove(wrong.publicKey);
  await v.says("signature-hint", /32 bytes/);
  assert.deepEqual(await v.wrong(), ["signature"]);
  await v.shot("refused");
  await old(v);

  await v.prove();
  const [key, secret] = [await v.text("new-key"), await v.text("new-secret")];
  assert.match(key + " " + secret, /^[0-9A-F]{32} [0-9A-F]{32}$/);
  assert.equal(await v.step(), "3Key and secret");
  for (const id of ["proof", "remove"]) assert.equal(await v.at(id).isVisible(), false, "nobody removes the key by the button that is next");
  await v.at("done").click({ force: true });
  assert.equal(await v.text("new-secret"), secret, "it is hidden only after a confirmation");
  await v.shot("issued");
  await v.at("copy-new-secret").click();
  await v.until(async () => (await v.copied()) === secret, "the secret is copied");
  assert.match(await works(key, secret), /symbol/i);
  await leave(v, key, secret);

  await v.look(given.address);
  assert.equal(await v.text("key"), key);
  await v.says("created", /^\d+ \w+ 20\d\d, \d\d:\d\d:\d\d$/);
  assert.equal(await v.step(), "4Allow the key to trade");
  assert.equal(await v.text("pairs"), "none");
  await v.sees("Do not stake now."); // this exchange has no market
  assert.equal(await v.at("stake-transaction").count(), 0);
  await v.shot("has-a-key");
  await v.at("remove").click();
  await v.idle();
  assert.equal(await v.at("send").innerText(), "Remove the key");
  await v.says("text", /^remove_/);
  await v.prove();
  await v.tells("Key removed.");
  assert.equal(await v.step(), "2Prove that the account is yours");
  assert.match(await works(key, secret), /key/i);
  await v.end();
}

// old has a text signed that was good ten minutes ago, and sees the page say so of one that ages while it is open.
async function old(v) {
  const late = async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, data: answer.data - 600_000 } });
  };
  await v.page.route("**/api/v2/time", late);
  await v.at("again").click();
  await v.idle();
  await v.prove();
  await v.says("text-fault", /has expired/);
  await v.page.unroute("**/api/v2/time", late);
  await v.at("again").click();
  await v.idle();
  assert.equal(await v.text("text-fault"), "");
}

// leave goes away from a page that shows a secret and comes back: the browser asks first, and the secret is nowhere.
async function leave(v, key, secret) {
  const asked = [];
  v.page.on("dialog", (d) => { asked.push(d.type()); return d.accept(); });
  await v.page.goto("about:blank");
  assert.deepEqual(asked, ["beforeunload"]);
  await v.page.goBack();
  const kept = await v.page.evaluate(() => document.documentElement.outerHTML + JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
  assert.ok(!kept.includes(secret), "the secret is kept somewhere");
  assert.ok(!kept.includes(key));
  assert.deepEqual((await v.context.cookies()).map(({ name }) => name), ["language"]);
}

// withKeyboard does all of it on the test network without a mouse, in a browser that lets the page copy nothing.
async function withKeyboard() {
  const v = await KeyVisit.begin({ viewport: { width: 1000, height: 800 }, permissions: [] }, "/test/keys");
  await v.page.evaluate(() => Object.defineProperty(navigator.clipboard, "writeText", { value: () => Promise.reject(new Error("no")) }));
  const press = (...keys) => keys.reduce((done, key) => done.then(() => v.page.keyboard.press(key)), Promise.resolve());
  const focused = () => v.page.evaluate(() => document.activeElement.id);
  const focuses = (id, why) => v.until(async () => (await focused()) === id, why);
  const goTo = async (id) => {
    for (let presses = 0; (await focused()) !== id; presses++) {
      assert.ok(presses < 20, "Tab does not lead to " + id);
      await press("Tab");
    }
  };
  await goTo("address");
  await v.page.keyboard.type(given.address);
  await press("Enter");
  await v.at("proof").waitFor();
  await focuses("step-2", "the focus is where the news are");
  await goTo("copy-text");
  await press("Space");
  await v.tells("Select the text");
  await goTo("public");
  await v.page.keyboard.insertText(sign(await v.text("command")));
  await goTo("send");
  assert.ok(await v.at("send").evaluate((e) => parseFloat(getComputedStyle(e).outlineWidth) >= 2), "one sees where the focus is");
  await press("Enter");
  await v.at("issued").waitFor();
  await focuses("step-3", "the focus goes to the key");
  await v.idle();
  await goTo("address");
  await press("Enter");
  await v.says("address-hint", /Save the new key/);
  await goTo("saved");
  await press("Space");
  await goTo("done");
  await press("Enter");
  await v.at("issued").waitFor({ state: "detached" });
  await focuses("step-4", "the focus goes to what the key needs");
  await v.end();
}

// onPhone looks at every part of the page on a narrow screen: nothing is cut off, too small to hit or too pale to read.
async function onPhone(colorScheme, path) {
  const v = await KeyVisit.begin({ viewport: { width: 320, height: 568 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true, colorScheme }, path);
  let key = null; // whatever the account has
  await v.page.route("**/agent/info?*", async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, data: { ...answer.data, apiKey: key } } });
  });
  await v.look(given.address);
  await v.shot("phone-" + colorScheme);
  assert.deepEqual(await v.page.evaluate(poor), []);
  await v.prove("nonsense");
  assert.deepEqual(await v.page.evaluate(poor), []);
  const made = { code: 0, data: { apiKey: "0123456789ABCDEF".repeat(2), apiSecret: "0123456789ABCDEF".repeat(2) } };
  await v.page.route("**/agent/key", (route) => route.fulfill({ json: made })); // how a new key looks, without making one
  await v.prove(JSON.stringify({ publicKey: "ab".repeat(32), signature: "cd".repeat(64) }));
  await v.at("issued").waitFor();
  await v.shot("phone-issued-" + colorScheme);
  assert.deepEqual(await v.page.evaluate(poor), []);
  await v.at("saved").click();
  await v.at("done").click();
  key = made.data.apiKey;
  await v.look(given.address);
  await v.at("pairs").waitFor();
  await v.shot("phone-permissions-" + colorScheme);
  assert.deepEqual(await v.page.evaluate(poor), []);
  await v.end();
}

// poor lists what is bad to see or touch in the page; it runs there.
function poor() {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the screen: " + document.documentElement.scrollWidth);
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const light = (color) => channels(color).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    const color = getComputedStyle(e).backgroundColor;
    return (channels(color)[3] ?? 1) > 0 || !e.parentElement ? color : behind(e.parentElement);
  };
  const visible = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && !e.closest(".unseen, noscript"));
  for (const e of visible) {
    const name = e.tagName + "#" + e.id, box = e.getBoundingClientRect();
    if (/^(BUTTON|INPUT|TEXTAREA)$/.test(e.tagName) && (box.height < 24 || box.width < 24)) found.push(name + " is small to touch");
    if (e.tagName === "TEXTAREA" && e.scrollHeight > e.clientHeight + 1) found.push(name + " hides a part of its text");
    if (/^(INPUT|TEXTAREA)$/.test(e.tagName) && parseFloat(getComputedStyle(e).fontSize) < 16) found.push(name + " makes a phone zoom");
    if (box.right > innerWidth || box.left < 0) found.push(name + " is off the screen");
    const [less, more] = [light(getComputedStyle(e).color), light(behind(e))].sort((a, b) => a - b);
    if ((more + 0.05) / (less + 0.05) < 4.5) found.push(name + " is pale");
  }
  return found;
}

// inEveryLook takes pictures of the page with an account looked up, and once in Chinese.
async function inEveryLook() {
  for (const look of looks) {
    const v = await KeyVisit.begin(look.options);
    await v.look(given.address);
    await v.fits(axe, "keys " + look.name);
    await v.shot(look.name);
    await v.at("language").click();
    await v.sees("证明账户属于您");
    await v.fits(axe, "keys in Chinese " + look.name);
    await v.shot("zh-" + look.name);
    await v.end();
  }
}

// guarded shows that the policy holds, and that this test would see it broken.
async function guarded() {
  const v = await KeyVisit.begin({});
  const ran = await v.page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.ran = true";
    document.body.append(script);
    return Boolean(globalThis.ran);
  });
  assert.equal(ran, false);
  await v.page.evaluate(() => new Promise((refused) => {
    document.addEventListener("securitypolicyviolation", refused);
    fetch("http://127.0.0.1:9/").catch(() => {});
  }));
  for (const directive of ["script-src-elem", "connect-src"]) {
    assert.ok(v.faults.some((f) => f.startsWith("policy: " + directive)), directive + ": " + v.faults);
  }
  v.faults = [];
  await v.end();
}

async function withoutScript() {
  const v = await KeyVisit.begin({ javaScriptEnabled: false });
  assert.match(await v.page.innerText("body"), /needs JavaScript/);
  v.faults = v.faults.filter((f) => !/\.js csp$/.test(f)); // a browser without scripts loads none
  await v.end();
}

try {
  await withMouse();
  await withKeyboard();
  for (const [scheme, path] of [["light", "/keys"], ["dark", "/test/keys"]]) await onPhone(scheme, path);
  await inEveryLook();
  await guarded();
  await withoutScript();
} finally {
  await close();
}
