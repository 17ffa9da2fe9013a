import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { createKey } from "../../../shared/access/accounts.ts";
import { statementLineView } from "../../../shared/actions/wallet.ts";
import { statementColumns, statementCsvRow } from "../../../shared/contract/statement-csv.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { expectAccessible } from "../../builders/browser.ts";
import { consoleTests, type Page } from "../../builders/console-pages.ts";
import { transactionOf } from "../../builders/service.ts";
import { readStatement } from "../../builders/statement.ts";

/**
 * Goal: owners and readers see what an account bought and paid, and nothing of another account or beyond their role.
 */
const { service, signIn, expectError } = consoleTests();

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
const ofDemo = (...parts: readonly string[]): string => ["/accounts", service().demoAccount, ...parts].join("/");

const PHONE = "08031234567";

/** An airtime order of 500 NGN, by default delivered; resolves with our reference. */
const buy = async (key: string, callerReference: string, phone_number = PHONE): Promise<string> => {
  const body = { network: "mtn", amount: 500, phone_number, reference: callerReference };
  return transactionOf(await service().call("POST", "/vtu/airtime/purchase", { key, body })).reference;
};

let delivered: string;
let open: string;
let foreign: string;
let checked: string;
beforeAll(async () => {
  const permissions = ["vtu", "identity"] as const;
  const { key } = await createKey(service().accounts, service().demoAccount, { mode: "live", permissions });
  delivered = await buy(key, "order-1");
  open = await buy(key, "order-2", "08000000004");
  const body = { nin: "12345678900", is_consent: true, purpose: "=1+1", reference: randomUUID() };
  const check = await service().call("POST", "/identity/nin/verify", { key, body });
  checked = check.headers.get("x-transaction-reference") ?? "";
  foreign = await buy((await service().newCaller()).key, "order-1");
});

/** What the browser saves when the button is pressed. */
const saved = async (page: Page, name: string): Promise<string> => {
  const [download] = await Promise.all([page.waitForEvent("download"), button(page, name).click()]);
  return readFileSync(await download.path(), "utf8");
};

/** Sends actions as the person of a page, past its buttons; resolves with the status. */
const requestsOf = async (page: Page) => {
  const [request] = await Promise.all([page.waitForRequest(/console-api/), page.reload()]);
  const { authorization = "" } = await request.allHeaders();
  const send = async (path: string, init: RequestInit = {}): Promise<number> =>
    (await fetch(`${service().consoleUrl}-api/${path}`, { ...init, headers: { authorization, ...init.headers } }))
      .status;
  return {
    read: (path: string, input: Record<string, string>) => send(`${path}?${new URLSearchParams(input)}`),
    change: (path: string, input: object) => {
      const headers = { "content-type": "application/json" };
      return send(path, { method: "POST", headers, body: JSON.stringify({ why: "a test", ...input }) });
    },
  };
};

/** Requests of changes that only operators may do. */
const changesOfOperators = (account: string): readonly [string, object][] => [
  ["transactions/resolve", { reference: open, status: "failed" }],
  ["wallet/fund", { account, amount_kobo: 100, id: randomUUID() }],
  ["wallet/adjust", { account, amount_kobo: 100, id: randomUUID() }],
];

/** Goes to a page without signing in again, and waits until it has read what it shows. */
const goTo = async (page: Page, path: string, heading: string): Promise<void> => {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(new URL(service().consoleUrl).pathname + path)})`);
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await expect.poll(() => page.getByText("Loading", { exact: true }).count()).toBe(0);
};

const expectNoButtons = async (page: Page, names: readonly RegExp[]): Promise<void> => {
  for (const name of names)
    expect(await page.getByRole("button", { name }).count(), `${name} on ${page.url()}`).toBe(0);
};

describe("an owner", () => {
  test("finds a transaction by the app's own reference, sees what happened to it, and filters and saves the list", async () => {
    const page = await signIn("owner", ofDemo("transactions"));
    await row(page, delivered).getByText("Success").waitFor();
    await page.getByLabel("Status").selectOption("processing");
    await row(page, delivered).waitFor({ state: "detached" });
    await row(page, open).getByText("Processing").waitFor();
    const csv = (await saved(page, "Download CSV")).split("\r\n");
    expect(csv).toHaveLength(2);
    expect(csv[1]).toContain(`${open},`);
    await page.getByLabel("Type").selectOption("data");
    await page.getByText("No transaction here. Choose other filters").waitFor();
    expectError(/404/);
    const before = [page.url(), await page.title(), await page.evaluate("history.length")];
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    for (const typed of ["08031234567", "+234 803 123 4567", "0803-unknown"]) {
      await page.getByLabel("Find by reference").fill(typed);
      await button(page, "Find").click();
      await page
        .getByText(/unknown/.test(typed) ? "There is no transaction" : "A phone number finds no order")
        .waitFor();
      expect([page.url(), await page.title(), await page.evaluate("history.length")]).toEqual(before);
    }
    expect(requests.filter((url) => url.includes("4567"))).toEqual([]);
    await page.getByLabel("Find by reference").fill("order-1");
    await button(page, "Find").click();
    await page.getByRole("heading", { level: 1, name: delivered }).waitFor();
    await row(page, "created").getByText("500.00 NGN debited").waitFor();
    await expectAccessible(page);
  });

  test("saves the statement that the ledger has, to the byte", async () => {
    const account = service().demoAccount;
    const page = await signIn("owner", ofDemo("statement"));
    await row(page, delivered).waitFor();
    const { lines, closing_kobo } = await readStatement(service().ledger, account, { from: "0000", to: "9999" });
    const rows = lines.map((line) => statementCsvRow(statementLineView(line)));
    expect(await saved(page, "Download CSV")).toBe([statementColumns.join(","), ...rows].join("\r\n"));
    const closing = (closing_kobo / 100).toLocaleString("en", { minimumFractionDigits: 2 });
    await page.locator("dl").getByText(closing).waitFor();
    await page.getByLabel("To (UTC)").fill("2020-01-01");
    await page.getByText("No entry in this period").waitFor();
    await page.locator("dl").getByText("0.00").first().waitFor();
  });

  test("saves the consents of checks without the subject, and no purpose of theirs is a formula", async () => {
    const page = await signIn("owner", ofDemo("consents"));
    await row(page, checked).getByText("=1+1").waitFor();
    const csv = await saved(page, "Download CSV");
    expect(csv).toContain(`${checked},`);
    expect(csv).toContain(",'=1+1,");
    expect(csv).not.toContain("subject");
    expect(await page.getByText("Export for auditors").count()).toBe(0);
  });

  test("sets the threshold of a low balance", async () => {
    const page = await signIn("owner", ofDemo());
    await button(page, "Set threshold").click();
    await page.getByLabel("Low below, in NGN").fill("1,000.50");
    await page.getByRole("dialog").getByRole("button", { name: "Set threshold" }).click();
    await page.getByText("The balance counts as low below").waitFor();
    const { low_balance_threshold_kobo } = await readWallet(service().ledger, service().demoAccount);
    expect(low_balance_threshold_kobo).toBe(1_000_50);
  });

  test("does not find another account's transaction below an own one, nor another account", async () => {
    expectError(/404/);
    const page = await signIn("owner", ofDemo("transactions", foreign));
    await page.getByText(`There is no transaction ${foreign} of account`).waitFor();
    await page.getByText("Not found", { exact: true }).waitFor();
    expect(await page.getByText("could not be loaded").count()).toBe(0);
    await expectAccessible(page);
    await page.goto(`${service().consoleUrl}/accounts/acc_unknown/statement`);
    await page.getByText("No account of yours has this id").waitFor();
    const { read } = await requestsOf(page);
    const account = service().demoAccount;
    expect(await read("transactions/show", { account, reference: foreign })).toBe(404);
    expect(await read("consents/show", { account, reference: foreign })).toBe(404);
    expect(await read("wallet/statement", { account: "acc_unknown" })).toBe(404);
  });

  test("has no buttons of operators, and their requests are refused", async () => {
    const page = await signIn("owner", ofDemo());
    const buttons = [/^Fund/, /^Adjust/, /^Verify/, /^Resolve/];
    await expectNoButtons(page, buttons);
    await goTo(page, ofDemo("transactions", open), open);
    await expectNoButtons(page, buttons);
    const { read, change } = await requestsOf(page);
    const account = service().demoAccount;
    for (const [path, input] of changesOfOperators(account)) expect(await change(path, input), path).toBe(403);
    for (const path of [
      "wallet/verify",
      "wallet/low",
      "transactions/open",
      "transactions/waiting",
      "consents/export",
    ]) {
      expect(await read(path, { account }), path).toBe(403);
    }
    expect(await read("transactions/show", { reference: delivered })).toBe(403);
  });
});

describe("a reader", () => {
  test("sees every page with masked phone numbers and without buttons, and changes are refused", async () => {
    const page = await signIn("reader", "/open");
    await row(page, open).getByText("*********04").waitFor();
    const buttons = [/^Fund/, /^Adjust/, /^Set threshold/, /^Resolve/];
    await expectNoButtons(page, buttons);
    await goTo(page, ofDemo(), "Overview");
    await expectNoButtons(page, buttons);
    await goTo(page, ofDemo("transactions", open), open);
    await expectNoButtons(page, buttons);
    await page.getByText("*********04").first().waitFor();
    expect(await page.getByText("08000000004").count()).toBe(0);
    const { change, read } = await requestsOf(page);
    const account = service().demoAccount;
    for (const [path, input] of changesOfOperators(account)) expect(await change(path, input), path).toBe(403);
    expect(await change("wallet/threshold", { account, amount_kobo: 100 })).toBe(403);
    expect(await read("consents/export", { account })).toBe(200);
  });

  test("sees the pages about money on a phone in the dark, without a violation of accessibility", async () => {
    const page = await signIn("reader", "", { colorScheme: "dark", viewport: "phone" });
    for (const [path, heading] of [
      ["/open", "Open orders"],
      ["/waiting", "Waiting orders"],
      [ofDemo(), "Overview"],
      [ofDemo("transactions"), "Transactions"],
      [ofDemo("transactions", delivered), delivered],
    ] as const) {
      await goTo(page, path, heading);
      await expectAccessible(page);
    }
  });
});
