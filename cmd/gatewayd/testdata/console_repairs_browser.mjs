// Mends in the console what has stopped or is missing: node console_repairs_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: operators (URL of the listener), users ({anna: {password, secret}}), config (the daemon's file, in which the
// minimum of a deposit has changed), height and lost (block and hash of a deposit that the records have lost), stray (hash of a deposit that nobody is
// known for), settles (hash of a transaction of ours that has refunded it), small and owner (hash of a deposit below the minimum that nobody is known
// for, and the wallet that is to get it), while the source chain has halted.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { enter, launch, order, patience, sent, view } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { axe, begin, close } = await launch(given);
const page = given.operators + "/console";

// insist gives an order again until it is carried out: what has to be read or explained first is refused in words.
async function insist(v, button, values, why) {
  await button.click();
  for (const [name, value] of Object.entries({ ...values, why })) await v.at("#order-" + name).fill(value);
  for (const end = Date.now() + patience; await v.at("#order").count();) {
    assert.ok(Date.now() < end, "the order is refused: " + (await v.at("#order").innerText().catch(() => "")));
    await v.page.evaluate(() => document.querySelector('#order form button:not([type="button"], [aria-disabled="true"])')?.click());
    await v.page.waitForTimeout(500);
  }
}

const v = await enter(await begin(), page, "anna", given.users.anna);
v.expected.push(/409/, /404/, /400/, /503/); // what is refused, records that are not there yet, and nodes that are slow

// The chain, from the list of what needs attention.
await v.at('#chains [data-state="halted"]').waitFor();
await v.at('#conditions [data-condition="chain_halted"]').waitFor();
await v.until(async () => (await v.at("#coverage tbody tr").count()) === 3, "every token has a row");
assert.equal(await v.at('#coverage [data-coverage="covered"], #coverage .state.good').count(), 0, "nothing is covered while the chain is halted");
await v.at("#coverage [data-coverage]").getByText(/^(Unknown \(chain halted\)|Not compared yet)$/).nth(2).waitFor();
assert.equal(await v.at('#flows [data-runway="halted"]').count(), 6, "no runway is known");
await v.at("#chains tbody tr", { hasText: "Ethereum" }).getByText("in doubt").waitFor();
await v.at('#conditions [data-condition="no_limits"]').waitFor();
await v.fits(axe, "a halted chain");
await v.shot("console-halted");
await view(v, "Needs attention");
const halted = v.at("#attention .item").filter({ has: v.page.locator('[data-condition="chain_halted"]') });
await v.at('#attention .item').filter({ has: v.page.locator('[data-condition="no_limits"]') }).getByRole("link", { name: "Limits and rates" }).waitFor();
for (const name of [/^Block [\d,]+ in our records$/, /^Block [\d,]+ at the nodes$/, /^Last common block [\d,]+$/]) await halted.getByText(name).waitFor();
const hashes = await halted.locator("dd code").allInnerTexts();
assert.equal(new Set(hashes).size, 3, "three different blocks");
for (const hash of hashes) assert.match(hash, /^0x[0-9a-f]{64}$/, "the complete hash");
assert.equal(await halted.locator("dd button").count(), 2, "ours has no button that copies it");
await halted.getByText(/^For \d/).waitFor();
await v.fits(axe, "a condition");
await v.at("#language").click();
await halted.locator("dd code").first().waitFor();
assert.ok(await halted.locator("dd code").first().isVisible(), "it is not folded in Chinese");
await v.fits(axe, "a condition in Chinese");
await v.at("#language").click();
await v.shot("console-attention-halted");
await halted.getByRole("button", { name: /^Resume Ethereum/ }).click();
await v.at("#order-hash").fill(hashes[1]);
await v.at("#order-why").fill("the wrong block");
await sent(v).click();
await v.at("#order .note.bad").getByText(`Not resumed. Block`).waitFor();
assert.ok(!(await v.at("#order .note.bad").innerText()).includes(hashes[0]), "the hash is not given away");
await v.page.evaluate(() => document.getElementById("language").click()); // it is behind the dialog
await v.at("#order .note.bad").getByText(/^未恢复/).waitFor();
await v.page.evaluate(() => document.getElementById("language").click());
await v.fits(axe, "a chain that is not resumed");
await v.shot("console-resume-chain");
await v.page.keyboard.press("Escape");
await insist(v, halted.getByRole("button", { name: /^Resume Ethereum/ }), { hash: hashes[0].slice(2).toUpperCase() }, "the nodes agree again");
await view(v, "Overview");
await v.until(async () => (await v.at('#chains [data-state="following"]').count()) === 2);

// The refund that the records do not know: it is settled, and then the account goes on.
await v.page.goto(page + "#/records/" + given.stray);
await v.at('#record [data-state="held"]').waitFor();
await view(v, "Accounts");
const hot = v.at("#accounts tbody tr").filter({ hasText: "Hot: pays withdrawals" });
await hot.locator('[data-state="halted"]').waitFor();
await hot.getByRole("button", { name: "Resume" }).click();
await v.at("#order-why").fill("too early");
await sent(v).click();
await v.at("#order .note.bad").waitFor(); // its transaction is not explained yet
const hotAddress = await v.at("#order dd code").first().innerText();
assert.equal(await v.at("#order-command").innerText(), `gatewayd account resume eth ${hotAddress} --accept ${given.settles} --why 'too early'`);
await v.page.evaluate(() => document.getElementById("language").click()); // it is behind the dialog
await v.at("#order .note.bad").getByText(/^未恢复/).waitFor();
await v.page.evaluate(() => document.getElementById("language").click());
await v.at(".views a", { hasText: "Needs attention" }).locator(".badge").waitFor();
await v.fits(axe, "an order that is refused");
await v.shot("console-refused");
await v.page.keyboard.press("Escape");
await v.at("#order").waitFor({ state: "detached" });
await v.page.goto(page + "#/records/" + given.stray);
await insist(v, v.at("#order-settle"), { hash: given.settles }, "the refund of Monday");
await v.at('#record [data-state="refunded"]').waitFor();
await view(v, "Accounts");
await insist(v, hot.getByRole("button", { name: "Resume" }), {}, "its refund is explained");
await hot.locator('[data-state="ok"]').waitFor();

// A deposit below the minimum, whose owner is known, is credited from the list of what needs attention.
await view(v, "Needs attention");
const below = v.at("#attention .item").filter({ hasText: "below minimum" });
await below.getByText("Credit it to its owner").waitFor();
const rows = JSON.parse(execFileSync("gatewayd", ["records", "list", "--needs-operator", "--json", "-c", given.config], { encoding: "utf8" }));
assert.ok(rows.some((row) => row.inTx === given.below), "the command lists it, too");
await below.getByRole("button", { name: /^Refund/ }).click();
await v.at("#order").getByText(given.belowAmount).first().waitFor();
await v.page.keyboard.press("Escape");
await below.getByRole("button", { name: /^Credit/ }).click();
await v.at("#order").getByText(given.owner).waitFor(); // whom it pays
await v.at("#order").getByText(given.belowAmount).first().waitFor(); // and how much
await v.fits(axe, "an order");
await v.shot("console-credit-small");
await v.at("#order-why").fill("ticket 13: a loyal user");
await sent(v).click();
await v.at("#order").waitFor({ state: "detached" });
await v.until(async () => (await below.count()) === 0);
await v.page.goto(page + "#/records/" + given.below);
await v.at('#record [data-state="done"]').waitFor();

// One that nobody is known for is credited below the minimum only by who says so.
await v.page.goto(page + "#/records/" + given.small);
await v.at("#order-credit").click();
await v.at("#order-to").fill(given.owner);
await v.at("#order code").filter({ hasText: given.owner }).waitFor(); // the payee, before the order is given
await v.at("#order-why").fill("ticket 12: the user's own account");
await sent(v).click();
await v.at("#order .note.bad").getByText("below").waitFor();
await v.at("#order-belowMinimum").check();
await v.fits(axe, "an order with a box");
await sent(v).click();
await v.at('#record [data-state="done"]').waitFor();

// Blocks that are read again: what is written wrongly is said, a look changes nothing, and what is missing is booked.
await view(v, "Maintenance");
await v.at("#rescan-look").click();
await v.sees("Enter a block number.");
await v.at("#rescan-chain").selectOption("eth");
await v.at("#rescan-from").fill("99999999");
await v.at("#rescan-look").click();
await v.at("#rescan .note.bad").getByText("99999999").waitFor();
await v.at("#rescan-from").fill(String(given.height));
await v.at("#rescan-to").fill(String(given.height));
await v.at("#rescan-look").click();
await v.at('#found [data-difference="missing_transfer"]').waitFor();
await v.fits(axe, "a difference");
await v.shot("console-rescan");
assert.match((await v.page.evaluate(async (hash) => (await fetch("console/api/records/" + hash)).status, given.lost)).toString(), /404/, "nothing is booked yet");
await v.at("#rescan-book").click();
await v.at("#bookable").getByText(given.owner).waitFor();
await v.at('#bookable [data-pays="true"]').waitFor();
await v.at("#bookable").getByText("final", { exact: true }).waitFor();
await v.fits(axe, "entries to book");
await v.shot("console-rescan-book");
await v.at("#order-why").fill("a user asks");
await sent(v).click();
await v.at("#order").waitFor({ state: "detached" });
await v.until(async () => {
  if (await v.at('#found [data-booked="done"]').count()) return true;
  await v.at("#rescan-look").click(); // it was ordered, and the daemon had not done it yet
  return (await v.at("#found .note.good").count()) === 1;
});
await v.page.goto(page + "#/records/" + given.lost);
await v.at('#record [data-state="done"]').waitFor();
await view(v, "Maintenance");
await v.at("#rescan-from").fill(String(given.height));
await v.at("#rescan-to").fill(String(given.height));
await v.until(async () => {
  if (await v.page.getByText(`Blocks ${given.height} to ${given.height}: no differences.`).count()) return true;
  await v.at("#rescan-look").click(); // again, where the nodes were too slow for the look before
  await v.page.waitForTimeout(1000);
  return false;
});

// The configuration: a wrong file changes nothing, the right one is taken.
const good = await readFile(given.config, "utf8");
await writeFile(given.config, good + "\nnothing_like_it: 1\n");
await order(v, v.at("#reload"), {}, "a wrong file");
await v.at('[data-reload="refused"]').getByText("nothing_like_it").waitFor();
await writeFile(given.config, good);
await order(v, v.at("#reload"), {}, "a new minimum");
await v.at('[data-reload="taken"]').getByText("min_deposit").waitFor();
await v.at("#configuration").getByText("anna", { exact: true }).waitFor();
await v.fits(axe, "a configuration that was taken");
await v.shot("console-reload");
await v.end();
await close();
