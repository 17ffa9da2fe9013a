import { randomUUID } from "node:crypto";
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "../../builders/browser.ts";
import { consoleTests, type Page } from "../../builders/console-pages.ts";
import { transactionOf } from "../../builders/service.ts";

/** Goal: in a narrow window nobody mistakes the stage or the person, and no button is out of sight. */
const { service, signIn } = consoleTests();

/** Visible without scrolling sideways. */
const expectInside = async (page: Page, shown: Locator): Promise<void> => {
  await shown.waitFor();
  const { x = -1, width = 0 } = (await shown.boundingBox()) ?? {};
  expect(x, String(shown)).toBeGreaterThanOrEqual(0);
  expect(x + width, String(shown)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
};

/** What a dialog cuts off at its side or scrolls sideways. */
const CUT_OFF = `[...document.querySelectorAll("[role=dialog], [role=dialog] *")]
  .filter((each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline")
  .map((each) => each.outerHTML.slice(0, 200))`;

test.for([320, 360, 640])(
  "at %i px the stage, the person and every button of a row and of a dialog are visible",
  async (width) => {
    const { accountId, key } = await service().newCaller({ naira: 20_000 });
    const body = { network: "mtn", amount: 12_345, phone_number: "08000000004", reference: randomUUID() };
    const { reference } = transactionOf(await service().call("POST", "/vtu/airtime/purchase", { key, body }));
    const page = await signIn("operator", `/accounts/${accountId}/keys`);
    await page.setViewportSize({ width, height: 740 });
    const banner = page.getByRole("banner");
    await expectInside(page, banner.getByText("local", { exact: true }));
    await expectInside(page, banner.getByText("operator@example.com"));
    await expectInside(page, page.getByRole("button", { name: /^Revoke/ }));
    await expectAccessible(page);

    await page.goto(`${service().consoleUrl}/open`);
    const resolve = page.getByRole("button", { name: `Resolve ${reference}`, exact: true });
    await expectInside(page, resolve);
    await resolve.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Outcome").selectOption("failed");
    await expectInside(page, dialog.getByRole("button", { name: /^Resolve as failed and refund NGN/ }));
    await expectInside(page, dialog.getByText(`Type ${reference} to confirm`));
    expect(await page.evaluate(CUT_OFF)).toEqual([]);
    await expectAccessible(page);
  },
);
