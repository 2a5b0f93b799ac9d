// What tests of pages share: a browser, and visits to pages that keep an account of everything a clean page has none of.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";

// launch starts the browser; given: playwright (its module), browser (its program), axe (its script), pictures (a directory).
export async function launch(given) {
  const { chromium } = await import(given.playwright);
  const browser = await chromium.launch({ executablePath: given.browser });
  return { given, axe: await readFile(given.axe, "utf8"), begin: (options) => Visit.begin(browser, given, options), close: () => browser.close(), browser };
}

// patience is how long one thing in a page may take: the machine may be busy with other tests.
export const patience = 150_000;

// Visit is one person's browser window.
export class Visit {
  static async begin(browser, given, options = {}) {
    const v = new this();
    v.given = given;
    v.phone = options.isMobile;
    v.context = await browser.newContext({ viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"], ...options });
    v.context.setDefaultTimeout(patience);
    v.page = await v.context.newPage();
    v.faults = [];
    v.expected = []; // patterns of faults that a test causes
    v.listen();
    await v.context.exposeBinding("violated", (_, what) => v.fault("policy: " + what));
    await v.context.addInitScript(() => document.addEventListener("securitypolicyviolation",
      (e) => globalThis.violated(e.violatedDirective + " " + e.blockedURI)));
    return v;
  }

  fault(what) {
    if (!this.expected.some((pattern) => pattern.test(what))) this.faults.push(what);
  }

  listen() {
    this.page.on("console", (m) => ["error", "warning"].includes(m.type()) && this.fault("console: " + m.text()));
    this.page.on("pageerror", (e) => this.fault("script: " + e));
    this.page.on("requestfailed", (r) => /ERR_ABORTED/.test(r.failure()?.errorText) || this.fault("request: " + r.url() + " " + r.failure()?.errorText));
    this.page.on("request", (r) => this.given.origins.includes(new URL(r.url()).origin) || this.fault("foreign: " + r.url()));
    this.page.on("response", (r) => r.status() >= 400 && this.fault(r.status() + ": " + r.url()));
  }

  async open(url) {
    await this.page.goto(url);
    await this.page.locator("main").waitFor();
    return this;
  }

  at(selector, options) { return this.page.locator(selector, options); }
  button(name) { return this.page.getByRole("button", { name }); }
  async shot(name) {
    await this.picture(name);
    const state = name.replace(/-?1440-light$/, ""); // the first of the looks that a test opens
    if (this.given.everyLook && !this.phone && !/(light|dark)$/.test(state)) await this.everyLook(state);
  }
  picture(name) { return this.page.screenshot({ path: `${this.given.pictures}/${name}.png`, fullPage: true }); }

  // everyLook takes pictures for reviewers: all widths, colours and languages of the present state.
  async everyLook(name) {
    const [size, scheme] = [this.page.viewportSize(), await this.page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")];
    const kept = await this.context.cookies(); // without a choice of language
    const turn = () => this.page.evaluate(() => document.querySelector("#language").click()); // works under a dialog too
    for (const width of [1440, 1024, 390]) {
      await this.page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
      for (const colorScheme of ["light", "dark"]) {
        await this.page.emulateMedia({ colorScheme });
        for (let i = 0; i < 2; i++, await turn()) {
          await this.page.waitForTimeout(300); // charts draw themselves after a change of size
          await this.picture(`${name}--${width}-${colorScheme}-${(await this.page.evaluate(() => document.documentElement.lang)).slice(0, 2)}`);
        }
      }
    }
    await this.page.setViewportSize(size);
    await this.page.emulateMedia({ colorScheme: scheme });
    await this.context.clearCookies();
    await this.context.addCookies(kept);
  }
  copied() { return this.page.evaluate(() => navigator.clipboard.readText()); }
  sees(text) { return this.page.getByText(text).first().waitFor(); }

  // until waits for something that the page does in its own time.
  async until(done, what = String(done)) {
    const end = Date.now() + patience;
    while (!(await done())) {
      if (Date.now() > end) assert.fail("it did not happen: " + what + "\n" + (await this.page.locator("body").innerText()));
      await this.page.waitForTimeout(100);
    }
  }

  // fits finds nothing beyond the window's edge and nothing that axe calls serious.
  async fits(axe, what) {
    const width = await this.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(width <= 0, `${what}: wider than the window by ${width}`);
    await this.page.evaluate(axe); // by the debugger, which the policy does not bind
    const found = await this.page.evaluate(async () => {
      const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"], preload: false });
      return violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => v.id + ": " + v.nodes.map((n) => n.html).slice(0, 5).join(" "));
    });
    assert.deepEqual(found, [], what);
  }

  async end() {
    assert.deepEqual(this.faults, []);
    await this.context.close();
  }
}

// looks are the windows that pictures are taken of.
export const looks = ["light", "dark"].flatMap((colorScheme) => [
  { name: "1440-" + colorScheme, options: { colorScheme, viewport: { width: 1440, height: 900 } } },
  { name: "390-" + colorScheme, options: { colorScheme, viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true } },
]);

// codeAt is what the authenticator of a secret shows.
export function codeAt(secret, ms) {
  const bits = [...secret].map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0")).join("");
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(ms / 30_000)));
  const sum = createHmac("sha1", Buffer.from(bits.match(/.{8}/g).map((b) => parseInt(b, 2)))).update(step).digest();
  return String((sum.readUInt32BE(sum[19] & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

// signedOut is the fault of a console that asks who is signed in, when nobody is.
export const signedOut = /401/;

// fill enters what somebody ({password, secret}) signs in to the console with.
export async function fill(v, name, { password, secret }, code = codeAt(secret, Date.now())) {
  await v.at("#name").fill(name);
  await v.at("#password").fill(password);
  await v.at("#code").fill(code);
}

// enter signs somebody in to the console. A code is used once, so nobody does so twice within half a minute: who comes back brings the session along.
export async function enter(v, page, name, person) {
  v.expected.push(signedOut);
  await v.open(page);
  await fill(v, name, person);
  await v.at("#sign-in").click();
  await v.at("#sign-out").waitFor();
  return v;
}

// view goes to a view of the console.
export async function view(v, name) {
  if (await v.at("#menu").isVisible()) await v.at("#menu").click();
  await v.page.getByRole("navigation", { name: "Console" }).getByRole("link", { name, exact: true }).click();
  await v.page.getByRole("heading", { level: 1, name }).waitFor();
}

// sent is the button of a dialog that gives an order.
export const sent = (v) => v.at('#order form button:not([type="button"])');

// order presses an order's button, is refused without a reason, and says why.
export async function order(v, button, values, why) {
  await button.click();
  await sent(v).click();
  await v.sees("Enter a reason");
  for (const [name, value] of Object.entries(values)) await v.at("#order-" + name).fill(value);
  await v.at("#order-why").fill(why);
  await sent(v).click();
  await v.at("#order").waitFor({ state: "detached" });
}
