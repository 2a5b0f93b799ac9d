// Opens the start page of a gateway and of an exchange API: node start_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: gateway, exchange (URLs of the listeners).
import { launch, looks } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { axe, begin, close } = await launch(given);

for (const look of looks) {
  const v = await begin(look.options);
  await v.open(given.gateway + "/");
  await v.sees("All services are healthy");
  await v.fits(axe, "start " + look.name);
  await v.shot("start-" + look.name);
  await v.end();
}

// The switches of language and colours work by keyboard, and last.
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
await v.sees("网关与交易所");
await v.until(async () => (await v.page.evaluate(() => document.documentElement.lang)) === "zh-CN");
await v.open(given.exchange + "/");
await v.sees("网关与交易所");
await v.until(async () => (await ground()) !== light);
await v.fits(axe, "start in Chinese");
await v.at('nav a[href$="/keys"]').click();
await v.page.waitForURL(/\/keys$/);
await v.end();
await close();
