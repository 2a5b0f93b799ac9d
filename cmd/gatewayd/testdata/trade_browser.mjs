// Trades on the trade page while its book moves: node trade_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs needs: exchange (URL of the listener), gateway (its links lead there).
import assert from "node:assert/strict";
import { launch, looks } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { axe, begin, close } = await launch(given);
const page = given.exchange + "/trade";

const filled = (v) => v.until(async () => (await v.at("#book .level.bid").count()) >= 3 && (await v.at("#book .level.ask").count()) >= 3);
const numberOf = (text) => Number(text.replace(/,/g, ""));
const best = async (v, side) => numberOf(await v.at(`#book .level.${side} .price`).first().innerText());
const live = (v, state) => v.at(`#live[data-live="${state}"]`).waitFor();
const drawn = (v) => v.until(async () => (await v.at("#candles canvas").count()) > 0);
const hint = (v, field, pattern) => v.until(async () => pattern.test(await v.at(`#${field}-hint`).innerText()), `${field}: ${pattern}`);
const kept = (v) => v.page.evaluate(() => document.documentElement.outerHTML + JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));

const focused = (v, id) => v.until(() => v.page.evaluate((wanted) => document.activeElement?.id === wanted, id), "the focus goes to " + id);

// openDemo opens the demo user's account, whose key is made after the start.
async function openDemo(v) {
  let pressed = false;
  await v.until(async () => {
    if (await v.at('#session[data-kind="trading"]').count()) return true;
    const button = v.at('#use-demo:not([aria-busy="true"])');
    if (await button.count()) {
      await button.click();
      pressed = true;
    }
    return false;
  }, "the demo account opens");
  if (pressed) await focused(v, "quantity");
  await v.until(async () => numberOf((await v.at("#available").innerText()).replace(/[^\d.,]/g, "") || "0") > 0, "its balance is shown");
}

// tabTo presses Tab until an element has the focus.
async function tabTo(v, id) {
  for (let i = 0; i < 80; i++) {
    if (await v.page.evaluate((wanted) => document.activeElement?.id === wanted, id)) return;
    await v.page.keyboard.press("Tab");
  }
  assert.fail("the Tab key does not reach " + id);
}

// byKeyboard places an order without a pointer.
async function byKeyboard(v, price, quantity) {
  await v.page.evaluate(() => document.activeElement?.blur());
  for (const [id, text] of [["price", price], ["quantity", quantity]]) {
    await tabTo(v, id);
    await v.page.keyboard.press("ControlOrMeta+a");
    await v.page.keyboard.type(text);
  }
  await tabTo(v, "place");
  await v.page.keyboard.press("Enter");
}

const settles = (v, status) => v.at(`#result[data-status="${status}"]`).waitFor();

// inView finds the sides and the button of the form in the window: the result of an order must not scroll them away.
async function inView(v, what) {
  const hidden = await v.page.evaluate(() => ["#order .segmented", "#result", "#place"].filter((of) => {
    const box = document.querySelector(of).getBoundingClientRect();
    return box.top < 0 || box.bottom > innerHeight + 1;
  }));
  assert.deepEqual(hidden, [], what);
}

// costsInView finds fee, total and the button below each other, whole, and neither covered nor touched by the notices of orders, in windows of several sizes.
async function costsInView(v) {
  const size = v.page.viewportSize();
  for (const [width, height] of [[1440, 900], [1440, 720], [1024, 768], [390, 844]]) {
    await v.page.setViewportSize({ width, height });
    if (width === 390) await v.page.getByRole("tab", { name: "Trade" }).click();
    await v.page.evaluate(() => document.querySelector("#place").scrollIntoView({ block: "nearest" }));
    const found = await v.page.evaluate(() => {
      const boxOf = (of) => document.querySelector(of).getBoundingClientRect(), panel = boxOf("#order");
      const [fee, total, place] = ["#order-fee", "#order-total", "#place"].map(boxOf), faults = [];
      if (!(fee.bottom <= total.top + 1 && total.bottom <= place.top + 1)) faults.push("fee, total and button are not below each other");
      for (const [of, box] of Object.entries({ "#order-fee": fee, "#order-total": total, "#place": place })) {
        const notices = [...document.querySelectorAll(".result, .phone-news")].map((e) => e.getBoundingClientRect()).filter((r) => r.width);
        if (!notices.length && innerWidth > 390) faults.push("there is no notice");
        if (notices.some((r) => r.left < box.right && r.right > box.left && r.top < box.bottom && r.bottom > box.top)) faults.push(of + " intersects a notice");
        if (box.top < Math.max(0, panel.top) || box.bottom > Math.min(innerHeight, panel.bottom) + 1) faults.push(of + " is cut");
        const there = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
        if (!document.querySelector(of).contains(there)) faults.push(of + " is covered by " + there?.outerHTML.slice(0, 60));
      }
      return faults;
    });
    assert.deepEqual(found, [], `what the order costs, ${width} × ${height}`);
    if (width === 390) await v.page.getByRole("tab", { name: "Chart" }).click();
  }
  await v.page.setViewportSize(size);
}

// inTradeView shows what belongs to the form on a phone too; larger windows show it in every view.
const inTradeView = (v, on = true) => v.page.evaluate((view) => {
  const [path, search] = location.hash.split("?"), query = new URLSearchParams(search);
  if (view) query.set("view", "trade");
  else query.delete("view");
  location.hash = path + "?" + query;
}, on);

// wholeRows finds no row of the book or the trades that the edge of its list cuts.
async function wholeRows(v, what) {
  const cut = await v.page.evaluate(() => ["#book .asks", "#book .bids", "#trades .panel-body"].flatMap((of) => {
    const list = document.querySelector(of), edge = list.getBoundingClientRect();
    return [...list.querySelectorAll(".level, tbody tr")].map((row) => row.getBoundingClientRect())
      .filter((row) => (row.top < edge.top - 1 && row.bottom > edge.top + 1) || (row.top < edge.bottom - 1 && row.bottom > edge.bottom + 1)).map((row) => `${of}: ${row.top} to ${row.bottom}, of ${edge.top} to ${edge.bottom}`);
  }));
  assert.deepEqual(cut, [], what);
}

// asDemoUser trades for the demo user.
async function asDemoUser() {
  const v = await begin();
  const sockets = [];
  let refusing = false;
  await v.page.routeWebSocket(/\/v2\/ws$/, (ws) => {
    sockets.push(ws);
    if (refusing) ws.close({ code: 1011 });
    else ws.connectToServer();
  });
  await v.open(page);
  await live(v, "open");
  await filled(v);
  await v.sees("Open an account to see its orders");
  const before = await v.at("#book").innerText();
  await v.until(async () => (await v.at("#book").innerText()) !== before, "the book moves");
  await v.at("#trades tbody tr").first().waitFor();
  await drawn(v);
  await openDemo(v);
  assert.ok(Number(await v.at("#price").inputValue()) > 1000, "the last price is filled in");
  await checksOrders(v);

  // By keyboard: a price above the best ask is filled, whatever the book does meanwhile.
  await byKeyboard(v, ((await best(v, "ask")) * 1.02).toFixed(1), "0.01");
  await settles(v, 4);
  await v.page.getByRole("tab", { name: "Fills" }).click();
  await v.at("#fills [data-fill]").first().waitFor();
  await v.page.getByRole("tab", { name: "Balances" }).click();
  await v.until(async () => /\$/.test(await v.at('[data-balance="VITE"]').innerText()), "a balance has a value");

  // The chart sums up the fills of a candle.
  await byKeyboard(v, ((await best(v, "ask")) * 1.02).toFixed(1), "0.011");
  await settles(v, 4);
  await v.at('[data-interval="week"]').click();
  await v.until(async () => /You bought 0\.021 ETH at [\d,.]+ \(\d+ fills\)/.test(await v.at('#legend [data-own="0"]').innerText()), "the legend sums up the fills");
  await v.at('[data-interval="minute"]').click();

  // One far below rests and stands in the chart and the book; the state survives a reload.
  await v.page.getByRole("tab", { name: "Order history" }).click();
  await v.at('#order-history [data-status="4"]').first().waitFor();
  assert.ok(Number(await v.at('#order-history [data-status="4"] [data-average]').first().getAttribute("data-average")) > 1000, "the average price is listed");
  assert.match(await v.at("#order-history thead").innerText(), /Average price[^]*Filled value/);
  await v.page.getByRole("tab", { name: "Order history" }).focus();
  await v.page.keyboard.press("ArrowRight"); // round to the first tab
  await v.at("#open-orders").waitFor();
  await byKeyboard(v, ((await best(v, "bid")) * 0.8).toFixed(1), "0.02");
  await settles(v, 3);
  await v.at('#open-orders [data-status="3"]').first().waitFor();
  await inView(v, "1440 wide");
  await wholeRows(v, "1440 wide");
  await v.fits(axe, "trade with an account");
  await v.shot("trade-account");
  await v.at('[data-interval="hour"]').click();
  await v.at("#quantity").fill("0.5");
  await v.page.getByRole("tab", { name: "Fills" }).click();
  const place = await v.page.evaluate(() => location.hash);
  assert.match(place, /^#\/ETH-000_VITE\?.*interval=hour/);
  await v.page.reload();
  await v.at('#session[data-kind="trading"]').waitFor();
  await v.at("#fills [data-fill]").first().waitFor();
  assert.deepEqual([await v.page.evaluate(() => location.hash), await v.at("#quantity").inputValue(), await v.at('[data-interval="hour"]').getAttribute("aria-pressed")], [place, "0.5", "true"]);

  // The connection breaks: what was typed stays, and the page reconnects.
  refusing = true;
  sockets.at(-1).close({ code: 1001 });
  await live(v, "broken");
  assert.equal(await v.at("#quantity").inputValue(), "0.5");
  refusing = false;
  await live(v, "open");

  await cancels(v);
  await losesAnAnswer(v);
  await losesAnOrder(v);
  assert.deepEqual(await v.page.evaluate(() => [".asks", ".bids"].map((side) => document.querySelector(side).scrollTop)), [0, 0], "the best prices stay in view while the book moves");
  await v.end();
}

// checksOrders types what cannot be ordered, and reads what an order costs.
async function checksOrders(v) {
  const placed = (await orders("")).total;
  await v.at("#book .level.ask").first().click();
  await v.until(async () => Number(await v.at("#price").inputValue()) > 1000, "the book fills in the price");
  for (const [quantity, field, complaint] of [["0.0000001", "total", /Total: the minimum order/], ["90", "total", /Total: only .* are available/], ["x", "quantity", /Amount: enter a number above zero with at most/]]) {
    await v.at("#quantity").fill(quantity);
    await hint(v, field, complaint);
    await v.at("#place").click();
    await focused(v, field);
  }
  // The fee is in the total: 50,000 VITE lock 50,100.
  await v.at("#price").fill("50000");
  await v.at("#quantity").fill("1");
  await v.until(async () => (await v.at("#total").inputValue()) === "50100", "the total has the fee");
  assert.equal((await v.at("#order-fee").innerText()).replace(/\s/, " "), "100VITE");
  await v.at("#total").fill("25050");
  await v.until(async () => (await v.at("#quantity").inputValue()) === "0.5", "the total sets the amount");

  // 100 % is the most that the exchange takes, and without a price it fills in the best one.
  await v.at("#price").fill("");
  await v.at('[data-share="100"]').click();
  await v.until(async () => Number(await v.at("#total").inputValue()) > 0, "a share without a price");
  const available = numberOf((await v.at("#available").innerText()).replace(/[^\d.,]/g, ""));
  const total = Number(await v.at("#total").inputValue());
  assert.ok(total <= available && total > available * 0.9999, `${total} of ${available}`);
  assert.equal(await v.at("#total-hint").innerText(), "");

  // Post only refuses a price that the book would fill.
  await v.at("#quantity").fill("0.01");
  await v.at("#price").fill(((await best(v, "ask")) * 1.02).toFixed(1));
  await v.at("#post-only").check();
  await hint(v, "price", /Price: post only needs a price below the best ask/);
  await v.sees("the exchange does not check again");
  await v.at("#post-only").uncheck();

  // A price that is far off is asked about.
  await v.at("#price").fill(((await best(v, "ask")) * 80).toFixed(1));
  await v.at("#quantity").fill("0.001");
  await v.at("#place").click();
  await v.page.getByRole("dialog", { name: /worse than the market/ }).waitFor();
  for (const text of ["Last price", "Worse than:", "Cost of what fills now", "Total with fee, at most"]) await v.page.getByRole("dialog").getByText(text).first().waitFor();
  const fact = async (name) => (await v.page.getByRole("dialog").locator(`dt:text-is("${name}") + dd`).innerText());
  const figure = async (name) => numberOf(/[\d,.]+/.exec(await fact(name))[0]);
  const worse = await v.page.getByRole("dialog").locator("dt", { hasText: "Worse than: " }).innerText(), than = worse.slice("Worse than: ".length), expected = ((await figure("Price")) / (await figure(than)) - 1) * 100;
  assert.ok(Math.abs((await figure(worse)) - expected) < expected / 1e5, `${await fact(worse)}, but the figures give ${expected}`);
  assert.match(await v.page.getByRole("dialog").getByRole("heading").innerText(), /[\d],\d{3}/);
  assert.match(await v.page.getByRole("dialog").locator("form > p:first-child").innerText(), /^Now 0\.001 of 0\.001 ETH would fill at [\d,.]+ VITE on average\. Your limit allows up to [\d,.]+ VITE: at worst you pay [\d,.]+ VITE with the fee\./);
  await inTradeView(v);
  await v.fits(axe, "a price that is far off");
  await v.shot("trade-far-off");
  await inTradeView(v, false);
  await v.page.keyboard.press("Escape");
  await v.page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal((await orders("")).total, placed, "nothing was sent");
}

// orders of the demo user, as the API has them.
async function orders(path) {
  const { address } = await (await fetch(given.exchange + "/demo/session")).json();
  return (await (await fetch(`${given.exchange}/api/v2/orders${path}?address=${address}&total=1`)).json()).data;
}

// cancels one order and then all.
async function cancels(v) {
  await v.page.getByRole("tab", { name: "Open orders" }).click();
  const rests = v.at('#open-orders [data-status="3"]');
  await rests.first().getByRole("button", { name: /^Cancel/ }).click();
  await v.sees("No open orders.");
  for (const part of [0.8, 0.75]) {
    await byKeyboard(v, ((await best(v, "bid")) * part).toFixed(1), "0.02");
    await settles(v, 3);
  }
  await v.until(async () => (await rests.count()) === 2, "two orders rest");
  await v.at("#cancel-all").click();
  await v.page.getByRole("dialog", { name: "Cancel all open orders?" }).getByRole("button", { name: "Cancel all 2 orders in all pairs" }).click();
  await v.sees("No open orders.");
}

// hides the account's orders from the lists, as before the exchange lists them; it returns how to end that.
async function hides(v) {
  const lists = /\/api\/v2\/orders(\/open)?\?/;
  await v.page.route(lists, (route) => route.fulfill({ json: { code: 0, msg: "ok", data: { order: [] } } }));
  return () => v.page.unroute(lists);
}

const waitFirst = /^May be placed\. Wait about [1-3] min before you place a different order\.$/;

const unlisted = (route) => route.fulfill({ json: { code: 0, msg: "ok", data: null } });

// losesAnAnswer to an order: its outcome is unknown, and sending it again places it once.
async function losesAnAnswer(v) {
  v.expected.push(/ERR_|Failed to load/);
  let lost = true;
  await v.page.route("**/api/v2/order{,?*}", async (route) => {
    if (!lost) return route.fallback();
    if (route.request().method() !== "POST") return unlisted(route);
    await route.fetch();
    return route.abort("connectionreset");
  });
  const list = await hides(v);
  const first = v.page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/api/v2/order"));
  await byKeyboard(v, ((await best(v, "bid")) * 0.8).toFixed(1), "0.03");
  const sent = new URLSearchParams((await first).postData()).get("clientOrderId");
  await settles(v, "unknown");
  await v.at("#result").getByText(waitFirst).waitFor();
  await v.at("#unlisted").getByText("Not in this list yet.").waitFor();
  assert.equal(await v.page.getByText("No open orders.").count(), 0, "the list does not contradict the form");
  await inView(v, "an unknown order");
  await costsInView(v);
  assert.equal(await v.at("#quantity").inputValue(), "0.03");
  await v.shot("trade-unknown");
  await inTradeView(v);
  await v.shot("trade-unknown-form");
  await inTradeView(v, false);
  await v.page.reload(); // the form and the order's client ID stay
  await v.at('#session[data-kind="trading"]').waitFor();
  await settles(v, "unknown");
  assert.equal(await v.at("#quantity").inputValue(), "0.03");
  await openDemo(v);
  const [again] = await Promise.all([v.page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/api/v2/order")), v.at("#place").click()]);
  assert.ok(again.postData().includes("clientOrderId=" + sent), "the same client ID is sent");
  assert.equal(await v.page.getByRole("dialog").count(), 0, "the same order is placed once: no question");
  lost = false;
  await list();
  await settles(v, 3);
  await v.until(async () => (await v.at("#quantity").inputValue()) === "", "an order that is found leaves the form");
  await v.until(async () => (await v.at("#open-orders [data-order]").count()) > 0, "the order is listed");
  await v.at("#unlisted").waitFor({ state: "detached" });
  assert.equal((await orders("/open")).order.filter((o) => Number(o.quantity) === 0.03).length, 1, "it is placed once");
}

// losesAnOrder on its way. Later the page proves that it was not placed, but only where the exchange confirms that.
async function losesAnOrder(v) {
  let reaches = true, sent = 0;
  await v.page.route("**/api/v2/order{,?*}", async (route) => {
    if (route.request().method() === "GET") return unlisted(route);
    sent++;
    if (reaches) await route.fetch();
    return route.abort("connectionreset");
  });
  const later = "**/api/v2/time{,?*}", late = (route) => route.fulfill({ json: { code: 0, msg: "ok", data: Date.now() + 600_000 } });
  const tested = async () => (await (await v.page.waitForResponse((r) => r.url().endsWith("/order/test"))).json()).code;

  const list = await hides(v);
  await byKeyboard(v, ((await best(v, "bid")) * 0.8).toFixed(1), "0.04");
  await settles(v, "unknown");
  await v.at("#result").getByText(waitFirst).waitFor();
  const [placed] = await Promise.all([tested(), v.page.route(later, late)]);
  assert.equal(placed, 1004, "the order has its client ID");
  await v.page.waitForResponse((r) => r.request().method() === "GET" && /\/order\?/.test(r.url()));
  await settles(v, "unknown");
  await v.page.unroute(later);
  await list(); // once the account's list has the order, it is confirmed, though the lookup still has nothing
  await settles(v, 3);
  await v.at('#open-orders [data-order]').first().waitFor();
  await v.until(async () => (await v.at("#quantity").inputValue()) === "", "an order that is listed leaves the form");

  reaches = false;
  await byKeyboard(v, ((await best(v, "bid")) * 0.8).toFixed(1), "0.05");
  await v.until(async () => /0\.05/.test(await v.at('#result[data-status="unknown"]').innerText()), "the second order is unknown");
  await asksForAnother(v, () => sent);
  await v.page.route(later, late);
  await settles(v, "absent");
  await v.until(async () => (await v.at('.result[data-status="absent"]').count()) === 2, "both are proven absent");
  for (const text of ["Not placed", "It locks no funds."]) await v.sees(text);
  await v.fits(axe, "not placed");
  await v.shot("trade-absent");
  assert.equal(await v.at("#quantity").inputValue(), "0.06", "it can be placed again");
  await v.page.unroute(later);
  await v.page.unroute("**/api/v2/order{,?*}");
  await v.at("#quantity").fill("0.07"); // another order: nothing is unknown any more, so nothing is asked
  await v.at("#place").click();
  await settles(v, 3);
  const open = (await orders("/open")).order;
  assert.deepEqual([0.04, 0.05, 0.06, 0.07].map((n) => open.filter((o) => Number(o.quantity) === n).length), [1, 0, 0, 1], "each is placed once, and what was not confirmed is not");
}

// asksForAnother places a second order while the outcome of the one of 0.05 is unknown, without a pointer.
async function asksForAnother(v, sent) {
  const before = sent(), dialog = v.page.getByRole("dialog", { name: "Place another order?" });
  const press = async () => {
    await byKeyboard(v, ((await best(v, "bid")) * 0.8).toFixed(1), "0.06");
    await dialog.waitFor();
  };
  await press();
  await dialog.getByText(/An earlier order may still be placed: Buy 0\.05 ETH at [\d,.]+ VITE\./).waitFor();
  await v.page.keyboard.press("Enter"); // the focus is on the cross
  await dialog.waitFor({ state: "detached" });
  await v.page.waitForTimeout(300);
  assert.equal(sent(), before, "nothing is sent without the confirmation");
  await press();
  await v.fits(axe, "another order");
  await inTradeView(v);
  await v.shot("trade-another");
  await inTradeView(v, false);
  await dialog.locator('button.danger:not([aria-disabled="true"])').waitFor(); // a second tap sends nothing
  await v.until(async () => {
    await v.page.keyboard.press("Tab");
    return v.page.evaluate(() => document.activeElement.matches("#another button.danger"));
  }, "the Tab key reaches the confirmation");
  await v.page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await v.until(async () => (await v.at('.result[data-status="unknown"]').count()) === 2, "both are unknown");
  assert.equal(sent(), before + 1, "it is sent once");
  await costsInView(v);
  const size = v.page.viewportSize();
  await v.page.setViewportSize({ width: 390, height: 844 });
  const strip = v.at(".phone-news");
  for (const text of ["Buy 0.06 ETH", "Not confirmed", waitFirst]) await strip.getByText(text).waitFor();
  const [bar, news] = [await v.at(".phone-bar").boundingBox(), await strip.boundingBox()];
  assert.ok(news.y + news.height <= bar.y + 1, "the strip covers the buttons");
  await v.at(".phone-bar .buy").click();
  await v.page.waitForTimeout(700); // else it would be a second tap
  await v.at("#quantity").fill("0.07");
  await v.at("#place").click();
  await dialog.getByText(/Buy 0\.06 ETH at .* Buy 0\.05 ETH at /).waitFor();
  await v.page.keyboard.press("Escape");
  await v.at("#quantity").fill("0.06");
  await v.page.getByRole("tab", { name: "Chart" }).click();
  await v.page.setViewportSize(size);
  assert.equal(sent(), before + 1);
}

// withOwnKey types a key and its secret. After a reload the account is only read.
async function withOwnKey() {
  const session = await (await fetch(given.exchange + "/demo/session")).json();
  const v = await begin();
  await v.open(page);
  await v.at("#use-key").click();
  await v.at("#open-account").click();
  await v.sees("Account address: this is none, or it is mistyped.");
  for (const field of ["address", "key"]) await v.at("#" + field).fill(session[field]);
  await v.at("#secret").fill("wrong");
  await v.fits(axe, "an API key");
  await v.at("#secret").fill(session.secret);
  await v.at("#open-account").click();
  await v.at('#session[data-kind="trading"]').waitFor();
  await v.page.reload();
  await v.at('#session[data-kind="reading"]').waitFor();
  await v.sees("Read only.");
  assert.equal(await v.at("#place").count(), 0, "an account that is only read places no orders");
  assert.ok(!(await kept(v)).includes(session.secret), "the secret is kept somewhere");
  await v.at("#enter-secret").click();
  await v.until(async () => (await v.at("#key").inputValue()) === session.key, "the key is filled in");
  await v.at("#secret").fill(session.secret);
  await v.at("#open-account").click();
  await v.at('#session[data-kind="trading"]').waitFor();
  await v.end();
}

// moved are the demo user's moves of VITE between wallet and exchange, as the API lists them.
async function moved() {
  const { address } = await (await fetch(given.exchange + "/demo/session")).json();
  return { address, ...(await (await fetch(`${given.exchange}/api/v2/deposit-withdraw?address=${address}&tokenId=tti_5649544520544f4b454e6e40`)).json()).data };
}

// movesFunds between the wallet and the exchange: with the demo wallet, with an answer that gets lost, and with a wallet elsewhere.
async function movesFunds() {
  const v = await begin();
  await v.open(page + "#/?move=VITE"); // as the bridge page links here
  await v.at("#use-demo").click();
  const units = async (id) => numberOf((await v.at(id).innerText()).replace(/[^\d.,]/g, "") || "NaN");
  const send = async (amount) => {
    await v.at("#move-amount").fill(amount);
    await v.until(async () => (await v.at("#move-send").getAttribute("aria-disabled")) === null, "a move of " + amount);
    await v.at("#move-send").click();
  };
  await v.until(async () => (await units("#in-wallet")) > 0 && (await units("#on-exchange")) > 0, "both balances are shown");
  const had = { total: (await moved()).total, exchange: await units("#on-exchange") };
  await v.at("#move-amount").fill("99999999");
  await hint(v, "move-amount", /Amount: only .* are available/);
  assert.equal(await v.at("#move-send").getAttribute("aria-disabled"), "true");
  await v.fits(axe, "move funds");
  await v.shot("trade-move");
  await send("3.00000000012"); // the exchange lists eight digits
  await v.sees("3.00000000012 VITE are on the exchange now.");
  await v.at("#moved").getByRole("button", { name: "Move more" }).click();
  await v.until(async () => (await units("#on-exchange")) === had.exchange + 3, "the exchange has 3 VITE more");
  await v.page.getByRole("radio", { name: "Exchange to wallet" }).click();
  await send("1");
  await v.sees("The exchange has sent 1 VITE to the wallet.");

  // An answer that gets lost is an unknown outcome: nothing is sent again, and the list of the exchange tells.
  await v.at("#moved").getByRole("button", { name: "Move more" }).click();
  await v.page.getByRole("radio", { name: "Wallet to exchange" }).click();
  v.expected.push(/ERR_/);
  let listed = false, sent = 0;
  await v.page.route("**/demo/rpc", async (route) => {
    if (!/sendRawTransaction/.test(route.request().postData()) || !/MZ5G3Q/.test(route.request().postData())) return route.fallback();
    sent++;
    await route.fetch();
    return route.abort("connectionreset");
  });
  await v.page.route("**/api/v2/deposit-withdraw?*", (route) => (listed || !sent ? route.fallback() : route.abort("connectionreset")));
  await send("4");
  await v.sees("No answer arrived: the move may have been made.");
  await v.page.keyboard.press("Escape");
  await v.page.reload();
  await v.at('#session[data-kind="trading"]').waitFor();
  await v.at("#move-funds").click();
  await v.sees("No answer arrived: the move may have been made."); // nobody moves the same again by mistake
  listed = true;
  await v.sees("4 VITE are on the exchange now.");
  await v.page.unroute("**/demo/rpc");
  assert.equal(sent, 1, "it was sent once");
  const after = await moved();
  assert.deepEqual([after.total - had.total, ...after.record.slice(0, 3).map((r) => [r.type, Number(r.amount)])], [3, [1, 4], [2, 1], [1, 3]]);
  await v.at("#moved").getByRole("button", { name: "Done" }).click();
  await v.until(() => v.page.evaluate(() => !location.hash.includes("move=")), "the link is spent");

  // Another page has the account's address alone: it shows a payment for the wallet, and sees it arrive.
  const other = await begin();
  await other.open(page);
  await other.page.evaluate((address) => localStorage.setItem("trade.account", address), after.address);
  await other.page.reload();
  await other.at('#session[data-kind="reading"]').waitFor();
  await other.page.goto(page + "#/?move=NONE-001"); // no other token takes the place of one that is not listed
  await other.sees("NONE-001 is not listed here.");
  await other.at("#move-amount").fill("5");
  assert.deepEqual([await other.at("#move-token").inputValue(), await other.at("#move-send").getAttribute("aria-disabled"), await other.at("#move-send").innerText()], ["", "true", "Choose a token"]);
  await other.shot("trade-move-unlisted");
  await other.at("#move-token").selectOption("VITE");
  await other.page.getByText("is not listed here").waitFor({ state: "detached" });
  await other.at("#move-amount").fill("5");
  await other.at("#move-send").click();
  await other.at("#move-link").waitFor();
  const link = new URL(await other.at("#move-link").innerText());
  assert.deepEqual([link.pathname, link.searchParams.get("amount"), Buffer.from(link.searchParams.get("data"), "base64url").toString("hex")], ["vite_0000000000000000000000000000000000000006e82b8ba657", "5", "319e46dd"]);
  await other.fits(axe, "a move by a wallet");
  await other.shot("trade-move-wallet");
  await v.at("#move-funds").click();
  await v.at("#move-token").selectOption("VITE");
  await send("5");
  await v.sees("5 VITE are on the exchange now.");
  await other.sees("5 VITE are on the exchange now.");
  await other.end();
  await v.end();
}

// choosesMarkets searches, keeps favourites, and reads the book and the chart of another pair.
async function choosesMarkets() {
  const v = await begin();
  await v.open(page);
  await filled(v);
  await v.at("#book .level.ask").first().click();
  await v.until(async () => (await v.at("#price").inputValue()) !== "", "the book fills in the price");
  await v.at("#pair").focus();
  await v.page.keyboard.press("Enter");
  await v.at("[data-market]").first().waitFor();
  await v.at('[data-market="USDT-000_VITE"] button.star').click();
  await v.fits(axe, "markets");
  await v.shot("trade-markets");
  await v.at("#market-search").fill("no such pair");
  await v.sees("No market matches.");
  await v.at("#market-search").fill("usdt/");
  await v.page.keyboard.press("ArrowDown");
  await v.page.keyboard.press("Enter");
  await v.until(async () => (await v.at("h1").innerText()) === "USDT/VITE", "the pair changes");
  await filled(v);
  await v.until(async () => Number(await v.at("#price").inputValue()) > 0, "the price of this pair is filled in");
  assert.ok(Number(await v.at("#price").inputValue()) < 1000, "a price of another pair");
  assert.match(await v.page.evaluate(() => location.hash), /^#\/USDT-000_VITE/);
  await filled(v);
  const prices = (await v.at("#book .level.ask .price").allInnerTexts()).length;
  await v.at("#precision").selectOption({ index: 3 });
  await v.until(async () => (await v.at("#book .level.ask .price").first().innerText()).match(/\.(\d+)$/)?.[1].length === 1, "prices are in steps of 0.1");
  assert.ok((await v.at("#book .level.ask .price").count()) <= prices);
  await v.page.getByRole("radio", { name: "Depth" }).click();
  await v.at(".depth").focus();
  for (let i = 0; i < 5; i++) await v.page.keyboard.press("ArrowRight");
  await v.until(async () => /Asks: .*, Sum/.test(await v.at(".depth").getAttribute("aria-valuetext")), "the cursor reads the depth");
  const plot = await v.at(".depth").boundingBox();
  await v.page.mouse.move(plot.x + plot.width / 2, plot.y + 60);
  await v.until(async () => /^Spread: [\d.,]+ VITE$/.test(await v.at(".depth").getAttribute("aria-valuetext")), "between the sides is no amount");
  assert.ok((await v.at(".depth-axis span").count()) > 0, "the depth has an axis of amounts");
  await v.fits(axe, "depth");
  await v.shot("trade-depth");
  await v.page.goBack();
  await v.until(async () => (await v.at("h1").innerText()) === "ETH/VITE", "the way back");
  await v.page.goto(page + "#/USDT-000_VITE");
  await v.until(async () => (await v.at("h1").innerText()) === "USDT/VITE", "a link leads to a pair");
  await v.page.reload();
  await v.at("#pair").click();
  await v.at("#only-favourites").click();
  await v.until(async () => (await v.at("[data-market]").count()) === 1, "the favourite is remembered");
  await v.end();
}

// away shows an exchange that does not answer: one banner, and what was there stays.
async function away() {
  const v = await begin();
  await v.open(page);
  await filled(v);
  await openDemo(v);
  await v.at("#price").fill("1000");
  v.expected.push(/ERR_/);
  await v.page.route("**/api/v2/**", (route) => route.abort("connectionrefused"));
  await v.page.evaluate(() => dispatchEvent(new Event("retry")));
  await v.at("#lost").waitFor();
  assert.equal(await v.page.getByText("No answer from the server").count(), 1, "one banner");
  assert.equal(await v.at("#price").inputValue(), "1000");
  assert.ok((await v.at("#book .level").count()) > 5);
  await live(v, "away");
  assert.equal(await v.at("#place").innerText(), "No connection");
  assert.equal(await v.at("#place").getAttribute("aria-disabled"), "true");
  for (const cancel of [v.at("#cancel-all"), v.at("#open-orders tbody button").first()]) {
    assert.deepEqual([await cancel.getAttribute("aria-disabled"), await cancel.getAttribute("title")], ["true", "No connection: no cancel can be sent now."]);
    await cancel.click({ force: true });
  }
  assert.equal(await v.page.getByRole("dialog").count(), 0);
  const colour = (of) => v.at(of).first().evaluate((e) => getComputedStyle(e).color);
  assert.equal(await colour("#book .level.ask .price"), await colour("#book .level-head"), "old prices are grey");
  for (const off of [v.at("#move-funds"), v.at('[data-share="100"]')]) assert.equal(await off.getAttribute("aria-disabled"), "true");
  const typed = await v.at("#quantity").inputValue();
  for (const off of ["#move-funds", '[data-share="100"]']) await v.at(off).click({ force: true });
  assert.deepEqual([await v.at("#quantity").inputValue(), await v.page.getByRole("dialog").count()], [typed, 0], "nothing happens without a connection");
  await v.page.setViewportSize({ width: 390, height: 844 });
  const ground = (of) => v.at(of).evaluate((e) => getComputedStyle(e).backgroundColor);
  assert.equal(await ground(".phone-bar .buy"), await ground(".phone-bar .sell"), "both are grey");
  for (const kind of ["buy", "sell"]) {
    assert.equal(await v.at(".phone-bar ." + kind).getAttribute("aria-disabled"), "true");
    await v.at(".phone-bar ." + kind).click({ force: true });
  }
  assert.equal(await v.at(".phone-bar").isVisible(), true, "they lead nowhere");
  await v.page.setViewportSize({ width: 1440, height: 900 });
  await v.sees("since");
  await v.fits(axe, "away");
  await v.shot("trade-away");
  await Promise.all([v.page.waitForRequest(/\/api\/v2\//), v.at("#lost").getByRole("button").click()]); // the banner goes with the first answer
  await v.page.unroute("**/api/v2/**");
  await v.at("#lost").waitFor({ state: "detached" });
  await live(v, "open");
  await v.until(async () => (await v.at("#place").innerText()) === "Buy ETH", "orders can be sent again");
  assert.notEqual(await colour("#book .level.ask .price"), await colour("#book .level-head"));
  await v.end();
}

// withoutData shows an exchange without orders, trades and markets, and one that is away from the start.
async function withoutData() {
  const v = await begin({ viewport: { width: 390, height: 844 } });
  v.expected.push(/ERR_/);
  const answer = (data) => (route) => route.fulfill({ json: { code: 0, msg: "ok", data } });
  await v.page.routeWebSocket(/\/v2\/ws$/, () => {});
  await v.page.route("**/api/v2/depth?*", answer({ asks: [], bids: [["1000.0", "2"]] }));
  await v.page.route("**/api/v2/trades?*", answer([]));
  let markets = (route) => route.abort("connectionrefused");
  await v.page.route("**/api/v2/markets?*", (route) => markets(route));
  await v.open(page);
  await v.sees("The exchange does not answer");
  await v.fits(axe, "away from the start");
  markets = answer([]);
  await v.sees("There are no markets yet.");
  markets = (route) => route.fallback();
  await v.page.evaluate(() => dispatchEvent(new Event("retry")));
  await v.at("#last").waitFor();
  await v.at("#use-demo").waitFor(); // in the first view of a phone
  await v.page.getByRole("tab", { name: "Book" }).click();
  for (const text of ["No asks", "Last price", "No recent trades"]) await v.at("#book, #trades").getByText(text).waitFor();
  await v.shot("trade-without-data");
  await v.end();
}

async function inEveryLook() {
  for (const look of [...looks, { name: "1024-light", options: { colorScheme: "light", viewport: { width: 1024, height: 768 } } }]) {
    const v = await begin(look.options);
    const phone = look.name.startsWith("390");
    await v.open(page);
    await live(v, "open");
    await drawn(v);
    if (look.name.startsWith("1440")) {
      const [inner, all] = await v.page.evaluate(() => [innerHeight, document.documentElement.scrollHeight]);
      assert.ok(all <= inner, `the page scrolls: ${all} of ${inner}`);
    }
    if (!phone) await wholeRows(v, look.name);
    await v.fits(axe, "trade " + look.name);
    await v.shot("trade-" + look.name);
    if (look.name.startsWith("1024")) await onTablet(v);
    if (phone) await onPhone(v, look.name);
    await v.at("#language").click();
    await v.sees("订单簿");
    await v.fits(axe, "trade in Chinese " + look.name);
    await v.shot("trade-zh-" + look.name);
    await v.end();
  }
}

// onTablet places an order where the page scrolls.
async function onTablet(v) {
  await openDemo(v);
  await v.at("#price").fill(((await best(v, "ask")) * 1.25).toFixed(1));
  await v.page.getByRole("radio", { name: "Sell" }).click();
  await v.at("#quantity").fill("0.002");
  await v.at("#place").click();
  await settles(v, 3);
  await inView(v, "1024 wide");
}

const leastLevel = 24; // pixels: pressing a level only fills in its price

// pressable finds nothing that is too small for a finger.
async function pressable(v, what) {
  const small = await v.page.evaluate((leastLevel) => [...document.querySelectorAll("main :is(button, select, input:not([type=checkbox]))")]
    .filter((e) => e.getBoundingClientRect().width && e.getBoundingClientRect().height < (e.matches(".level") ? leastLevel : 43.5)).map((e) => e.outerHTML.slice(0, 90)), leastLevel);
  assert.deepEqual(small, [], what);
}

// onPhone turns through the views of a phone.
async function onPhone(v, name) {
  await v.at("#use-key").waitFor();
  await pressable(v, "chart " + name);
  await v.page.getByRole("tab", { name: "Book" }).click();
  await filled(v);
  await v.at("#book .middle").getByText("Mid price").waitFor();
  const high = ((await best(v, "ask")) * 1.25).toFixed(1); // it rests
  await wholeRows(v, "book " + name);
  assert.ok((await v.at("#book .asks").boundingBox()).height >= 7 * leastLevel, "the book fills the screen");
  await v.shot("trade-book-" + name);
  await pressable(v, "book " + name);
  await v.at(".phone-bar .sell").click();
  await v.at("#place, #use-demo").first().waitFor();
  await v.page.getByRole("tab", { name: "Chart" }).click();
  await openDemo(v); // it leads to the form
  await v.at('#order[data-side="sell"]').waitFor();
  await v.fits(axe, "the form " + name);
  await pressable(v, "the form " + name);
  await v.shot("trade-form-" + name);
  await v.at("#price").fill(high);
  await v.at("#quantity").fill("0.002");
  await v.at("#place").click();
  await settles(v, 3);
  await inView(v, "an order " + name);
  await v.page.getByRole("tab", { name: "Chart" }).click();
  await v.at(".phone-news").getByText("Sell 0.002 ETH").waitFor();
  await v.fits(axe, "the chart with an order " + name);
  await pressable(v, "the chart with an order " + name);
  await v.shot("trade-sent-" + name);
  await v.at(".phone-news").getByRole("button", { name: "Orders" }).click();
  await v.at("#open-orders [data-order]").first().waitFor();
  await v.page.getByRole("tab", { name: "Orders", exact: true }).click();
  await v.at("#open-orders").waitFor();
  await v.fits(axe, "orders " + name);
  await pressable(v, "orders " + name);
  await v.shot("trade-orders-" + name);
  await v.page.getByRole("tab", { name: "Book" }).click();
}

await asDemoUser();
await withOwnKey();
await movesFunds();
await choosesMarkets();
await away();
await withoutData();
await inEveryLook();
await close();
