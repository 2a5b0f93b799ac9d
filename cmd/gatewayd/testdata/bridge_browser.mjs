// Deposits and withdraws on the bridge page, with both binding types, as the demo user and as somebody with a wallet elsewhere:
//   node bridge_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: gateway (URL of the listener), exchange (its links may lead there), node (URL of the source chain).
import assert from "node:assert/strict";
import { launch, looks } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { axe, begin, close } = await launch(given);
const page = given.gateway + "/bridge";
const receiver = "0x52908400098527886E0F7030069857D2E4169EE7";

// choose takes the token whose symbol begins so.
async function choose(v, symbol) {
  await v.at("#token option").first().waitFor({ state: "attached" });
  const value = await v.at("#token option").evaluateAll((all, s) => all.find((o) => o.textContent.startsWith(s)).value, symbol);
  await v.at("#token").selectOption(value);
  return value.split("/")[1];
}

const tab = (v, name) => v.page.getByRole("tab", { name }).click();
const state = (v, kind, wanted) => v.at(`#latest-${kind} [data-state="${wanted}"]`).waitFor();
const digits = (text) => parseFloat(text.replace(/,/g, ""));
const balance = async (v) => digits((await v.at("#balance").innerText()).replace("–", "-1"));

// asDemoUser deposits one token and takes a part of it out again.
async function asDemoUser(symbol, label) {
  const v = await begin();
  await v.open(page);
  await choose(v, symbol);
  await v.at("#use-demo").click();
  await v.at("#pay").waitFor();
  assert.equal(await v.at("#deposit-label").count(), label ? 1 : 0);
  const address = await v.at("#deposit-address").innerText();
  assert.match(address, /^0x[0-9a-fA-F]{40}$/);
  await v.at("#deposit .whole + button").first().click();
  await v.until(async () => (await v.copied()) === address, "the address is copied");
  if (label) await v.sees("exactly into your payment");
  await v.at("#pay-amount").fill("nonsense");
  await v.at("#pay").click();
  await v.sees("decimal places");
  await v.at("#pay-amount").fill("20");
  await v.at("#pay").click();
  await state(v, "deposit", "TOT_CONFIRMED");
  await v.until(async () => (await balance(v)) === 20);
  await v.shot("bridge-deposit-" + symbol);

  await tab(v, "Withdraw");
  await v.at("#to").fill("0x1234");
  await v.at("#to-hint.bad").waitFor();
  await v.at("#amount").fill("2");
  await v.until(async () => /\d/.test(await v.at("#total").innerText()));
  assert.equal(await v.at("#send").getAttribute("aria-disabled"), "true", "a wrong address");
  await v.at("#to").fill(receiver);
  await v.sees("The address is valid.");
  if (label) await v.at("#label").fill(label);
  for (const [amount, complaint] of [["20", /exceed your balance/], ["0.00001", /minimum/], ["900000000", /maximum|balance/], ["1.2.3", /decimal places/]]) {
    await v.at("#amount").fill(amount);
    await v.until(async () => complaint.test(await v.at("#amount-hint").innerText()));
    assert.equal(await v.at("#send").getAttribute("aria-disabled"), "true", amount);
  }
  await v.at("#all").click();
  await v.until(async () => digits(await v.at("#total").innerText()) === 20);
  assert.ok(Number(await v.at("#amount").inputValue()) < 20, "all is what is left after the fee");
  await v.at("#amount").fill("3");
  await v.until(async () => (await v.at("#send").getAttribute("aria-disabled")) === "false");
  await v.fits(axe, "withdraw " + symbol);
  await v.shot("bridge-withdraw-" + symbol);
  await v.at("#send").click();
  await state(v, "withdraw", "OPPOSITE_CONFIRMED");
  await v.until(async () => (await balance(v)) < 17);

  await tab(v, "History");
  await v.at("#history-deposit tbody tr").first().waitFor();
  await v.until(async () => /Arrived/.test(await v.at("#history-withdraw tbody").innerText()), "the withdrawal is in the history");
  await v.fits(axe, "history " + symbol);
  await v.end();
}

// asStranger has an address and a wallet elsewhere: the page says what to send, and shows it as a code.
async function asStranger(demo) {
  const v = await begin();
  await v.open(page);
  const tokenId = await choose(v, "DAI");
  await v.at("#account").fill("vite_1");
  await v.sees("50 digits and letters");
  await v.at("#account").fill(demo.address);
  await tab(v, "Withdraw");
  await v.at("#to").fill(receiver);
  await v.at("#label").fill("7");
  await v.at("#amount").fill("2");
  await v.until(async () => (await v.at("#send").getAttribute("aria-disabled")) === "false");
  await v.at("#send").focus();
  await v.page.keyboard.press("Enter");
  const text = await v.at("#payment-link").innerText();
  const link = new URL(text);
  assert.match(link.pathname, /^vite_[0-9a-f]{50}$/);
  assert.deepEqual([link.searchParams.get("tti"), Number(link.searchParams.get("amount")) > 2], [tokenId, true]);
  const wanted = Buffer.concat([Buffer.from([0x0b, 0xc3, 1, receiver.length]), Buffer.from(receiver), Buffer.from([1]), Buffer.from("7")]);
  assert.equal(Buffer.from(link.searchParams.get("data"), "base64url").toString("hex"), wanted.toString("hex"));
  assert.equal(await v.at("#comment").innerText(), wanted.toString("hex"));
  await v.fits(axe, "payment by hand");
  await v.shot("bridge-by-hand");
  await v.end();
}

// maintenance shows what a closed channel and a gateway that is away look like.
async function maintenance(demo) {
  const v = await begin();
  await v.open(page);
  await choose(v, "ETH");
  const meta = (depositState, withdrawState) => v.page.route("**/meta-info?*", (route) => route.fulfill({ json: { code: 0, data: { type: 0, depositState, withdrawState } } }));
  await meta("MAINTAIN", "CLOSED");
  await v.at("#account").fill(demo.address);
  await v.sees("Deposits are under maintenance");
  await tab(v, "Withdraw");
  await v.sees("Withdrawals are closed");
  await v.fits(axe, "closed");
  v.expected.push(/ERR_/);
  await v.page.route("**/gateway/**", (route) => route.abort("connectionrefused"));
  await tab(v, "History");
  await v.sees("No answer from the server");
  await v.fits(axe, "away");
  await v.page.unrouteAll();
  await v.at("#history-deposit").waitFor();
  await v.end();
}

// inEveryLook takes pictures, in English and once in Chinese, and goes by keyboard from the top to the address.
async function inEveryLook(demo) {
  for (const look of looks) {
    const v = await begin(look.options);
    await v.open(page);
    await choose(v, "DAI");
    await v.at("#account").fill(demo.address);
    await v.at("#deposit-label-text").waitFor();
    await v.at("#latest-deposit [data-state]").waitFor();
    await v.fits(axe, "bridge " + look.name);
    await v.shot("bridge-" + look.name);
    await v.at("#language").click();
    await v.sees("充值");
    await v.fits(axe, "bridge in Chinese " + look.name);
    await v.shot("bridge-zh-" + look.name);
    await v.end();
  }
}

const demo = await (await fetch(given.gateway + "/demo/user")).json();
await asDemoUser("USDT", "");
await asDemoUser("DAI", "memo-42");
await asStranger(demo);
await maintenance(demo);
await inEveryLook(demo);
await close();
