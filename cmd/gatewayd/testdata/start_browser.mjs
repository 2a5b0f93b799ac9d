// Opens the start page of a gateway and of an exchange API: node start_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: gateway, exchange (URLs of the listeners).
import assert from "node:assert/strict";
import { launch, looks } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { axe, begin, close } = await launch(given);
const middle = { name: "1024-light", options: { colorScheme: "light", viewport: { width: 1024, height: 768 } } };

// loaded counts the bytes that a page takes, as they come over the network.
async function loaded(v) {
  let bytes = 0;
  const client = await v.context.newCDPSession(v.page);
  await client.send("Network.enable");
  client.on("Network.loadingFinished", (e) => { bytes += e.encodedDataLength; });
  return () => bytes;
}

for (const look of [...looks, middle]) {
  const v = await begin(look.options);
  const bytes = await loaded(v);
  await v.open(given.gateway + "/");
  await v.at("#health .state.good").waitFor();
  await v.sees("Operational");
  await v.page.getByRole("link", { name: "USDT" }).waitFor();
  await v.until(async () => (await v.at(".way .state.good").count()) === 6, "three tokens, open both ways");
  await v.sees("from 0.01");
  await v.sees("0.01 – 100");
  await v.sees("What these tokens are");
  await v.until(async () => (await v.at('#reserves [data-reserves="covered"] .state.good').count()) === 3, "what is held covers what is owed");
  await v.sees("ETH-000 is the token on Vite for ETH");
  await v.page.waitForLoadState("networkidle");
  assert.ok(bytes() > 30_000 && bytes() < 300_000, `first load of ${bytes()} bytes`);
  await v.fits(axe, "start " + look.name);
  await v.shot("start-" + look.name);

  await v.open(given.exchange + "/");
  await v.until(async () => (await v.at("svg.trend polyline[points]").count()) === 3, "a trend of each market");
  await v.until(async () => (await v.at(".network .up, .network .down").count()) >= 6, "changes of a day");
  await v.sees("are bridged tokens: claims on the operator");
  await v.sees("Fee of a trade: maker");
  assert.equal(/The balance is yours|withdraw when you like/.test(await v.at("main").innerText()), false, "no promise that bridged tokens do not keep");
  await v.fits(axe, "start of the exchange " + look.name);
  await v.shot("start-exchange-" + look.name);
  await v.end();
}

// Each reader has his view, by keyboard; it survives a reload. Links lead to the bridge and to the API.
const reader = await begin({ colorScheme: "light" });
await reader.open(given.gateway + "/");
await reader.sees("from 0.01"); // what is drawn later may take the focus
await reader.at('[data-tab="wallet"]').focus();
await reader.page.keyboard.press("ArrowRight");
await reader.sees("Bring funds to the exchange");
await reader.page.keyboard.press("ArrowRight");
await reader.sees("/meta-info?tokenId=tti_");
await reader.fits(axe, "start for programs");
await reader.page.reload();
await reader.sees("/meta-info?tokenId=tti_");
const command = await reader.at(".ways pre").textContent();
const answer = await reader.page.evaluate(async (url) => (await fetch(url)).json(), command.match(/'(.*)'/)[1]);
assert.equal(answer.data.depositState, "OPEN");
await reader.page.getByRole("link", { name: "USDT" }).click();
await reader.page.waitForURL(/\/bridge#\/deposit\//);
await reader.end();

// The switches of language and colours work by keyboard, and last, also on the other listener.
const v = await begin({ colorScheme: "light" });
await v.open(given.exchange + "/");
const ground = () => v.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const light = await ground();
await v.at("#theme").focus();
await v.page.keyboard.press("Enter");
await v.page.keyboard.press("Enter");
await v.until(async () => (await ground()) !== light);
await v.at("#language").focus();
await v.page.keyboard.press("Space");
await v.sees("在 Vite 链上的订单簿中交易");
await v.until(async () => (await v.page.evaluate(() => document.documentElement.lang)) === "zh-CN");
await v.open(given.exchange + "/");
await v.sees("在 Vite 链上的订单簿中交易");
await v.until(async () => (await ground()) !== light);
await v.fits(axe, "start in Chinese");
await v.shot("start-exchange-zh-1440-dark");
await v.at('nav a[href$="/keys"]').click();
await v.page.waitForURL(/\/keys$/);
await v.open(given.gateway + "/bridge");
await v.at("nav a[aria-current]", { hasText: "跨链桥" }).waitFor();
assert.notEqual(await ground(), light);
await v.at("#language").click();
await v.open(given.exchange + "/trade");
await v.at("nav a[aria-current]", { hasText: "Trade" }).waitFor();
await v.end();

const chinese = await begin({ colorScheme: "dark", locale: "zh-CN" });
await chinese.open(given.gateway + "/#/operator");
await chinese.page.getByRole("columnheader", { name: "提现手续费" }).waitFor();
await chinese.fits(axe, "start of the gateway in Chinese");
await chinese.shot("start-zh-1440-dark");
await chinese.end();
await close();
