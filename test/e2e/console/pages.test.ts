import { expect, test } from "vitest";
import { pageList } from "../../../console/app/page-list.ts";
import { expectAccessible } from "../../builders/browser.ts";
import { consoleTests, type Page } from "../../builders/console-pages.ts";
import { anOrder, BUY_DATA, transactionOf } from "../../builders/service.ts";

const { service, signIn } = consoleTests();

const RULES_OF_COLOUR_AND_WIDTH = ["color-contrast", "link-in-text-block", "scrollable-region-focusable"];

/** Shows a page by the page's own navigation, without loading everything again. */
const show = async (page: Page, path: string, title: string) => {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(`/console${path}`)})`);
  await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
  await expect.poll(() => page.getByText("Loading", { exact: true }).count()).toBe(0);
};

/** All pages, those of an account for one that has bought something. */
const allPages = async (): Promise<readonly { readonly path: string; readonly title: string }[]> => {
  const { newCaller, call } = service();
  const { accountId, key } = await newCaller();
  const { reference } = transactionOf(
    await call("POST", BUY_DATA, { key, body: anOrder({ reference: crypto.randomUUID() }) }),
  );
  return Object.values(pageList).map(({ path, title }) => ({
    path: path.replace(":account", accountId).replace(":reference", reference),
    title: path.includes(":reference") ? reference : title,
  }));
};

test("every page is accessible and as wide as its window: in light and dark colours, and on a phone", async () => {
  const page = await signIn("operator");
  for (const { path, title } of await allPages()) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: "light" });
    await show(page, path, title);
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 375, height: 740 });
    await expectAccessible(page, RULES_OF_COLOUR_AND_WIDTH);
    expect(await page.getByText("This page failed").count(), path).toBe(0);
    expect(await page.getByText("This could not be loaded").count(), path).toBe(0);
  }
});

test("a reader sees every page without a button that changes something", async () => {
  const page = await signIn("reader");
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.method()));
  const changes =
    /^(Create|Rotate|Revoke|Restrict|Set|Change|Fund|Adjust|Resolve|Match|Discard|Accept|Replay|Send|Remove|Add|Turn|Enable|Disable|Choose|Allow)/;
  for (const { path, title } of await allPages()) {
    await show(page, path, title);
    expect(await page.getByRole("main").getByRole("button", { name: changes }).allTextContents(), path).toEqual([]);
  }
  expect(requests).not.toContain("POST");
});
