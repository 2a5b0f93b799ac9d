// Opens the API pages and tries requests: node api_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: gateway, exchange (URLs of the listeners).
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
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

// runPrograms runs the programs of the page with the key of the demo user: each gets the book, and the topic of its account.
async function runPrograms(v) {
  const user = await (await fetch(given.exchange + "/demo/session")).json();
  const dir = await mkdtemp(tmpdir() + "/socket-");
  for (const [name, file, command] of [["JavaScript", "main.mjs", ["node", "--experimental-websocket"]], ["Go", "main.go", ["go", "run"]], ["Python", "main.py", ["python3"]]]) {
    await v.page.getByRole("tab", { name, exact: true }).click();
    const text = await v.at("#programs pre").innerText();
    await writeFile(dir + "/" + file, text.replace("YOUR_KEY", user.key).replace("YOUR_SECRET", user.secret).replace("YOUR_ADDRESS", user.address));
    if (name === "Python" && !canImport("websockets")) continue;
    await pushed(name, command, dir + "/" + file, user.address);
  }
}

function canImport(module) {
  try {
    execFileSync("python3", ["-c", "import " + module], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

// pushed waits until a program has printed the complete book and the subscription of the account.
function pushed(name, [program, ...words], file, account) {
  const run = spawn(program, [...words, file], { detached: true }); // a group: go run starts another process
  let all = "";
  return new Promise((done, fail) => {
    const read = (data) => {
      all += data;
      if (all.includes('"snapshot":true') && all.includes('"topic":"[account.' + account)) done();
    };
    run.stdout.on("data", read);
    run.stderr.on("data", read);
    run.on("error", fail);
    run.on("exit", (code) => fail(new Error(name + " ended with " + code + ":\n" + all)));
  }).finally(() => {
    try {
      process.kill(-run.pid);
    } catch { /* it has ended */ }
  });
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
await v.sees("登录被拒绝"); // in the language of now
await v.at("#disconnect").click();
await v.sees("未连接");
await v.at("#language").click();

// The guide has every section with the frames and limits of the server, in both languages.
for (const name of ["Connect", "Authenticate", "Ping", "Subscribe", "Errors", "Limits", "Recover after a gap"]) await v.page.getByRole("heading", { level: 2, name, exact: true }).waitFor();
const described = await (await fetch(given.exchange + "/asyncapi.json")).json();
for (const { payload } of described.components.messages.commandAnswer.examples.filter(({ payload }) => payload.msg)) await v.at("#error-list", { hasText: payload.msg }).waitFor();
assert.equal(await v.at("#close-list tbody tr").count(), described["x-closes"].length);
await v.sees("After " + described["x-limits"].subscriptionSeconds + " seconds without a frame");
await v.sees(described["x-limits"].topics.toLocaleString("en"));
assert.equal((await v.at(".guide").innerText()).includes("undefined"), false);
await v.at(".contents a", { hasText: "Errors" }).click();
await v.until(async () => (await v.page.evaluate(() => document.activeElement.id)) === "guide-errors", "the link leads to the section");
await v.at("#error-list summary").first().click();
await v.shot("topics-errors");
await v.at("#language").click();
await v.sees("断线后恢复");
assert.equal((await v.at(".guide").innerText()).includes("undefined"), false);
await v.at("#language").click();
await runPrograms(v);
await v.end();
await close();
