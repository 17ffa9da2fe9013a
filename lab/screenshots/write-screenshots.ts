import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { type PageName, pageList } from "../../console/api/page-list.ts";
import { builtConsole } from "../../infra/bundle/console-files.ts";
import { startChromium } from "../../test/builders/browser/chromium.ts";
import type { LocalPerson } from "../../tools/local/identity-provider.ts";
import { sampleDates } from "../../tools/local/sample-books.ts";
import { type RunningService, startService } from "../../tools/local/service.ts";
import { knownNames, readArguments } from "../../tools/usage/arguments.ts";
import { temporaryFolder } from "../../tools/usage/temporary-folder.ts";
import { OPEN_PHONE, type Seeded, seed } from "./seed.ts";

const FOLDER = fileURLToPath(new URL("../../docs/console/", import.meta.url));
/** The pages to take pictures of, by their names in page-list.ts; all without a name. */
const named: readonly string[] = readArguments("npm run screenshots -- [PAGE ...]", (args) =>
  knownNames("page", args, Object.keys(pageList)),
);
const SETTLE_MS = 1_200;
/** Time in which webhooks are sent, and the ledger's stream is read. */
const BACKGROUND_MS = 6_000;
/** The upstream is asked for an order after a minute, by a run of each minute. */
const ASKED_MS_MAX = 180_000;
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 375, height: 740 };
/** A transaction with its steps. */
const WHOLE = { width: 1280, height: 1600 };

/** As a customer says it on the phone. */
const SEARCHED = OPEN_PHONE.replace(/^0(\d{3})(\d{3})(\d{4})$/, "+234 $1 $2 $3");

const owners: readonly PageName[] = [
  "overview",
  "keys",
  "whitelist",
  "webhooks",
  "endpoint",
  "api",
  "transactions",
  "transaction",
  "statement",
  "consents",
];
const finance: readonly PageName[] = [
  "periods",
  "period",
  "margin",
  "refund-clock",
  "float",
  "statements",
  "statement-day",
];
const onPhone: readonly PageName[] = ["overview", "keys", "today", "statement", "people", "service-audit", ...finance];
const inDark: readonly PageName[] = ["today"];

const signIn = async (browser: Browser, url: string, person: LocalPerson): Promise<Page> => {
  const context = await browser.newContext({
    viewport: DESKTOP,
    locale: "en-GB",
    timezoneId: "Africa/Lagos",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await page.goto(url);
  await page.locator(`button[value="${person}"]`).click();
  await page.locator("main h1").waitFor();
  return page;
};

/** The ID token of the person, as the page sends it. */
const tokenOf = async (page: Page): Promise<string> => {
  const request = page.waitForRequest("**/console-api/me");
  await page.reload();
  return (await (await request).headerValue("authorization"))?.replace("Bearer ", "") ?? "";
};

const take = async (page: Page, name: string): Promise<void> => {
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
};

const takePictures = async (
  browser: Browser,
  { details }: RunningService,
  { account, reference, lost }: Seeded,
  operator: Page,
) => {
  const owner = await signIn(browser, details.console.url, "owner");
  for (const [name, { path }] of Object.entries(pageList)) {
    if (named.length > 0 && !named.includes(name)) continue;
    const page = owners.some((owned) => owned === name) ? owner : operator;
    const { closedMonth, statedDay } = sampleDates(Date.now(), { timeZone: "Africa/Lagos", queueMinutes: 15 });
    const places = {
      ":account": account,
      ":reference": reference,
      ":endpoint": "1",
      ":month": closedMonth,
      ":day": statedDay,
    };
    const shown =
      path === "/" ? "" : Object.entries(places).reduce<string>((text, [name, at]) => text.replace(name, at), path);
    await page.goto(`${details.console.url}${shown}`);
    await page.locator("main h1").waitFor();
    if (name === "search") {
      await page.getByRole("searchbox", { name: "Search" }).fill(SEARCHED);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Orders and checks" }).waitFor();
    }
    await take(page, name);
    if (inDark.some((dark) => dark === name)) {
      await page.emulateMedia({ colorScheme: "dark" });
      await take(page, `${name}-dark`);
      await page.emulateMedia({ colorScheme: "light" });
    }
    if (onPhone.some((phone) => phone === name)) {
      await page.setViewportSize(PHONE);
      await take(page, `${name}-phone`);
      await page.setViewportSize(DESKTOP);
    }
  }
  if (named.length > 0 && !named.includes("transaction")) return;
  await operator.setViewportSize(WHOLE);
  await operator.goto(`${details.console.url}/accounts/${account}/transactions/${lost}`);
  await operator.getByText(/^It was delivered/).waitFor({ timeout: ASKED_MS_MAX });
  await take(operator, "transaction-asked");
};

builtConsole();
if (named.length === 0) rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const service = await startService({ sampleBooks: true, fourEyes: true, dataDir: temporaryFolder("screenshots-") });
const browser = await startChromium();
try {
  const operator = await signIn(browser, service.details.console.url, "operator");
  const seeded = await seed(service, {
    operator: await tokenOf(operator),
    finance: await tokenOf(await signIn(browser, service.details.console.url, "finance")),
  });
  await operator.waitForTimeout(BACKGROUND_MS);
  await takePictures(browser, service, seeded, operator);
} finally {
  await browser.close();
  await service.stop();
}
process.exit(0);
