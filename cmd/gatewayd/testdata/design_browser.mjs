// Compares the components with stored pictures: node design_browser.mjs <JSON of what the test gives>
// given besides what browser.mjs wants: page (URL), stored (the directory of pictures), update (take them again), npm (where packages are).
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { launch } from "./browser.mjs";

const given = JSON.parse(process.argv[2]);
const { axe, begin, close } = await launch(given);
const { default: pixelmatch } = await import(given.npm + "/pixelmatch/index.js");
const { PNG } = (await import(given.npm + "/pngjs/lib/png.js")).default;

// most is the share of a picture's points that may differ: another version of the browser draws edges differently.
const most = 0.01;

async function compare(name, taken) {
  const file = `${given.stored}/${name}.png`;
  if (given.update) return writeFile(file, taken);
  const [stored, now] = [PNG.sync.read(await readFile(file)), PNG.sync.read(taken)];
  await writeFile(`${given.pictures}/design-${name}.png`, taken);
  assert.deepEqual([now.width, now.height], [stored.width, stored.height], name + ": size");
  const differing = pixelmatch(stored.data, now.data, null, now.width, now.height, { threshold: 0.2 });
  assert.ok(differing / (now.width * now.height) <= most, `${name}: ${differing} points differ; see build/pictures/design-${name}.png`);
}

if (given.update) await mkdir(given.stored, { recursive: true });
for (const [colorScheme, width] of [["light", 1024], ["dark", 1024], ["light", 390]]) {
  const v = await begin({ colorScheme, viewport: { width, height: 900 }, timezoneId: "UTC", reducedMotion: "reduce" });
  await v.open(given.page);
  await v.at("canvas").first().waitFor();
  await v.page.evaluate(() => document.fonts.ready);
  await v.fits(axe, `components ${colorScheme} ${width}`);
  for (const part of await v.at("[data-part]").all()) await compare(`${await part.getAttribute("data-part")}-${colorScheme}-${width}`, await part.screenshot({ animations: "disabled" }));
  for (const id of ["dialog", "confirm"]) {
    await v.at("#show-" + id).click();
    await compare(`${id}-${colorScheme}-${width}`, await v.at("#a-" + id).screenshot({ animations: "disabled" }));
    await v.fits(axe, id);
    if (id === "confirm") {
      await v.at("#a-confirm .danger").click();
      await v.sees("The signer does not answer.");
    }
    await v.page.keyboard.press("Escape");
    await v.at("#a-" + id).waitFor({ state: "detached" });
  }
  await v.end();
}
await close();
