// Opens the API pages and tries requests: node api_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: gateway, exchange (URLs of the listeners).
import assert from "node:assert/strict";
import { launch, looks } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
given.origins.push("null"); // pictures within the library's styles have data: URLs
const { axe, begin, close } = await launch(given);

// reference waits until an operation of the reference is drawn.
const reference = (v, path) => v.page.locator('a[href*="/GET' + path + '"]').first().waitFor();

// tryIt sends the request of an operation as it is, and reads the status of the answer.
async function tryIt(v, path) {
  await v.at('a[href$="/GET' + path + '"]').first().click();
  const section = v.page.locator('[id$="/GET' + path + '"]').first();
  await section.getByRole("button", { name: /Test Request/ }).click();
  const answered = v.page.waitForResponse((r) => new URL(r.url()).pathname.endsWith(path));
  await v.page.getByRole("dialog").getByRole("button", { name: /^Send/ }).first().click();
  const answer = await answered;
  assert.equal(answer.status(), 200, path);
  assert.equal((await answer.json()).code, 0, path);
  await v.page.getByRole("dialog").getByText("200 OK").first().waitFor();
}

for (const look of looks) {
  const v = await begin(look.options);
  await v.page.goto(given.exchange + "/docs");
  await v.page.getByRole("heading", { name: "gatewayd exchange API" }).waitFor();
  await v.page.getByRole("cell", { name: "The exchange balance is too small." }).first().waitFor();
  await v.fits(axe, "reference " + look.name);
  await v.page.screenshot({ path: `${given.pictures}/reference-${look.name}.png` });
  await v.page.getByRole("tab", { name: "WebSocket" }).click();
  await v.at("#topic-list tr").nth(10).waitFor();
  await v.fits(axe, "topics " + look.name);
  await v.shot("topics-" + look.name);
  await v.end();
}

// An operation is tried on both listeners, with values that they have.
const v = await begin();
await v.page.goto(given.gateway + "/docs");
await reference(v, "/meta-info");
await tryIt(v, "/meta-info");
await v.page.goto(given.exchange + "/docs");
await reference(v, "/market");

// Code in four languages.
const market = v.page.locator('[id$="/GET/market"]').first();
await v.at('a[href$="/GET/market"]').first().click();
await market.getByRole("button", { name: /Test Request/ }).waitFor();
for (const [name, code] of [["Shell", "curl"], ["JavaScript", "fetch("], ["Go", "http.NewRequest"], ["Python", "requests.get"]]) {
  await v.page.getByRole("tab", { name: new RegExp("^" + name) }).first().click();
  await v.until(async () => (await market.innerText()).includes(code), "code in " + name);
}
await tryIt(v, "/market");
await v.page.screenshot({ path: `${given.pictures}/reference-tried.png` });
await v.page.keyboard.press("Escape");

// The console refuses a wrong pair in words, then subscribes, shows a push and unsubscribes. The address keeps the topic.
await v.page.goto(given.exchange + "/docs#/websocket?topic=" + encodeURIComponent("market.{symbol}.depth.updates"));
await v.at("#connect").click();
await v.at("#socket-state", { hasText: "Connected" }).waitFor();
await v.at("#topic-symbol").fill("nothing");
await v.at("#subscribe").click();
await v.sees("Enter a pair as TRADE_QUOTE");
const pair = (await (await fetch(given.exchange + "/api/v2/markets")).json()).data[0].symbol;
await v.at("#topic-symbol").fill(pair);
await v.at("#subscribe").click();
await v.at("#frames .push", { hasText: '"snapshot": true' }).first().waitFor();
assert.match(v.page.url(), new RegExp("symbol=" + pair));
await v.at("#subscriptions button").click();
await v.sees("No subscriptions.");
await v.at("#frames .answer", { hasText: "un_sub" }).first().waitFor();
await v.at("#topic").selectOption("account.{address}");
await v.at("#topic-address").fill("vite_" + "0".repeat(50));
await v.at("#subscribe").click();
await v.sees("Enter the API key and its secret.");
await v.at("#topic-key").fill("0".repeat(32));
await v.at("#topic-secret").fill("1".repeat(32));
await v.at("#subscribe").click();
await v.sees("The sign-in was refused.");
assert.equal(await v.at("#frames .fault").count(), 1, "one error");
assert.equal(await v.at("#frames .sent").first().innerText().then((text) => text.includes('"auth"')), true, "nothing is requested after a refused sign-in");
await v.at("#language").click();
await v.sees("实时控制台");
await v.fits(axe, "topics in Chinese");
await v.shot("topics-chinese");
await v.at("#disconnect").click();
await v.sees("未连接");
await v.end();
await close();
