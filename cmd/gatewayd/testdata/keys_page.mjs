// Gets an API key and removes it by what the page of API keys decides, against a running exchange and without a browser:
//   node keys_page.mjs <module of the page> <URL of the network> <address> <store> <directory> <password file>
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

const [module, url, address, store, dir, password] = process.argv.slice(2);
const page = await import(module);
const exchange = new page.Exchange(url);

// sign runs the command that the page shows, with what its words leave open filled in, and reads what it prints.
function sign(text, asJSON) {
  const words = page.command(text).split(" ").map((word) => (word === "STORE" ? store : word)).filter((word) => asJSON || word !== "--json");
  return page.signed(execFileSync(words[0], [...words.slice(1), "--dir", dir, "--password-file", password], { encoding: "utf8" }), "");
}

// prove signs what the page would show now, or showed so many seconds ago.
async function prove(account, removal, ago = 0) {
  const seconds = (await exchange.seconds()) - ago, agentAddress = account.info.agentAddress;
  return { address, agentAddress, timestamp: String(seconds), ...sign(page.challenge(agentAddress, seconds, removal), !removal) };
}

const refused = (act, says) => act.then(() => assert.fail("it was taken"), (e) => assert.match(e.message, says));

await refused(exchange.account(address.slice(0, -1) + (address.endsWith("0") ? "1" : "0")), /Invalid address/);
const account = await exchange.account(address);
assert.deepEqual([account.info.apiKey, account.pairs, account.cycle, account.info.maxCount], [null, [], 60, 60]);
assert.match(account.info.agentAddress, /^vite_[0-9a-f]{50}$/);
await refused(prove(account, false, 600).then((proof) => exchange.issue(proof)), /Invalid timestamp/);
const other = await prove(account, false);
await refused(exchange.issue({ ...other, timestamp: String(Number(other.timestamp) - 1) }), /Invalid signature/);
const made = await exchange.issue(await prove(account, false));
assert.match(made.apiKey + " " + made.apiSecret, /^[0-9A-F]{32} [0-9A-F]{32}$/);
assert.equal((await exchange.account(address)).info.apiKey, made.apiKey);
await exchange.remove(await prove(account, true));
assert.equal((await exchange.account(address)).info.apiKey, null);
const pair = { tradeToken: "tti_687d8a93915393b219212c73", quoteToken: page.VITE.tokenId };
const { agentAddress: agent } = account.info, [stake, grant] = [page.stake(agent, 10n ** 22n), page.grant(agent, pair)];
const plain = ({ to, units, data }) => ({ to, units: String(units), data: Buffer.from(data).toString("hex") });
console.log(JSON.stringify({ key: made.apiKey, secret: made.apiSecret, agent, stake: plain(stake), grant: plain(grant), orders: [134, 267, 1000, 10_000, 500_000].map((vite) => [vite, page.ordersOf(vite).atOnce]) }));
