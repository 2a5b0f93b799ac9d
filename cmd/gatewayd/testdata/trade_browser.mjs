// Trades on the trade page while its book moves: node trade_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: exchange (URL of the listener), gateway (its links lead there).
import assert from "node:assert/strict";
import { launch, looks } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { axe, begin, close } = await launch(given);
const page = given.exchange + "/trade";

const filled = (v) => v.until(async () => (await v.at("#book tr.bid").count()) >= 3 && (await v.at("#book tr.ask").count()) >= 3);
const price = async (v, side) => {
  const button = side === "ask" ? v.at("#book tr.ask button").last() : v.at("#book tr.bid button").first();
  return Number((await button.innerText()).replace(/,/g, ""));
};
const live = (v, state) => v.at(`#live[data-live="${state}"]`).waitFor();

// asDemoUser trades for the demo user.
async function asDemoUser() {
  const v = await begin();
  const sockets = [];
  await v.page.routeWebSocket(/\/v2\/ws$/, (ws) => {
    sockets.push(ws);
    ws.connectToServer();
  });
  await v.open(page);
  await live(v, "open");
  await filled(v);
  await v.sees("to place orders");
  const before = await v.at("#book").innerText();
  await v.until(async () => (await v.at("#book").innerText()) !== before);
  await v.at("#trades tbody tr").first().waitFor();
  await v.until(async () => (await v.at("#candles canvas").count()) > 0);

  await v.until(async () => { // the key is made after the start
    if (await v.at("#balances").count()) return true;
    if ((await v.at("#use-demo").getAttribute("aria-disabled")) === "false") await v.at("#use-demo").click();
    await v.page.waitForTimeout(500);
    return false;
  });
  await v.at("#balances tbody tr").first().waitFor();

  await v.at("#book tr.ask button").last().click();
  assert.ok(Number(await v.at("#price").inputValue()) > 1000, "the book proposes a price");
  for (const [quantity, complaint] of [["0.0000001", /minimum order/], ["90", /are available/], ["x", /decimal places/]]) {
    await v.at("#quantity").fill(quantity);
    await v.until(async () => complaint.test(await v.at("#quantity-hint").innerText()));
    assert.equal(await v.at("#place").getAttribute("aria-disabled"), "true", quantity);
  }

  // A price above the best ask is filled, whatever the book does meanwhile.
  await place(v, (await price(v, "ask")) * 1.02, "0.01");
  await v.page.getByRole("tab", { name: "All orders" }).click();
  await v.at('#order-history [data-status="4"]').first().waitFor();

  // One far below rests, by keyboard, and is cancelled; the connection breaks in between and comes back.
  await v.page.getByRole("tab", { name: "All orders" }).focus();
  await v.page.keyboard.press("ArrowLeft");
  await v.at("#open-orders").waitFor();
  sockets.at(-1).close({ code: 1001 });
  await v.until(async () => sockets.length > 1);
  await live(v, "open");
  await place(v, (await price(v, "bid")) * 0.8, "0.02");
  const rests = v.at('#open-orders [data-status="3"]');
  await rests.first().waitFor();
  await v.fits(axe, "trade with an account");
  await v.shot("trade-account");
  await rests.first().getByRole("button", { name: "Cancel" }).click();
  await v.sees("No orders.");
  await v.end();
}

async function place(v, at, quantity) {
  await v.at("#price").fill(at.toFixed(1));
  await v.at("#quantity").fill(quantity);
  await v.until(async () => (await v.at("#place").getAttribute("aria-disabled")) === "false");
  await v.at("#place").focus();
  await v.page.keyboard.press("Enter");
  await v.sees("Order sent.");
}

// withOwnKey types a key and its secret, which are nowhere afterwards.
async function withOwnKey() {
  const session = await (await fetch(given.exchange + "/demo/session")).json();
  const v = await begin();
  await v.open(page);
  await v.at("#session summary").click();
  for (const field of ["address", "key", "secret"]) await v.at("#" + field).fill(session[field]);
  await v.page.getByRole("button", { name: "Open the account" }).click();
  await v.at("#balances tbody tr").first().waitFor();
  await v.at("#price").fill("1000");
  await v.at("#quantity").fill("1");
  await v.until(async () => (await v.at("#place").getAttribute("aria-disabled")) === "false");
  await v.page.reload();
  await v.at("#session summary").waitFor();
  const kept = await v.page.evaluate(() => document.documentElement.outerHTML + JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
  assert.ok(!kept.includes(session.secret), "the secret is kept somewhere");
  await v.end();
}

// away shows what an exchange that is gone looks like.
async function away() {
  const v = await begin();
  await v.open(page);
  await filled(v);
  v.expected.push(/ERR_/);
  await v.page.route("**/api/v2/**", (route) => route.abort("connectionrefused"));
  await v.at("#pair").selectOption({ index: 1 });
  await v.sees("No answer from the server");
  await v.fits(axe, "away");
  await v.end();
}

async function inEveryLook() {
  for (const look of looks) {
    const v = await begin(look.options);
    await v.open(page);
    await live(v, "open");
    await filled(v);
    await v.until(async () => (await v.at("#candles canvas").count()) > 0);
    await v.fits(axe, "trade " + look.name);
    await v.shot("trade-" + look.name);
    await v.at("#language").click();
    await v.sees("订单簿");
    await v.fits(axe, "trade in Chinese " + look.name);
    await v.end();
  }
}

await asDemoUser();
await withOwnKey();
await away();
await inEveryLook();
await close();
