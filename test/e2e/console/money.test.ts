import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import { verifyExport } from "../../../shared/identity/consent-export.ts";
import { readAudit } from "../../../shared/ledger/audit.ts";
import { findByOwnReference } from "../../../shared/ledger/find-transactions.ts";
import { consentPk } from "../../../shared/ledger/schema.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { expectAccessible } from "../../builders/browser.ts";
import { consoleTests, type Page } from "../../builders/console-pages.ts";
import { type TestCaller, transactionOf } from "../../builders/service.ts";

/** Goal: everything about money that a person may do, and nothing else, is done on the pages alone. */
const { service, signIn, expectError } = consoleTests();

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

/** A purchase that stays open: the upstream never reports its outcome. */
const anOpenOrder = async ({ key }: TestCaller, createdMs = 60_000): Promise<string> => {
  const body = { network: "mtn", amount: 500, phone_number: "08000000004", reference: randomUUID() };
  const { reference } = transactionOf(await service().call("POST", "/vtu/airtime/purchase", { key, body }));
  await setTimes(reference, "SET created_at = :then, listed_at = :then", createdMs);
  return reference;
};

/** Sets times of an order; `:then` is `agoMs` before now. */
const setTimes = async (reference: string, UpdateExpression: string, agoMs: number): Promise<void> => {
  await service().db.send(
    new UpdateCommand({
      TableName: service().ledger.table,
      Key: { pk: `transaction#${reference.split("_")[1]}` },
      UpdateExpression,
      ExpressionAttributeValues: { ":then": isoTime(Date.now() - agoMs) },
    }),
  );
};

const statusOf = async (reference: string) => (await findByOwnReference(service().ledger, reference))?.status;

/** What the browser saves when the button is pressed. */
const saved = async (page: Page, name: string): Promise<string> => {
  const [download] = await Promise.all([page.waitForEvent("download"), button(page, name).click()]);
  return readFileSync(await download.path(), "utf8");
};

const resolve = async (page: Page, reference: string, status: "Failed" | "Success", why: string): Promise<void> => {
  await button(page, `Resolve ${reference}`).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Outcome").selectOption(status.toLowerCase());
  await dialog.getByLabel("Reason").fill(why);
  await dialog.getByLabel(`Type ${reference} to confirm`).fill(reference);
};
const confirm = (page: Page) => page.getByRole("dialog").getByRole("button", { name: /^Resolve/ });

describe("an operator", () => {
  test("sees what is stuck on the first page and resolves it, after typing its reference and giving a reason", async () => {
    const caller = await service().newCaller();
    const reference = await anOpenOrder(caller, 3_600_000);
    const page = await signIn("operator");
    await page.getByText(/[1-9]\d* stuck/).waitFor();
    await expectAccessible(page);
    await page.getByRole("main").getByRole("link", { name: "Show Open orders" }).click();
    await row(page, reference).getByText("Stuck").waitFor();
    await expectAccessible(page);
    await button(page, `Resolve ${reference}`).click();
    await expectAccessible(page);
    await confirm(page).click();
    await page.getByText("Choose one").waitFor();
    await page.getByText("A reason is required").waitFor();
    await page.getByText(`Type exactly ${reference}`).waitFor();
    expect(await statusOf(reference)).toBe("processing");
    await page.keyboard.press("Escape");
    await resolve(page, reference, "Failed", "not in their list");
    await confirm(page).click();
    await page.getByText(`${reference} is failed now, and`).waitFor();
    await row(page, reference).waitFor({ state: "detached" });
    expect(await statusOf(reference)).toBe("failed");
    expect(await caller.balance()).toBe(10_000);
    expect(await readAudit(service().ledger, caller.accountId)).toMatchObject([
      { by: "operator@example.com", why: "not in their list", person: { sub: expect.any(String) } },
    ]);
  });

  test("who resolves an order at the same time as another one sees who was first and how", async () => {
    const reference = await anOpenOrder(await service().newCaller());
    const pages = await Promise.all([signIn("operator", "/open"), signIn("operator", "/open")]);
    expectError(/409/);
    const [one, other] = pages;
    await resolve(one, reference, "Failed", "first ticket");
    await resolve(other, reference, "Success", "second ticket");
    await Promise.all(pages.map((page) => confirm(page).click()));
    const outcomes = await Promise.all(
      pages.map((page) =>
        Promise.race([
          page
            .getByText(/is (failed|success) now/)
            .waitFor()
            .then(() => "won" as const),
          page
            .getByText(/which is final: operator@example\.com resolved it as/)
            .waitFor()
            .then(() => "refused" as const),
        ]),
      ),
    );
    expect(outcomes.toSorted()).toEqual(["refused", "won"]);
    const [status, ticket] = outcomes[0] === "won" ? ["failed", "first ticket"] : ["success", "second ticket"];
    expect(await statusOf(reference)).toBe(status);
    const loser = outcomes[0] === "won" ? other : one;
    await loser.getByText(`resolved it as ${status} ("${ticket}")`).waitFor();
  });

  test("who resolves an order after another one sees that in the dialog, also on the page of the transaction", async () => {
    const caller = await service().newCaller();
    const reference = await anOpenOrder(caller);
    const late = await signIn("operator", `/accounts/${caller.accountId}/transactions/${reference}`);
    const early = await signIn("operator", "/open");
    expectError(/409/);
    await resolve(late, reference, "Success", "late ticket");
    await resolve(early, reference, "Failed", "early ticket");
    await confirm(early).click();
    await early.getByText(`${reference} is failed now`).waitFor();
    await confirm(late).click();
    const dialog = late.getByRole("dialog");
    await dialog.getByText('operator@example.com resolved it as failed ("early ticket")').waitFor();
    await row(late, "transactions resolve").getByText("early ticket").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await button(late, `Resolve ${reference}`).waitFor({ state: "detached" });
    expect(await caller.balance()).toBe(10_000);
  });

  test("waits as long as an order may be in flight, and can then resolve it", async () => {
    const reference = await anOpenOrder(await service().newCaller());
    const setSent = (agoMs: number) => setTimes(reference, "SET sent_at = :then, updated_at = :then", agoMs);
    // In flight until the test lets time pass, however long the steps before that take.
    await setSent(-600_000);
    expectError(/409/);
    const page = await signIn("operator", "/open");
    await row(page, reference).getByText("In flight for up to").waitFor();
    await resolve(page, reference, "Success", "they have it");
    await page.clock.install();
    await confirm(page).click();
    const waits = page.getByRole("button", { name: /^Try again in \d+ s$/ });
    await waits.waitFor();
    const [waitS] = /\d+/.exec(await waits.innerText()) ?? [];
    await setSent(60_000);
    await page.clock.runFor(Number(waitS) * 1_000);
    await confirm(page).click();
    await page.getByText(`${reference} is success now`).waitFor();
  });

  test("sees what waits for the upstream's limit, and resolves it only as failed, which refunds it", async () => {
    const caller = await service().newCaller();
    const faults = [{ kind: "rate_limited", path: "/vtu/", method: "POST", retry_after_s: 600 }];
    const controlUrl = `${service().simulator.controlUrl}/faults`;
    await fetch(controlUrl, { method: "PUT", body: JSON.stringify({ faults }) });
    const body = { network: "mtn", amount: 500, phone_number: "08031234567", reference: randomUUID() };
    const { reference } = transactionOf(
      await service().call("POST", "/vtu/airtime/purchase", { key: caller.key, body }),
    );
    expectError(/409/);
    const page = await signIn("operator", "/waiting");
    await row(page, reference).getByRole("link", { name: reference }).click();
    await page.getByText("for the upstream's rate limit").waitFor();
    await resolve(page, reference, "Success", "they have it");
    await confirm(page).click();
    await page.getByText("it can only be resolved as failed").waitFor();
    await page.getByRole("dialog").getByLabel("Outcome").selectOption("failed");
    await confirm(page).click();
    await page.getByText(`${reference} is failed now, and`).waitFor();
    expect(await caller.balance()).toBe(10_000);
    await fetch(controlUrl, { method: "DELETE" });
  });

  test("funds a wallet, corrects it once although the first answer was lost, sets a threshold and verifies the balance", async () => {
    const { accountId, balance } = await service().newCaller({ naira: 0 });
    const page = await signIn("operator", `/accounts/${accountId}`);
    await button(page, "Fund").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Amount in NGN").fill("x");
    await dialog.getByLabel("The bank's reference").fill(`GTB-${accountId}`);
    await dialog.getByLabel("Reason").fill("transfer");
    await dialog.getByRole("button", { name: "Fund" }).click();
    await dialog.getByText("Must be an amount of NGN").waitFor();
    await dialog.getByLabel("Amount in NGN").fill("2500,50");
    await dialog.getByRole("button", { name: "Fund" }).click();
    await dialog.getByText("commas only between thousands").waitFor();
    expect(await balance()).toBe(0);
    await dialog.getByLabel("Amount in NGN").fill("2,500.50");
    await dialog.getByText("NGN 2,500.50 will be credited: 0.00 -> 2,500.50").waitFor();
    expect(await dialog.getByText("commas only between thousands").count()).toBe(0);
    await dialog.getByRole("button", { name: "Credit NGN 2,500.50" }).click();
    await page.getByText("were recorded. The balance is").waitFor();
    expect(await balance()).toBe(2_500.5);

    expectError(/ERR_FAILED|net::/);
    await button(page, "Adjust").click();
    await dialog.getByLabel("Amount in NGN").fill("-500");
    await dialog.getByLabel("Reason").fill("refunded twice");
    await dialog.getByLabel(`Type ${accountId}`).fill(accountId);
    await page.route("**/wallet/adjust", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await dialog.getByText("NGN 500.00 will be debited: 2,500.50 -> 2,000.50").waitFor();
    await dialog.getByRole("button", { name: "Debit NGN 500.00" }).click();
    await dialog.getByText("It is not known whether the change was made", { exact: true }).waitFor();
    expect(await balance()).toBe(2_000.5);
    await page.unroute("**/wallet/adjust");
    await dialog.getByRole("button", { name: "Debit NGN 500.00" }).click();
    await page.getByText("was recorded before: nothing was changed").waitFor();
    expect(await balance()).toBe(2_000.5);

    await button(page, "Set threshold").click();
    await dialog.getByLabel("Low below, in NGN").fill("5000");
    await dialog.getByRole("button", { name: "Set threshold" }).click();
    await page.getByText("Low", { exact: true }).waitFor();
    expect((await readWallet(service().ledger, accountId)).low_balance_threshold_kobo).toBe(5_000_00);
    await button(page, "Verify").click();
    await page.getByText("The balance equals its entries").waitFor();
    await expectAccessible(page);
    await page.goto(service().consoleUrl);
    await row(page, accountId).waitFor();
  });

  test("exports consents whose chain of hashes verifies, and whose count and hash the audit log has", async () => {
    const caller = await service().newCaller();
    const reference = await anOldCheck(caller);
    const page = await signIn("operator", `/accounts/${caller.accountId}/consents`);
    await row(page, reference).getByText("loan").waitFor();
    await expectAccessible(page);
    const verified = verifyExport(await saved(page, "Export JSON Lines"));
    if (!verified.isWhole) throw new Error(verified.problem);
    expect(verified.end.count).toBe(1);
    expect(await readAudit(service().ledger, caller.accountId)).toMatchObject([
      { action: "consents export", by: "operator@example.com", details: { count: 1, hash: verified.end.hash } },
    ]);
  });
});

/** An identity check whose transaction and consent are an hour old. */
const anOldCheck = async ({ key, accountId }: TestCaller): Promise<string> => {
  const body = { nin: "12345678900", is_consent: true, purpose: "loan", reference: randomUUID() };
  const answer = await service().call("POST", "/identity/nin/verify", { key, body });
  const reference = answer.headers.get("x-transaction-reference") ?? "";
  const pk = `transaction#${reference.split("_")[1]}`;
  for (const each of [pk, consentPk({ pk })]) {
    await service().db.send(
      new UpdateCommand({
        TableName: service().ledger.table,
        Key: { pk: each },
        UpdateExpression: "SET created_at = :then, listed_at = :then",
        ConditionExpression: "account_id = :account",
        ExpressionAttributeValues: { ":then": isoTime(Date.now() - 3_600_000), ":account": accountId },
      }),
    );
  }
  return reference;
};
