// Does what README tells a newcomer to do, by the words that README uses, and takes README's pictures on the way:
//   node newcomer_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: gateway (URL of the start page), exchange (its pages are linked from there).
import assert from "node:assert/strict";
import { launch } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { begin, close } = await launch(given);
const begun = Date.now();
const seconds = () => Math.round((Date.now() - begun) / 1000) + " s";
const button = (v, name) => v.page.getByRole("button", { name, exact: true });
const arrived = (v, amount, state) => v.at("#record").filter({ hasText: amount }).locator(`[data-state="${state}"]`).waitFor();

// picture is what the window shows, not the whole page: README has room for little.
async function picture(v, name) {
  await v.page.evaluate(() => scrollTo(0, 0));
  await v.until(async () => (await v.at("p.said:not(:empty)").count()) === 0);
  await v.page.screenshot({ path: `${given.pictures}/readme-${name}.png` });
}

// press presses a button that is there later: the demo user is made after the start.
async function press(v, name) {
  await v.until(async () => (await button(v, name).count()) === 1 && (await button(v, name).getAttribute("aria-disabled")) !== "true");
  await button(v, name).click();
}

// deposit is README's first step.
async function deposit(v, amount) {
  await v.open(given.gateway + "/");
  await v.page.getByRole("link", { name: "Bridge" }).first().click();
  await press(v, "Use the demo wallet");
  await v.until(async () => {
    if (await v.at("#pay").count()) return true;
    await button(v, "Use the demo wallet").click({ timeout: 1000 }).catch(() => {}); // offered again if nothing answered in time
    return false;
  });
  await v.page.getByLabel("Amount to deposit").fill(amount);
  await press(v, "Pay from the demo account");
  await press(v, "Pay now");
  await arrived(v, amount, "TOT_CONFIRMED");
}

const look = { colorScheme: "light", viewport: { width: 1440, height: 1000 }, deviceScaleFactor: 0.7 };
const v = await begin(look);
await deposit(v, "0.5");
console.log("a deposit after " + seconds());
await picture(v, "bridge");

await v.page.getByRole("tab", { name: "Withdraw" }).click();
await v.page.getByLabel(/^To your .* address/).fill("0x52908400098527886E0F7030069857D2E4169EE7");
await v.page.getByLabel("Amount that arrives").fill("0.2");
await press(v, "Withdraw");
await v.at("#confirm button.main").click();
await arrived(v, "0.2", "OPPOSITE_CONFIRMED");
console.log("a withdrawal after " + seconds());

await v.page.getByRole("link", { name: "Trade" }).first().click();
await press(v, "Use the demo account");
await v.until(async () => /[1-9]/.test(await v.at("#available").innerText()));
await v.at("#book .level.ask").first().click();
await v.page.getByRole("textbox", { name: "Amount" }).fill("0.001");
await press(v, "Buy ETH");
await v.page.getByRole("tab", { name: "Order history" }).click();
await v.at('#order-history [data-status="4"]').first().waitFor();
console.log("a trade after " + seconds());
await picture(v, "trade");

await press(v, "Move funds");
await v.page.getByLabel("Token").selectOption("ETH-000");
await v.page.getByRole("dialog").getByLabel("Amount").fill("0.1");
await press(v, "Move 0.1 ETH to the exchange");
await v.sees("0.1 ETH are on the exchange now.");
console.log("a move after " + seconds());
await v.page.keyboard.press("Escape");

await v.page.getByRole("link", { name: "API keys" }).first().click();
await press(v, "Use a demo account without a key");
await press(v, "Sign with the demo account");
await v.page.getByRole("checkbox", { name: "I have saved both." }).check();
await press(v, "Hide the secret and continue");
for (const id of ["grant", "first", "stake-transaction"]) {
  await v.at("#send-" + id).click();
  await v.at("#confirm-send button.main").click();
  await v.at("#confirm-send").waitFor({ state: "detached" });
}
await v.sees("The key can trade.");
await v.until(async () => (await v.at("#stake").innerText()) === "1,000VITE", "the stake of the form");
console.log("a key that can trade after " + seconds());
await lostAnswer();
await v.end();

// lostAnswer stakes once more while the node's answer is lost: the page says so, also after a reload, offers nothing to send before a question, and
// forgets the attempt when the exchange shows the stake.
async function lostAnswer() {
  v.expected.push(/demo\/rpc|ERR_FAILED/);
  let blocks = 0, hide = null;
  await v.page.route("**/demo/rpc", async (route) => {
    if (!route.request().postData().includes("ledger_sendRawTransaction")) return route.continue();
    const answer = await route.fetch();
    if ((await answer.json()).error) return route.fulfill({ response: answer }); // refused: the page makes another block
    blocks++;
    return route.abort();
  });
  await v.page.route("**/agent/info?*", async (route) => {
    const answer = await (await route.fetch()).json();
    hide ??= answer.data.agentPledgeAmount;
    return route.fulfill({ json: { ...answer, data: { ...answer.data, agentPledgeAmount: hide } } });
  });
  await v.at("#stake-transaction > summary").click();
  await v.at("#stake-amount").fill("500");
  await v.sees("orders a minute");
  await v.at("#send-stake-transaction").click();
  await v.at("#confirm-send button.main").click();
  await v.sees("No answer from the node");
  assert.equal(await v.at("#send-stake-transaction").count(), 0);
  await v.shot("keys-unknown");
  await v.page.reload();
  await press(v, "Use a demo account without a key");
  await v.sees("No answer from the node");
  assert.equal(await v.at("#send-stake-transaction").count(), 0);
  await v.at("#stake-transaction-again").click();
  await v.sees("The first transaction may still arrive.");
  assert.match(await v.at("#confirm-again").innerText(), /500\s*VITE/, "the amount that may have been sent, not the form's");
  await v.shot("keys-again");
  await v.page.keyboard.press("Escape");
  await v.at("#language").click();
  await v.sees("节点没有响应");
  await v.at("#language").click();
  await v.page.unroute("**/agent/info?*");
  await v.until(async () => (await v.at("#stake").innerText()) === "1,500VITE", "the stake arrived once");
  await v.at("#stake-transaction-attempt").waitFor({ state: "detached" });
  assert.equal(blocks, 1, "it was sent once");
}

const phone = await begin({ colorScheme: "dark", viewport: { width: 390, height: 820 }, deviceScaleFactor: 1, isMobile: true, hasTouch: true });
await deposit(phone, "0.7");
await picture(phone, "phone");
await phone.end();
await close();
