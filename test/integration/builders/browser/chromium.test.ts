import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { expect, test } from "vitest";
import { browserTests } from "../../../builders/browser/browser.ts";

/** Goal: a page looks the same on every machine, also on one that has no fonts. */
const browser = browserTests();

test("text is drawn in the package's font, whatever fonts the page asks for and the machine has", async () => {
  const page = await browser.newPage();
  await page.setContent(`<p style="font-family: 'DejaVu Sans', sans-serif">Airtime</p><code>Data</code>`);
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("DOM.enable");
  await devTools.send("CSS.enable");
  const { root } = await devTools.send("DOM.getDocument");
  for (const selector of ["p", "code"]) {
    const { nodeId } = await devTools.send("DOM.querySelector", { nodeId: root.nodeId, selector });
    const { fonts } = await devTools.send("CSS.getPlatformFontsForNode", { nodeId });
    expect(fonts.map(({ familyName }) => familyName)).toEqual(["Open Sans"]);
    expect((await page.locator(selector).boundingBox())?.height).toBeGreaterThan(10);
  }
});

test("every folder of fonts that Chromium is given exists in its own folder", () => {
  const configurations = globSync(resolve(".local/chromium/*/fonts/fonts.conf"));
  expect(configurations.length).toBeGreaterThan(0);
  for (const file of configurations) {
    const folders = [...readFileSync(file, "utf8").matchAll(/<dir([^>]*)>([^<]+)</g)];
    expect(folders).toHaveLength(1);
    for (const [, attributes, folder = ""] of folders) {
      expect(attributes).toContain('prefix="relative"');
      expect(existsSync(resolve(dirname(file), folder))).toBe(true);
    }
  }
});
