// Deposits and withdraws on the bridge page, with both binding types, as the demo user, with a wallet of the browser and with a wallet elsewhere:
//   node bridge_browser.mjs <JSON of what the test gives>
// given besides the tools: gateway (URL of the listener), exchange (its links and its rates), wallet (URL that signs for account on the source
// chain, and hands calls to its node).
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
  await v.until(() => v.page.url().includes(value), "the token stands in the address");
  return value.split("/")[1];
}

const tab = (v, name) => v.page.getByRole("tab", { name }).click();
const state = (v, wanted) => v.at(`#record [data-state="${wanted}"]`).waitFor();
const digits = (text) => parseFloat(text.replace(/[,$≈¥ ]/g, ""));
const balance = async (v) => digits((await v.at("#balance").innerText()).replace("–", "-1"));
const held = async (v) => {
  await v.until(async () => /\d/.test(await v.at("#source-balance").innerText()), "the payer's balance");
  return v.at("#source-balance").innerText();
};
const disabled = async (v, id) => (await v.at(id).getAttribute("aria-disabled")) === "true";
const ready = (v, id) => v.until(async () => !(await disabled(v, id)), id + " is ready");
const confirm = (v) => v.at("#confirm button.main").click();

// asDemoUser deposits one token and takes a part of it out again, with a reload in the middle of each.
async function asDemoUser(symbol, label) {
  const v = await begin();
  await v.open(page);
  await choose(v, symbol);
  assert.match(await v.at("#way").innerText(), /Ethereum \(development\)[\s\S]*Vite/);
  await v.at("#use-demo").click();
  await v.at("#pay").waitFor();
  await v.at("#deposit-address").waitFor({ state: "attached" });
  assert.equal(await v.at("#deposit-label").count(), label ? 1 : 0);
  if (label) {
    assert.ok(!(await v.at("#deposit-address").isVisible()), "an address that needs a label is folded away");
    await v.at("#pay-by-hand summary").click();
  }
  const address = await v.at("#deposit-address").innerText();
  assert.match(address, /^0x[0-9a-fA-F]{40}$/);
  await v.at("#deposit .whole + button").first().click();
  await v.until(async () => (await v.copied()) === address, "the address is copied");
  if (label) {
    await v.sees("payment button of this page adds it");
    assert.equal(await v.at("#deposit svg.qr").count(), 0, "no wallet puts a label into a payment when it scans a code");
    const label = await v.at("#deposit-label-text").innerText();
    assert.equal(Buffer.from(await v.at("#deposit-label-data").innerText(), "hex").toString(), label);
  }
  assert.match(await v.at("#about").innerText(), new RegExp(`${symbol}-000 is the token on Vite for ${symbol}[\\s\\S]*support@example\\.com[\\s\\S]*0x[0-9a-fA-F]{40}[\\s\\S]*tti_`));
  await v.at("footer").getByRole("link", { name: "support@example.com" }).waitFor();
  for (const [amount, complaint] of [["nonsense", /decimal places/], ["0.00001", /would not be credited/]]) {
    await v.at("#pay-amount").fill(amount);
    await v.until(async () => complaint.test(await v.at("#pay-amount-hint").innerText()), amount);
    assert.ok(await disabled(v, "#pay"), amount);
  }
  const funds = digits(await held(v));
  await v.at("#all").click();
  await v.until(async () => Number(await v.at("#pay-amount").inputValue()) === funds, "all of a token");
  await v.at("#pay-amount").fill("10000");
  await v.until(async () => /at most 1,000 .* each: 10 withdrawals .*, fees 10 .*-000 in total/.test(await v.at("#out-again").innerText()), "the way out takes ten withdrawals");
  await v.shot("bridge-large-" + symbol);
  await v.at("#pay-amount").fill("20");
  await v.at("#out-again").waitFor({ state: "detached" });
  await v.until(async () => digits(await v.at("#worth").innerText()) === 20, "the value in dollars");
  await ready(v, "#pay");
  await v.page.reload();
  await v.until(async () => (await v.at("#pay-amount").inputValue()) === "20", "the amount survives a reload");
  await ready(v, "#pay");
  await v.shot("bridge-deposit-" + symbol);
  await v.at("#pay").click();
  for (const text of [address, "20", "your wallet adds it"]) assert.ok((await v.at("#confirm").innerText()).includes(text), text);
  await v.fits(axe, "confirm " + symbol);
  await v.shot("bridge-confirm-" + symbol);
  await confirm(v);
  await v.at("#record").waitFor();
  await v.page.reload();
  await state(v, "TOT_CONFIRMED");
  assert.equal(await v.at("#record .state.run").count(), 0, "nothing turns next to a final word");
  assert.equal(await v.at("#record .timeline li.done").count(), 4);
  await v.fits(axe, "record " + symbol);
  await v.shot("bridge-record-" + symbol);

  await v.at("#new-transfer").click();
  await v.at("#turn").click();
  await v.until(async () => (await balance(v)) === 20);
  await v.at("#own").click();
  assert.match(await v.at("#to").inputValue(), /^0x[0-9a-fA-F]{40}$/);
  await v.at("#to").fill("0x1234");
  await v.at("#to-hint.bad").waitFor();
  await v.at("#amount").fill("2");
  await v.until(async () => /\d/.test(await v.at("#total").innerText()));
  assert.ok(await disabled(v, "#send"), "a wrong address");
  await v.at("#to").fill(receiver);
  await v.sees("The format is correct.");
  if (label) await v.at("#label").fill(label);
  for (const [amount, complaint] of [["20", /exceed your balance/], ["0.00001", /minimum/], ["900000000", /maximum|balance/], ["1.2.3", /decimal places/]]) {
    await v.at("#amount").fill(amount);
    await v.until(async () => complaint.test(await v.at("#amount-hint").innerText()), amount);
    assert.ok(await disabled(v, "#send"), amount);
  }
  await v.at("#all").click();
  await v.until(async () => digits(await v.at("#total").innerText()) === 20);
  assert.ok(Number(await v.at("#amount").inputValue()) < 20, "all is what is left after the fee");
  await v.at("#amount").fill("3500");
  await v.until(async () => /4 withdrawals .*, fees 4 .*-000 in total/.test(await v.at("#several").innerText()), "more than one withdrawal takes");
  await v.at("#amount").fill("3");
  await v.page.reload();
  await ready(v, "#send");
  assert.deepEqual([await v.at("#to").inputValue(), await v.at("#amount").inputValue(), label && await v.at("#label").inputValue()], [receiver, "3", label], "what was typed survives a reload");
  await v.until(async () => /Expected time\s+≈ \d+ s/.test(await v.at("#withdraw .facts").innerText()), "the measured time");
  await v.fits(axe, "withdraw " + symbol);
  await v.shot("bridge-withdraw-" + symbol);
  await v.at("#send").click();
  await confirm(v);
  await state(v, "OPPOSITE_CONFIRMED");
  assert.match(await v.at("#record .facts").innerText(), new RegExp(`Total debit\\s+4\\s*${symbol}-000\\s+Gateway fee\\s+1\\s*${symbol}-000\\s+You received\\s+3\\s*${symbol}\\s[\\s\\S]*To, on Ethereum \\(development\\)\\s+${receiver}${label && `\\s+Memo\\s+${label}`}`));
  const link = v.page.url();

  await tab(v, "History");
  await v.at("#records tbody tr").nth(1).waitFor();
  await v.at("#filter-direction").selectOption("withdraw");
  await v.until(async () => (await v.at("#found").count()) === 1 && !/Deposit/.test(await v.at("#records tbody").innerText()), "withdrawals alone");
  await v.at("#filter-state").selectOption("attention");
  await v.sees("No matches");
  await v.at("#filter-state").selectOption("done");
  await v.at("#filter-text").fill("no such text");
  await v.sees("No matches");
  await v.at("#filter-text").fill(symbol);
  await v.until(async () => (await v.at("#records tbody tr").count()) === 1, "one withdrawal of the token");
  assert.match(await v.at("#records tbody").innerText(), new RegExp(`4\\s*${symbol}-000\\s+Fee 1\\s*${symbol}-000\\s+3\\s*${symbol}\\s`));
  const saved = v.page.waitForEvent("download");
  await v.at("#csv").click();
  const lines = await text(await (await saved).createReadStream());
  assert.match(lines, new RegExp(`^time,direction,.*\\r\\n[^\\n]*,withdraw,eth,${symbol}-000,3,[^\\n]*OPPOSITE_CONFIRMED`));
  await v.page.reload();
  await v.until(async () => (await v.at("#filter-text").inputValue()) === symbol && / 1$/.test(await v.at("#found").innerText()), "filters survive a reload");
  await v.fits(axe, "history " + symbol);
  await v.shot("bridge-history-" + symbol);
  await v.end();

  const other = await begin(); // somebody with the link alone
  await other.open(link);
  await state(other, "OPPOSITE_CONFIRMED");
  assert.equal(await other.at("#paid-to").innerText(), receiver, "the gateway knows the receiver, not this browser alone");
  await other.end();
}

async function text(stream) {
  let all = "";
  for await (const part of stream) all += part;
  return all;
}

// withWallet gives a page a wallet: announced by EIP-6963, or at window.ethereum. What it does is in `wallet`: its chain, and what it refuses.
async function withWallet(v, { announced = true } = {}) {
  const wallet = { chain: 1, refuse: {}, calls: [] };
  const node = async (method, params) => (await (await fetch(given.wallet + "/node", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) })).json()).result;
  await v.context.exposeBinding("walletCall", async (_, method, params = []) => {
    wallet.calls.push(method);
    const refused = wallet.refuse[method];
    if (refused) return { error: refused };
    switch (method) {
      case "eth_requestAccounts": wallet.granted = true; return { result: [given.account] };
      case "eth_accounts": return { result: wallet.granted ? [given.account] : [] };
      case "eth_chainId": return { result: "0x" + wallet.chain.toString(16) };
      case "wallet_switchEthereumChain": wallet.chain = Number(params[0].chainId); return { result: null };
      case "eth_sendTransaction": {
        wallet.sent = params[0];
        return { result: await (await fetch(given.wallet + "/send", { method: "POST", body: JSON.stringify(params[0]) })).json() };
      }
      default: return { result: await node(method, params) };
    }
  });
  await v.context.addInitScript((announced) => {
    const listeners = {};
    const provider = {
      on: (name, f) => { (listeners[name] ??= new Set()).add(f); },
      removeListener: (name, f) => listeners[name]?.delete(f),
      request: async ({ method, params }) => {
        const { result, error } = await globalThis.walletCall(method, params);
        if (error) throw Object.assign(new Error(error.message), { code: error.code });
        return result;
      },
    };
    if (!announced) {
      globalThis.ethereum = provider;
      return;
    }
    const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info: { uuid: "1", name: "Test Wallet", icon: "", rdns: "org.test" }, provider }) }));
    addEventListener("eip6963:requestProvider", announce);
    announce();
  }, announced);
  return wallet;
}

// openOwn opens a link with the reader's own address, which a new browser does not know.
async function openOwn(v, hash) {
  await v.open(page + hash);
  await v.at("#foreign-mine").click();
}

// byForeignLink opens links of somebody else: their addresses are never used without a question, and not remembered.
async function byForeignLink(demo) {
  const v = await begin();
  await v.open(page + `#/deposit?to=${receiver}&address=${demo.address}`);
  await v.at("#foreign").filter({ hasText: demo.address }).waitFor();
  await v.fits(axe, "a link with an address");
  assert.equal(await v.at("#deposit-address").count(), 0, "nothing to pay to");
  await tab(v, "Withdraw");
  assert.equal(await v.at("#to").inputValue(), "", "a payee does not come along hidden");
  await v.open(page + `#/withdraw?to=${receiver}&address=${demo.address}`);
  await v.sees("This address came with the link");
  await v.open(page);
  await v.page.reload();
  await v.at("#account").waitFor();
  assert.equal(await v.at("#account").inputValue(), "", "it is not remembered");
  await openOwn(v, "#/deposit?address=" + demo.address);
  await v.at("#arrives-at").filter({ hasText: demo.address }).waitFor();
  await v.end();
}

// byBrowserWallet deposits a token of each binding type from a wallet of the browser, after each refusal that there is.
async function byBrowserWallet(demo, symbol, labelled) {
  const v = await begin();
  const wallet = await withWallet(v, { announced: !labelled });
  await openOwn(v, "#/deposit?address=" + demo.address);
  await choose(v, symbol);
  await v.at("#deposit-address").waitFor({ state: "attached" });
  const to = await v.at("#deposit-address").textContent();
  await v.at("#connect").click();
  await v.at("#switch").waitFor();
  await v.sees("The wallet is on another chain");
  wallet.refuse.wallet_switchEthereumChain = { code: 4902, message: "Unrecognized chain" };
  await v.at("#switch").click();
  await v.sees("does not know this chain");
  delete wallet.refuse.wallet_switchEthereumChain;
  await v.at("#switch").click();
  await v.at("#all").waitFor();
  assert.match(await held(v), new RegExp("^100\\s*" + symbol + "$"));
  await v.at("#all").click();
  const all = Number(await v.at("#pay-amount").inputValue());
  assert.ok(labelled ? all === 100 : all < 100 && all > 99, "all of a coin leaves room for the network's cost: " + all);
  if (!labelled) {
    await v.at("#pay-amount").fill("100");
    await v.sees("the rest pays the network fee");
  }
  await v.at("#pay-amount").fill("1000");
  await v.sees("Your wallet has 100 ");
  await v.at("#pay-amount").fill("0.0001");
  await v.sees("would not be credited");
  assert.ok(await disabled(v, "#pay-browser"), "below the minimum");
  await v.at("#pay-amount").fill("5");
  await ready(v, "#pay-browser");
  await v.shot("bridge-wallet-" + symbol);
  await v.at("#pay-browser").click();
  await v.until(async () => /^≈ 0\.\d+ ETH \(your wallet shows the final one\)$/.test(await v.at("#confirm #network-fee").innerText()), "the network's cost");
  for (const [refused, words] of [[{ code: 4001, message: "User rejected" }, /Nothing was sent/], [{ code: -32000, message: "insufficient funds for gas" }, /lacks coins/], [{ code: -32603, message: "no answer" }, /not known whether/]]) {
    wallet.refuse.eth_sendTransaction = refused;
    await confirm(v);
    await v.until(async () => words.test(await v.at("#confirm").innerText()), words);
  }
  assert.ok(await disabled(v, "#confirm button.main"), "what may have been sent is not sent again at once");
  await v.page.keyboard.press("Escape");
  assert.ok(await disabled(v, "#pay-browser"), "nor from the form");
  await v.page.reload();
  await v.at("#doubt").waitFor();
  await v.at("#connected").waitFor();
  assert.ok(await disabled(v, "#pay-browser"), "nor after a reload");
  await v.at("#checked").click();
  await ready(v, "#pay-browser");
  await v.at("#pay-browser").click();
  delete wallet.refuse.eth_sendTransaction;
  wallet.chain = 1;
  await confirm(v);
  await v.until(async () => /another chain/.test(await v.at("#confirm").innerText()), "the chain is checked before signing");
  assert.equal(wallet.sent, undefined, "nothing was sent so far");
  wallet.chain = 1337;
  await v.page.route("**/meta-info?*", (route) => route.fulfill({ json: { code: 0, data: { type: 0, depositState: "CLOSED", withdrawState: "OPEN" } } }));
  await confirm(v);
  await v.at(".note.bad").filter({ hasText: "Deposits are closed" }).first().waitFor();
  assert.equal(wallet.sent, undefined, "the channel is checked before signing");
  await v.page.unrouteAll();
  await ready(v, "#confirm button.main");
  await confirm(v);
  await v.at("#record").waitFor();
  await state(v, "TOT_CONFIRMED");
  if (labelled) assert.match(wallet.sent.data, new RegExp("^0xa9059cbb0{24}" + to.slice(2).toLowerCase() + "[0-9a-f]{64}[0-9a-f]{16}$"), "the label is behind the arguments");
  else assert.deepEqual([wallet.sent.to, wallet.sent.value, wallet.sent.data], [to, "0x4563918244f40000", undefined]);
  await v.page.goBack();
  await v.page.reload();
  await v.at("#connected").waitFor();
  await v.at("#disconnect").click();
  await v.at("#connect").waitFor();
  await v.end();
}

// asStranger has an address and a wallet elsewhere: the page shows what to send, also as a code.
async function asStranger(demo) {
  const v = await begin();
  await v.open(page);
  const tokenId = await choose(v, "DAI");
  await v.at("#account").fill("vite_1");
  await v.sees("This is no address");
  await v.at("#account").fill(demo.address);
  await v.sees("No wallet was found");
  await tab(v, "Withdraw");
  await v.at("#to").fill(receiver);
  await v.at("#label").fill("7");
  await v.at("#amount").fill("2");
  await ready(v, "#send");
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
  await v.at("#amount").fill("1");
  await v.at("#payment-link").waitFor({ state: "detached" });

  await v.open(page + "#eth/" + tokenId); // a link of before
  await v.page.reload();
  await v.until(() => v.page.url().includes("#/deposit/eth/" + tokenId + "?address=vite_"), "an old link is led to the present one, with the last address");
  await v.end();
}

// belowMinimum pays too little, past the page, and finds what to do.
async function belowMinimum(demo) {
  const v = await begin();
  await openOwn(v, "#/deposit?address=" + demo.address);
  await choose(v, "ETH");
  await v.at("#deposit-address").waitFor({ state: "attached" });
  assert.match(await v.at("#below").innerText(), /at least 0\.01 ETH.*contact the operator/);
  const to = await v.at("#deposit-address").textContent();
  const hash = await (await fetch(given.wallet + "/send", { method: "POST", body: JSON.stringify({ to, value: "0x1", data: "0x" }) })).json();
  await v.open(v.page.url().replace("/deposit/", "/record/deposit/").replace("?", "/" + hash + "?"));
  await v.page.reload();
  await state(v, "BELOW_MINIMUM");
  await v.sees("only the operator can credit it");
  assert.equal(await v.at("#record .timeline li.warn").count(), 1);
  await v.fits(axe, "below the minimum");
  await v.shot("bridge-below-minimum");
  await v.end();
}

// troubles are the records that need words: what the gateway answers, and what the page shows.
const troubles = [
  ["deposit", { state: "OPPOSITE_CONFIRMED", held: true }, "held", /Held for review[\s\S]*reviews it before/],
  ["deposit", { state: "OPPOSITE_PROCESSING", inTxConfirmedCount: 0 }, "noBlock", /not in a block/],
  ["deposit", { state: "OPPOSITE_CONFIRMED_FAIL" }, "sourceFailed", /nothing arrived[\s\S]*still exists or is pending/],
  ["deposit", { state: "FAILED", refundState: "REFUNDING" }, "refunding", /Refund pending[\s\S]*on its way back/],
  ["deposit", { state: "FAILED", refundState: "REFUNDED", refundTxHash: "0xfe", refundAmount: "2000000000000000000", refundAddress: "0xdead" }, "refunded", /Refunded[\s\S]*was returned[\s\S]*Refunded amount\s+2\s*ETH\s+Refund to, on Ethereum \(development\)\s+0xdead/],
  ["withdraw", { state: "TOT_EXCEED_THE_LIMIT" }, "aboveLimit", /above the maximum[\s\S]*Total debit\s+2.01[\s\S]*Maximum\s+100\s*ETH/],
  ["withdraw", { state: "WRONG_WITHDRAW_ADDRESS", refundState: "REFUNDED", refundTxHash: "fe", refundAmount: "2010000000000000000", refundAddress: "vite_1" }, "refunded", /Gateway fee\s+None[\s\S]*Refunded amount\s+2.01\s*ETH-000\s+Refund to, on Vite\s+vite_1/],
  ["withdraw", { state: "WRONG_WITHDRAW_ADDRESS" }, "wrongAddress", new RegExp("address or the comment[^]*To, on Ethereum \\(development\\)\\s+" + receiver)],
  ["withdraw", { state: "FAILED" }, "failed", /contact the operator[\s\S]*support@example\.com/],
  ["withdraw", { state: "TOT_CONFIRMED", dateTime: String(Date.now() - 3_600_000) }, "late", /longer than usual/],
];

async function inTrouble(demo) {
  const v = await begin();
  let now = null;
  await v.page.route(/\/(deposit|withdraw)-records\?/, async (route) => {
    const kind = route.request().url().includes("/deposit-") ? "deposit" : "withdraw";
    const row = { inTxHash: "0xab", inTxConfirmedCount: 3, inTxConfirmationCount: 3, amount: "2000000000000000000", fee: kind === "withdraw" ? "10000000000000000" : "0", dateTime: String(Date.now()), ...(kind === "withdraw" && { withdrawAddress: receiver }), ...now?.[1] };
    await route.fulfill({ json: { code: 0, data: { totalCount: now?.[0] === kind ? 1 : 0, [kind + "Records"]: now?.[0] === kind ? [row] : [], inTxExplorerFormat: "", outTxExplorerFormat: "" } } });
  });
  await openOwn(v, "#/deposit?address=" + demo.address);
  const tokenId = await choose(v, "ETH");
  await v.until(async () => (await (await fetch(given.gateway + "/networks.json")).json())[0].tokens[0].depositSeconds > 0, "times are measured");
  for (now of troubles) {
    const [kind, , advice, words] = now;
    await v.open(page + "?" + advice + `#/record/${kind}/eth/${tokenId}/0xab?address=${demo.address}`);
    await v.at(`#record [data-advice="${advice}"]`).waitFor();
    assert.match(await v.at("#record").innerText(), words);
    if (advice === "late") assert.doesNotMatch(await v.at("#record").innerText(), / left/, "no time is left of what is late");
    if (advice === "sourceFailed") assert.doesNotMatch(await v.at("#record").innerText(), /of 3 confirmations/);
    const turns = await v.at("#record .state.run").count();
    assert.equal(turns, ["noBlock", "refunding", "late"].includes(advice) ? 1 : 0, advice);
    if (["held", "refunded"].includes(advice)) await v.fits(axe, advice);
    await v.shot("bridge-trouble-" + advice);
  }
  await v.at("#language").click();
  await v.sees("用时比平常更长");
  await v.end();
}

// reserves shows what is held against what is owed, in each state that the gateway reports, and without a report.
async function reserves() {
  const real = await (await fetch(given.gateway + "/reserves")).json();
  const own = real.data.tokens.find((r) => r.symbol === "USDT-000");
  assert.ok(own.addresses.some((a) => a.kind === "hot" && /^0x[0-9a-fA-F]{40}$/.test(a.address)), "the gateway publishes its own");
  const v = await begin();
  const parts = { hot: "200000000", gas: "0", shared: "0", deposits: "34500000", recent: "0", cold: "1000000000" };
  const compared = (more) => ({ held: "1234500000", owed: "1200000000", parts, height: 21550012, at: Date.now() - 180_000, next: Date.now(), ...more });
  const addresses = [{ kind: "hot", address: given.account }, { kind: "cold", address: receiver }];
  const show = async (row, answer = { code: 0, data: { tokens: [{ ...own, comparison: undefined, addresses, ...row }] } }) => {
    await v.page.unroute("**/reserves");
    await v.page.route("**/reserves", (route) => route.fulfill({ json: answer }));
    await v.page.reload();
  };
  const block = (state) => v.at(`#reserves[data-reserves="${state}"]`);
  await v.page.route("**/networks.json", async (route) => {
    const list = await (await route.fetch()).json();
    await route.fulfill({ json: list.map((n) => ({ ...n, sourceExplorer: "https://explorer.example/tx/{$tx}" })) });
  });
  await v.open(page);
  await choose(v, "USDT");
  for (const [row, words] of [
    [{ state: "covered", comparison: compared() }, /Covered · 102\.8 %[\s\S]*Held on Ethereum \(development\)\s+1,234\.5\s*USDT\s+Owed to users\s+1,200\s*USDT\s+Compared 3 min ?.* ago, at block 21,550,012/],
    [{ state: "missing", comparison: compared({ owed: "1234500001" }) }, /Not covered[\s\S]*holds less than it owes[\s\S]*support@example\.com[\s\S]*Missing\s+0\.000001\s*USDT/],
    [{ state: "unknown", reason: "halted", comparison: compared() }, /Unknown[\s\S]*has halted its work[\s\S]*1,234\.5/],
    [{ state: "unknown", reason: "old", comparison: compared() }, /Unknown[\s\S]*comparison is too old/],
    [{ state: "uncompared" }, /Not compared yet[\s\S]*has not yet compared/],
  ]) {
    await show(row);
    await block(row.state).waitFor();
    assert.match(await v.at("#reserves").innerText(), words);
    assert.equal(await v.at("#reserve-warning").count(), row.state === "missing" || row.reason === "halted" ? 1 : 0, "the form warns: " + (row.reason ?? row.state));
    assert.equal(await v.at("#reserves .state.good").count(), row.state === "covered" ? 1 : 0, "green is for what is covered now: " + row.state);
    await v.at("#reserve-parts summary").click();
    const shown = await v.at("#reserve-parts").innerText();
    assert.ok(shown.includes(given.account) && shown.includes(receiver), "complete addresses");
    assert.equal(/Deposit addresses of users\s+34\.5/.test(shown), Boolean(row.comparison));
    assert.ok(!shown.includes("Shared deposit address"), "no part without an amount");
    assert.equal(await v.at("#reserve-parts a").first().getAttribute("href"), "https://explorer.example/address/" + given.account);
    await v.at("#reserve-parts .id button").first().click();
    await v.until(async () => (await v.copied()) === given.account, "the address is copied");
    await v.fits(axe, "reserves " + (row.reason ?? row.state));
    await v.shot("bridge-reserves-" + (row.reason ?? row.state));
  }
  await show({}, { code: 2, subCode: 2001, msg: "The gateway has an internal error.", data: null });
  await block("unread").waitFor();
  assert.match(await v.at("#reserves").innerText(), /Unknown[\s\S]*cannot be read now/);
  await v.page.route("**/site.json", async (route) => route.fulfill({ json: { ...await (await route.fetch()).json(), reserves: undefined } }));
  await v.page.reload();
  await block("unpublished").waitFor();
  assert.match(await v.at("#reserves").innerText(), /^Reserves\s+This operator does not publish reserves\.$/);
  await v.fits(axe, "no reserves");
  await v.shot("bridge-reserves-unpublished");
  await v.at("#language").click();
  await v.sees("该运营方未公布储备金");
  await v.end();

  const phone = await begin(looks.find((look) => look.name === "390-dark").options);
  await phone.page.route("**/reserves", (route) => route.fulfill({ json: { code: 0, data: { tokens: [{ ...own, addresses, state: "covered", comparison: compared() }] } } }));
  await phone.open(page);
  await choose(phone, "USDT");
  await phone.at("#language").click();
  await phone.at(".fold summary").first().click();
  await phone.at("#reserve-parts summary").click();
  await phone.sees("为保护隐私");
  await phone.fits(axe, "reserves on a phone");
  await phone.shot("bridge-reserves-zh-390-dark");
  await phone.at("#turn").click();
  await phone.at("#amount").fill("200");
  await phone.until(async () => (await phone.at("#total").innerText()).startsWith("201"));
  assert.equal(await phone.at("#hot-below").count(), 0);
  await phone.at("#amount").fill("200.000001");
  await phone.at("#hot-below").waitFor();
  await phone.end();
}

// withRefusals pays as the demo user while the environment refuses, and while it does not know. The page goes by codes.
async function withRefusals() {
  const v = await begin();
  await v.open(page);
  await choose(v, "USDT");
  await v.at("#use-demo").click();
  await v.at("#pay-amount").fill("5");
  await ready(v, "#pay");
  await v.at("#pay").click();
  for (const [code, words] of [["balance", /balance is too small/], ["refused", /Nothing was sent/], ["unknown", /not known whether/]]) {
    await v.page.unrouteAll();
    await v.page.route("**/demo/pay", (route) => route.fulfill({ json: { error: "some words", code } }));
    await ready(v, "#confirm button.main");
    await confirm(v);
    await v.until(async () => words.test(await v.at("#confirm").innerText()), code);
  }
  assert.ok(await disabled(v, "#confirm button.main"), "what may have been sent is not sent again at once");
  await v.end();
}

// manyRecords has more records than the page lists, and links to the transactions on the embedded chain.
async function manyRecords(demo) {
  const v = await begin();
  await v.page.route(/\/withdraw-records\?/, async (route) => {
    const row = { inTxHash: "ab", inTxConfirmedCount: 3, inTxConfirmationCount: 3, amount: "2000000", fee: "0", dateTime: "1000", state: "OPPOSITE_CONFIRMED" };
    await route.fulfill({ json: { code: 0, data: { totalCount: 1500, withdrawRecords: Array(100).fill(row), inTxExplorerFormat: "", outTxExplorerFormat: "" } } });
  });
  await v.open(page + "#/history?address=" + demo.address);
  await v.at("#newest").waitFor();
  await v.at("#filter-direction").selectOption("deposit");
  await v.at("#newest").waitFor({ state: "detached" });
  await v.at("#filter-state").selectOption("done");
  await v.at("#records tbody tr").first().locator("a[target]").nth(1).waitFor(); // the list may be on its way
  const links = await v.at("#records tbody tr").first().locator("a[target]").evaluateAll((all) => all.map((a) => a.href));
  assert.equal(links.length, 2);
  for (const link of links) {
    assert.ok(link.startsWith(given.gateway + "/demo/tx/"), link);
    await v.open(link);
    await v.sees("Transaction on");
    await v.sees(link.split("/").at(-1));
    assert.match(await v.at("dl").innerText(), /From[\s\S]*To[\s\S]*(Value|Token transfer)[\s\S]*Block\s+\d+/);
  }
  await v.end();
}

// closed shows channels that are closed or under maintenance, and a connection that is lost in the middle.
async function closed(demo) {
  const v = await begin();
  const meta = (depositState, withdrawState) => v.page.route("**/meta-info?*", (route) => route.fulfill({ json: { code: 0, data: { type: 0, depositState, withdrawState } } }));
  await meta("MAINTAIN", "CLOSED");
  await openOwn(v, "#/deposit?amount=1&address=" + demo.address);
  await choose(v, "USDT");
  await v.sees("Deposits are paused for maintenance");
  assert.match(await v.at(".state-note").innerText(), /credited after the maintenance[\s\S]*support@example\.com/);
  await v.at("#paused").waitFor();
  assert.equal(await v.at("#deposit svg.qr").count(), 0, "nothing invites to pay");
  assert.ok(!(await v.at("#deposit-address").isVisible()), "the address is folded away");
  assert.match(await v.at("#deposit-form .facts").innerText(), /After the maintenance/);
  await v.fits(axe, "maintenance");
  await v.shot("bridge-maintenance");
  await tab(v, "Withdraw");
  await v.sees("Withdrawals are closed");
  await v.sees("paid only if they open again");
  assert.ok(await disabled(v, "#send"));
  await v.fits(axe, "closed");
  await v.page.unrouteAll();
  await tab(v, "Deposit");
  await v.at("#deposit-address").waitFor({ state: "attached" });
  await v.until(async () => !(await v.at("#deposit-form").innerText()).includes("maintenance"), "it has opened");

  await tab(v, "Withdraw");
  await v.at("#to").fill(receiver);
  await v.at("#amount").fill("2");
  await ready(v, "#send");
  v.expected.push(/ERR_|Failed to load/);
  await v.page.route("**/gateway/**", (route) => route.abort("connectionrefused"));
  await v.at("#lost").waitFor();
  assert.equal(await v.at(".note.bad").count(), 0, "one banner, and no box");
  await v.fits(axe, "away");
  await v.shot("bridge-away");
  await v.at("#to").fill(given.account); // its check fails, and is repeated when the server is back
  await v.page.waitForRequest(/withdraw-address\/verification/);
  await v.page.unrouteAll();
  await v.at("#lost").waitFor({ state: "detached" });
  assert.equal(await v.at("#amount").inputValue(), "2");
  await ready(v, "#send");
  await v.page.route("**/withdraw-address/verification?*", (route) => route.abort("connectionrefused"));
  await v.at("#send").click();
  await v.sees("No answer from the server");
  assert.equal(await v.at("#payment-link").count(), 0, "nothing is shown to pay by while the guard has no answer");
  await v.page.unrouteAll();
  await ready(v, "#send");
  await v.at("#send").click();
  await v.at("#payment-link").waitFor();
  await v.end();
}

// inEveryLook takes pictures, in English and once in Chinese.
async function inEveryLook(demo) {
  const middle = ["light", "dark"].map((colorScheme) => ({ name: "1024-" + colorScheme, options: { colorScheme, viewport: { width: 1024, height: 800 } } }));
  for (const look of [...looks, ...middle]) {
    const v = await begin(look.options);
    await openOwn(v, "#/deposit?amount=250&address=" + demo.address);
    await choose(v, "DAI");
    await v.at("#pay-amount").fill("250");
    await v.at("#pay-by-hand").waitFor();
    if (look.name.startsWith("390")) {
      const place = await v.at("#pay-by-hand").boundingBox();
      assert.ok(place.y + (await v.page.evaluate(() => scrollY)) < 1.5 * 844, "what to pay begins within a screen and a half");
      assert.ok(await v.page.evaluate(() => document.documentElement.scrollHeight) < 2.6 * 844, "what is secondary is folded away");
    }
    await v.at("#pay-by-hand summary").click();
    assert.match(await v.at("#deposit-call").innerText(), /^0xa9059cbb[0-9a-f]{130,}$/);
    await v.at("#latest-deposit [data-state]").waitFor();
    await v.fits(axe, "bridge " + look.name);
    await v.shot("bridge-" + look.name);
    await v.at("#language").click();
    await v.sees("充值");
    await v.shot("bridge-zh-" + look.name);
    await tab(v, "提现");
    await v.at("#to").fill(receiver);
    await v.at("#amount").fill("12.5");
    await v.until(async () => /\d/.test(await v.at("#total").innerText()));
    await v.fits(axe, "withdrawal in Chinese " + look.name);
    await v.shot("bridge-withdraw-zh-" + look.name);
    await tab(v, "记录");
    await v.at("#records tbody tr").first().waitFor();
    await v.shot("bridge-history-zh-" + look.name);
    await v.at("#records tbody a").first().click();
    await v.at("#record .timeline").waitFor();
    await v.fits(axe, "record in Chinese " + look.name);
    await v.shot("bridge-record-zh-" + look.name);
    await v.end();
  }
}

const demo = await (await fetch(given.gateway + "/demo/user")).json();
await asDemoUser("USDT", "");
await asDemoUser("DAI", "memo-42");
await byBrowserWallet(demo, "ETH", false);
await byBrowserWallet(demo, "DAI", true);
await asStranger(demo);
await byForeignLink(demo);
await belowMinimum(demo);
await inTrouble(demo);
await closed(demo);
await withRefusals();
await reserves();
await manyRecords(demo);
await inEveryLook(demo);
await close();
