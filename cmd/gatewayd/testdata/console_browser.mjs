// Signs in to the operators' console and orders what operators order, by mouse and by keyboard: node console_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: operators (URL of the listener), users ({name: {password, secret}} of an operator anna and a viewer vera), wallet
// (an address to credit), credit, refund, done (ids of two held deposits and of one that was paid), hash (of the first), config (of the commands), demo (a link).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { codeAt, enter, fill, launch, looks, order, sent, signedOut, view } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { axe, begin, close } = await launch(given);
const page = given.operators + "/console";

// signingIn: what is wrong is not told apart, and a stranger sees nothing.
async function signingIn() {
  const v = await begin();
  v.expected.push(signedOut);
  await v.open(page + "#/records");
  await v.at("#sign-in").waitFor();
  assert.equal(await v.at(".views").count(), 0);
  await v.fits(axe, "sign in");
  await v.at("#language").click();
  await v.at("#sign-in").getByText("登录").waitFor();
  assert.equal(await v.page.title(), "控制台");
  await fill(v, "vera", given.users.vera, "000000");
  await v.at("#sign-in").click();
  await v.sees("名称、密码或验证码错误");
  await v.at("#language").click();
  await fill(v, "vera", given.users.vera, "000000");
  await v.at("#sign-in").click();
  await v.sees("name, password or code is wrong");
  await v.fits(axe, "sign in refused");
  await v.end();
}

// asDemo follows the link that `gatewayd dev` prints. What it signs in with does not stay in the address.
async function asDemo() {
  const v = await begin();
  v.expected.push(signedOut);
  await v.open(given.demo);
  await v.at("#demo-sign-in").click();
  await v.at("#chains").waitFor();
  assert.equal(new URL(v.page.url()).hash, "#/overview");
  await v.end();
}

async function asOperator() {
  const v = await enter(await begin(), page, "anna", given.users.anna);
  await v.at("#needs-you").getByText("2", { exact: true }).waitFor();
  await v.at("#chains").getByText("Following").first().waitFor();
  await v.at("#chains .chain-name", { hasText: /Vite$/ }).waitFor();
  await v.at("#charts canvas").first().waitFor();
  assert.equal(await v.at("#charts .plot").count(), 3);
  await v.page.getByRole("radio", { name: "7 d" }).click();
  await v.until(async () => new URL(v.page.url()).hash === "#/overview?hours=168", "the length of time is in the address");
  await v.fits(axe, "overview");
  await finding(v);

  await view(v, "Records");
  await v.at("#search-hash").fill(given.hash.slice(0, 14));
  await v.at("#search").click();
  await v.until(async () => (await v.at("#records tbody tr").count()) === 1);
  await v.at("#records tbody a").first().click();
  await v.at('#record [data-state="held"]').waitFor();
  await v.page.goBack();
  await v.until(async () => (await v.at("#search-hash").inputValue()) === given.hash.slice(0, 14));
  await v.at("#search-hash").fill("");
  await v.at("#search-address").fill(given.wallet);
  await v.at("#search-amount").fill("2");
  await v.at("#search").click();
  await v.until(async () => (await v.at("#records tbody tr").count()) === 1);
  await v.at("#records").getByRole("link", { name: String(given.done), exact: true }).waitFor();
  await v.at("#search-amount").fill("");
  await v.at("#search-from").fill("2020-01-01");
  await v.at("#search-until").fill("2020-01-02");
  await v.at("#search").click();
  await v.sees("No records match.");
  await v.page.getByRole("link", { name: "All records" }).click();
  await v.at("#search-state").selectOption("refused");
  await v.at("#search").click();
  await v.sees("No records match.");

  await view(v, "Needs attention");
  await v.at("#attention .item").nth(1).waitFor();
  const item = v.at(`[data-record="${given.credit}"]`);
  await sameAsByCommand(v);
  await item.getByText("Find the owner").waitFor();
  await v.fits(axe, "needs attention");
  await order(v, item.locator('[data-order="credit"]'), { to: given.wallet }, "ticket 4711");
  await v.until(async () => (await item.count()) === 0);
  await v.page.goto(page + "#/records/" + given.credit);
  await v.at('#record [data-state="done"]').waitFor();
  await v.at("#story").getByText("anna").first().waitFor();
  await v.at("#story").getByText("ticket 4711").first().waitFor();
  assert.equal(await v.at("#orders").count(), 0, "nothing is left to order");
  await v.fits(axe, "credited");

  await v.page.goto(page + "#/records/" + given.refund);
  await order(v, v.at("#order-refund"), { to: given.sender }, "the user wants it back");
  await v.at('#record [data-state="refunded"]').waitFor();
  await v.shot("console-refunded");

  await view(v, "Channels");
  const channel = v.at("[data-channel]").first();
  await order(v, channel.getByRole("button", { name: "Pause" }), {}, "a node is replaced");
  await channel.locator('[data-state="MAINTAIN"]').waitFor();
  await channel.getByText("a node is replaced").waitFor();
  await v.fits(axe, "a paused channel");
  await v.shot("console-paused");
  await view(v, "Needs attention");
  const paused = v.at("#attention .item").filter({ has: v.page.locator('[data-condition="channel_closed"]') });
  await paused.getByText("a node is replaced").waitFor(); // a paused channel is not forgotten
  await v.at(".views a", { hasText: "Needs attention" }).locator(".badge").waitFor();
  await view(v, "Limits and rates");
  await v.at("#rules [data-fee=\"all\"]").first().waitFor(); // of the development environment
  await v.fits(axe, "a fee that takes all");
  await view(v, "Channels");
  await order(v, channel.getByRole("button", { name: "Open" }), {}, "the node is back");
  await channel.locator('[data-state="OPEN"]').waitFor();
  await pausingAll(v);
  await view(v, "Accounts");
  const account = v.at("#accounts tbody tr").filter({ hasText: "Gas: pays sweep fees" });
  await order(v, account.getByRole("button", { name: "Stop" }), {}, "its key is moved");
  await account.locator('[data-state="halted"]').waitFor();
  await v.fits(axe, "a stopped account");
  await order(v, account.getByRole("button", { name: "Resume" }), {}, "it was not");
  await account.locator('[data-state="ok"]').waitFor();

  await view(v, "Audit log");
  await v.at("#log").getByText("ticket 4711").first().waitFor();
  await v.until(async () => (await v.at("#log tbody tr").filter({ hasText: "Daemon" }).count()) === 0);
  const height = await v.page.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(height < 3000, "a page of the log is " + height + " high");
  await v.at("#audit-record").fill(String(given.credit));
  await v.at("#log").getByText("Deposit", { exact: false }).first().waitFor();
  await v.until(async () => (await v.at("#log tbody tr").count()) > 3 && (await v.at("#log").getByText("Signed in").count()) === 0, "the lines of one record");
  assert.match(new URL(v.page.url()).hash, new RegExp("record=" + given.credit));
  await v.page.reload();
  await v.at("#log tbody tr").first().waitFor();
  assert.equal(await v.at("#audit-record").inputValue(), String(given.credit), "the filter survives a reload");
  await v.at("#verify").click();
  await v.at("#chain").getByText(/All [\d,]+ lines match/).waitFor();
  await v.fits(axe, "log");
  await view(v, "Overview");
  await v.at("#needs-you").getByText("None").waitFor();
  return v;
}

// pausingAll pauses every channel with one order, of which the server refuses one at first, and opens them again.
async function pausingAll(v) {
  await view(v, "Overview");
  await v.at("#flows").getByRole("link", { name: "Pause all channels" }).click();
  await v.at("[data-channel]").first().waitFor();
  const all = await v.at("[data-channel]").count(), [first] = await v.at("[data-channel]").evaluateAll((list) => list.map((at) => at.dataset.channel));
  await v.at("#pause-all").click();
  assert.equal(await v.at("[data-pause]").count(), all, "the dialog lists them");
  await v.fits(axe, "pause all");
  await v.at("#order-why").fill("an incident");
  const refused = (url) => url.pathname.endsWith("/" + first.replace(" ", "/"));
  v.expected.push(/500/);
  await v.page.route(refused, (route) => route.fulfill({ status: 500, contentType: "application/json", body: '{"error": "not now"}' }));
  await sent(v).click();
  await v.at("#order").getByText("Not confirmed: not now").waitFor();
  await v.at("#order").getByText(`1 of ${all} channels are not confirmed as paused.`, { exact: false }).waitFor();
  await v.shot("console-pause-all");
  await v.page.unroute(refused);
  await sent(v).click();
  await v.at("#order").waitFor({ state: "detached" });
  await v.until(async () => (await v.at('[data-channel] [data-state="MAINTAIN"]').count()) === all, "all are paused");
  await v.until(async () => (await v.at("#pause-all").count()) === 0);
  for (let i = 0; i < all; i++) await order(v, v.at("[data-channel]").nth(i).getByRole("button", { name: "Open" }), {}, "it is over");
  await v.until(async () => (await v.at('[data-channel] [data-state="OPEN"]').count()) === all, "all are open");
}

// sameAsByCommand: the list of the command contains the same records.
async function sameAsByCommand(v) {
  const rows = JSON.parse(execFileSync("gatewayd", ["records", "list", "--needs-operator", "--json", "-c", given.config], { encoding: "utf8" }));
  const listed = await v.at("[data-record]").evaluateAll((items) => items.map((at) => Number(at.dataset.record)));
  assert.deepEqual(listed, rows.filter((row) => row.id > 0).map((row) => row.id));
}

// finding finds records by what somebody has of them, from every view and by the keyboard.
async function finding(v) {
  await v.page.locator("h1").focus();
  await v.page.keyboard.press("/");
  for (const [text, want] of [[given.hash.slice(0, 14), given.credit], [String(given.done), given.done], [given.wallet, given.done], ["2", given.done]]) {
    await v.at("#find").fill(text);
    await v.at(".found").getByRole("link", { name: new RegExp("^Record " + want + "\\b") }).first().waitFor();
  }
  await v.fits(axe, "found");
  await v.at("#find").fill("0xffffffffff");
  await v.sees("Nothing found.");
  await v.at("#find").fill(String(given.done));
  await v.at(".found a").first().waitFor();
  await v.page.keyboard.press("ArrowDown");
  await v.page.keyboard.press("Enter");
  await v.page.getByRole("heading", { level: 1, name: "Record " + given.done }).waitFor();
  await v.page.keyboard.press("?");
  await v.at("#shortcuts").waitFor();
  await v.fits(axe, "shortcuts");
  await v.page.keyboard.press("Escape");
  await v.at("#shortcuts").waitFor({ state: "detached" });
  for (const [key, name] of [["n", "Needs attention"], ["h", "Audit log"], ["o", "Overview"]]) {
    await v.page.keyboard.press("g");
    await v.page.keyboard.press(key);
    await v.page.getByRole("heading", { level: 1, name }).waitFor();
  }
  await v.at("#updated").getByText(/Updated \d+ s ago/).waitFor();
  for (const [old, name] of [["status", "Overview"], ["held", "Needs attention"], ["upkeep", "Maintenance"], ["log", "Audit log"], ["you", "Profile"]]) {
    await v.page.goto(page + "#/" + old);
    await v.page.getByRole("heading", { level: 1, name }).waitFor();
  }
}

// byKeyboard signs in and goes from the head of the page to a view and into a form without a mouse, and away again.
async function byKeyboard() {
  const v = await begin();
  v.expected.push(signedOut);
  await v.open(page);
  await v.at("#sign-in").waitFor();
  const press = (key) => v.page.keyboard.press(key);
  const goTo = async (selector) => {
    for (let presses = 0; !(await v.page.evaluate((s) => document.activeElement?.matches(s), selector)); presses++) {
      assert.ok(presses < 60, "Tab does not lead to " + selector);
      await press("Tab");
    }
  };
  await goTo("#name");
  await v.page.keyboard.type("karl");
  await goTo("#password");
  await v.page.keyboard.type(given.users.karl.password);
  await goTo("#code");
  await v.page.keyboard.type(codeAt(given.users.karl.secret, Date.now()));
  await press("Enter");
  await v.at("#sign-out").waitFor();
  await goTo('.views a[href="#/channels"]');
  await press("Enter");
  await v.page.getByRole("heading", { level: 1, name: "Channels" }).waitFor();
  await v.until(async () => (await v.page.evaluate(() => document.activeElement.tagName)) === "H1", "the focus is at the head of the view");
  await v.at("[data-channel] button").first().waitFor();
  await goTo("[data-channel] button");
  await press("Enter");
  await v.at("#order-why").waitFor();
  await v.until(async () => (await v.page.evaluate(() => document.activeElement.id)) === "order-why", "the focus is in the form");
  await press("Escape");
  await v.at("#order-why").waitFor({ state: "detached" });
  await v.until(async () => v.page.evaluate(() => document.activeElement.matches("[data-channel] button")), "the focus is back at the button");
  await v.end();
}

// asViewer: no buttons; and the server refuses who presses some all the same, who has no token, and who comes from another page.
async function asViewer() {
  const v = await enter(await begin(), page, "vera", given.users.vera);
  for (const name of ["Needs attention", "Channels", "Accounts", "Nodes", "Limits and rates", "Audit log", "Maintenance"]) await view(v, name);
  await v.at("#configuration code").first().waitFor();
  assert.equal(await v.at("#rescan, #reload").count(), 0, "a viewer orders nothing");
  await v.page.goto(page + "#/channels");
  await v.at("[data-channel]").first().waitFor();
  assert.equal(await v.at("[data-channel] button").count(), 0, "a viewer orders nothing");
  v.expected.push(/403/);
  const statuses = await v.page.evaluate(async (id) => {
    const me = await (await fetch("console/api/me")).json();
    const ask = async (token) => (await fetch(`console/api/records/${id}/refund`, { method: "POST", headers: { "X-CSRF-Token": token }, body: '{"why":"x"}' })).status;
    return [await ask(me.csrf), await ask("")];
  }, given.credit);
  assert.deepEqual(statuses, [403, 403]);
  execFileSync("gatewayd", ["console", "remove", "vera", "-c", given.config]);
  await v.sees("Your session has ended");
  await v.fits(axe, "session ended");
  await v.end();
}

// away shows what is left when the server is gone, and that the page comes back by itself.
async function away(v) {
  v.expected.push(/ERR_/);
  await v.page.route("**/console/api/**", (route) => route.abort("connectionrefused"));
  await v.at("#lost").waitFor();
  await v.at("#chains").waitFor();
  assert.equal(await v.page.getByText("No answer from the server").count(), 1, "it is reported once");
  await v.at('#chains [data-state="unknown"]').nth(1).waitFor();
  await v.at(".stats").getByText(/^Unknown since \d\d:\d\d$/).nth(4).waitFor();
  assert.equal(await v.at("#chains .state.good, #flows .state.good, .stat.good").count(), 0, "nothing looks healthy");
  await v.fits(axe, "away");
  await v.shot("console-away");
  await v.page.unrouteAll();
  await v.at("#chains").getByText("Following").nth(1).waitFor();
  await v.until(async () => (await v.at('[data-state="unknown"]').count()) === 0, "everything is known again");
  await v.until(async () => (await v.page.getByText("No answer from the server").count()) === 0);
}

// inChinese are looks of somebody whose browser speaks Chinese.
const inChinese = looks.filter(({ name }) => ["1440-light", "390-dark"].includes(name)).map((look) => ({ name: "zh-" + look.name, options: { ...look.options, locale: "zh-CN" } }));

// untranslated are words of the page's frame, headings, names of columns and fields, and buttons that are not in Chinese. What the daemon or people have written is in none.
const untranslated = (v) => v.page.evaluate(() => [...document.querySelectorAll("main h1, main h2, main th, main label, main dt, main button, main option, main summary, nav[aria-label] a, .state > span, .wrap > strong, .blank")]
  .filter((at) => !at.querySelector("svg") && (at.matches(".wrap > strong") || !at.closest("dd, td:not(:has(.state, button))")))
  .map((at) => at.textContent.trim())
  .filter((text) => /[A-Za-z]{3,}/.test(text.replace(/gatewayd|Ethereum \(development\)|Vite|signer\.[\w.]+|UTC|\b(eth|vite|ETH|USDT|DAI|VITE|VX)\b|-000|0x\w+|vite_\w+/g, ""))));

// inEveryLook takes pictures of every view, of somebody who is signed in already.
async function inEveryLook(storageState) {
  const visits = [["overview", "#chains"], ["attention", "#attention .item, .empty"], ["records", "#records tr"], ["records/" + given.done, "#payments article"], ["channels", "[data-channel]"], ["accounts", "#balances td"], ["nodes", "#nodes td"], ["limits", "#rules td"], ["maintenance", "#configuration code"], ["audit", "#log td"], ["profile", "#passkey-label, main .card"]];
  for (const look of [...looks, ...inChinese]) {
    const out = await begin(look.options);
    out.expected.push(signedOut);
    await out.open(page);
    await out.at("#sign-in").waitFor();
    await out.fits(axe, "sign in " + look.name);
    await out.shot("console-sign-in-" + look.name);
    await out.end();
    const v = await begin({ ...look.options, storageState });
    for (const [at, shown] of visits) {
      await v.open(page + "#/" + at);
      await v.at(shown).first().waitFor();
      const name = at.includes("/") ? "record" : at.replace(/\W+/g, "-");
      await v.fits(axe, name + " " + look.name);
      if (inChinese.includes(look)) assert.deepEqual(await untranslated(v), [], name);
      await v.shot(`console-${name}-${look.name}`);
    }
    await v.end();
  }
}

await signingIn();
await asDemo();
const anna = await asOperator();
await byKeyboard();
await asViewer();
await inEveryLook(await anna.context.storageState());
await away(anna);
await anna.at("#sign-out").click();
await anna.at("#sign-in").waitFor();
await anna.end();
await close();
