// Approvers with passkeys of virtual authenticators: node approvals_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: operators (URL of the listener, by name), users ({name: {password, secret}}). Without keys they register passkeys
// and sign in by them; the last line printed has the lines for the signer and the keys. With keys ({name: credentials}) both approve the record `approve`,
// and the second rejects `reject`, once an operator ({password, secret}) has held that for a while.
import assert from "node:assert/strict";
import { enter, launch, looks, order, sent, signedOut, view } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { axe, begin, close } = await launch(given);
const page = given.operators + "/console";

// authenticator gives a visit one, with the keys that somebody has already. It answers how to ask for its keys.
async function authenticator(v, keys = []) {
  const devtools = await v.context.newCDPSession(v.page);
  await devtools.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
  for (const credential of keys) await devtools.send("WebAuthn.addCredential", { authenticatorId, credential });
  const verifies = (isUserVerified) => devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
  return { verifies, keys: async () => (await devtools.send("WebAuthn.getCredentials", { authenticatorId })).credentials };
}

// register signs in with the password, makes a passkey, and signs in by it alone.
async function register(name) {
  const v = await begin();
  v.expected.push(signedOut);
  v.expected.push(/pubKeyCredParams/); // Chromium's advice to take RSA keys as well, which nothing here verifies
  const device = await authenticator(v);
  await enter(v, page, name, given.users[name]);
  await view(v, "Profile");
  await v.at("#passkey-label").fill("laptop");
  await v.at("#passkey-add").click();
  const line = await v.at('[data-approver="laptop"]').innerText();
  await v.fits(axe, "passkeys");
  await v.at("#sign-out").click();
  await v.at("#passkey-sign-in").click();
  await v.at("#sign-out").waitFor();
  const keys = await device.keys();
  await v.end();
  return { line, keys };
}

async function byPasskey(name, options) {
  const v = await begin(options);
  v.expected.push(signedOut);
  const device = await authenticator(v, given.keys[name]);
  await v.open(page);
  await v.at("#passkey-sign-in").click();
  await v.at("#sign-out").waitFor();
  return { v, device };
}

const card = (v, record) => v.at(`[data-approval="${record}"]`);
const approve = (v, record) => card(v, record).getByRole("button", { name: "Approve" }).click();

// holding: an operator holds a payment that waits, and lets it wait for the approvers again.
async function holding() {
  const v = await enter(await begin(), page, "dora", given.operator);
  await v.page.goto(page + "#/records/" + given.reject);
  const payment = v.at("#payments article").filter({ has: v.page.locator('[data-state="held"]') });
  await order(v, v.at("#order-hold"), {}, "who is this?");
  await payment.getByText("By an operator", { exact: true }).waitFor();
  assert.equal(await v.at("#order-hold").count(), 0);
  await order(v, v.at("#order-retry"), {}, "the user has called");
  await payment.getByText("Approval", { exact: true }).waitFor();
  await v.end();
}

// decide: the first approves; that is not enough. Nobody approves twice, nor without being verified. The second approves one and rejects the other.
async function decide() {
  const [first, second] = Object.keys(given.users);
  const { v: one } = await byPasskey(first);
  await view(one, "Approvals");
  await card(one, given.approve).waitFor();
  await card(one, given.reject).waitFor();
  const money = await card(one, given.approve).innerText();
  assert.match(money, /Value\s+2\.55\s*USD/, "the payout's value by the price of a token");
  assert.match(money, /Network cost\s+at most [\d.,]+\s*ETH \([\d.,]+ USD\)/, "the total, and its value by the price of the coin");
  assert.match(money, /May approve\s+/);
  await card(one, given.approve).locator('[data-earlier="0"]').getByText("First payment to this address").waitFor();
  assert.match(await card(one, given.approve).locator(".repeat").innerText(), /^2\.5\s*USDT to 0x\w{40}$/, "directly above the button");
  for (const text of ["Signed by the passkey", "For your decision, not signed"]) await card(one, given.approve).getByRole("heading", { name: text }).waitFor();
  assert.match(await card(one, given.approve).locator('[data-received="final"]').innerText(), /^[\d,.]+ USDT-000, .*final$/);
  assert.match(await card(one, given.approve).locator("[data-price]").innerText(), /1\.02 USD per unit, from signer\.limits\.prices, \d+ \w+.* old/);
  await card(one, given.approve).locator('[data-same-user="2"]').waitFor();
  await card(one, given.approve).locator("[data-signed] summary").click();
  assert.equal(await card(one, given.approve).locator("[data-signed] dt").count(), 12, "every signed field");
  await inEveryLook(await one.context.storageState());
  await approve(one, given.approve);
  await card(one, given.approve).locator('[data-approved="1"]').waitFor();
  assert.equal(await card(one, given.approve).locator("[data-may-approve]").innerText(), second, "who has not approved yet");
  await one.end();
  const { v: two, device } = await byPasskey(second);
  await view(two, "Approvals");
  await device.verifies(false);
  await approve(two, given.approve);
  await two.sees("No passkey was used");
  await device.verifies(true);
  await approve(two, given.approve);
  await card(two, given.approve).waitFor({ state: "detached" });
  await card(two, given.reject).getByRole("button", { name: "Reject" }).click();
  await two.at("#order-why").fill("nobody knows this receiver");
  await sent(two).click();
  await card(two, given.reject).waitFor({ state: "detached" });
  await two.sees("No payments wait for approval.");
  await two.end();
}

async function inEveryLook(storageState) {
  for (const look of looks) {
    const v = await begin({ ...look.options, storageState });
    for (const [at, shown] of [["approvals", "[data-approval]"], ["profile", "#passkeys td"]]) {
      await v.open(page + "#/" + at);
      await v.at(shown).first().waitFor();
      await v.fits(axe, at + " " + look.name);
      await v.shot(`console-${at}-${look.name}`);
    }
    await v.end();
  }
}

if (given.keys) {
  await holding();
  await decide();
} else {
  const made = {};
  for (const name of Object.keys(given.users)) made[name] = await register(name);
  for (const { keys } of Object.values(made)) assert.equal(keys.length, 1);
  console.log(JSON.stringify(made));
}
await close();
