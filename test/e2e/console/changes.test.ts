import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import {
  createAccount,
  setAccountStatus,
  setDuplicateWindow,
  setEntitlements,
} from "../../../shared/access/accounts.ts";
import { createKey, revokeKey } from "../../../shared/access/keys.ts";
import { reversalName } from "../../../shared/contract/corrections.ts";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { readAudit } from "../../../shared/ledger/audit.ts";
import { findByOwnReference } from "../../../shared/ledger/find-transactions.ts";
import { adjustWallet } from "../../../shared/ledger/ledger-entry.ts";
import { parseIpRanges } from "../../../shared/platform/ip-range.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { recordEvent } from "../../../shared/upstream-events/stored-event.ts";
import { systemResolve } from "../../../shared/webhooks/address-guard.ts";
import { setEndpoint, setEndpointEvents } from "../../../shared/webhooks/endpoint.ts";
import { loadFunctions } from "../../../tools/local/functions.ts";
import { endWaits, expectAccessible } from "../../builders/browser/browser.ts";
import {
  button,
  checkDialogs,
  consoleTests,
  dialog,
  fill,
  fillAndSend,
  heading,
  keepBack,
  outdate,
  type Page,
  readAgain,
  row,
  submit,
  visit,
} from "../../builders/browser/console-pages.ts";
import { anOldAccount } from "../../builders/ledger/old-account.ts";
import { anOrder, BUY_DATA, type TestCaller, transactionOf } from "../../builders/service/service.ts";
import { startReceiver } from "../../builders/webhooks/receiver.ts";

/** Goal: a form says what it will do, and what it did, also without a network, an answer or the only decision. */
const { service, open, signIn, tokenOf, expectError } = consoleTests();

const ofDemo = (page: string) => `/accounts/${service().demoAccount}/${page}`;

describe("a form", () => {
  const keys = (page: Page) => page.getByRole("region", { name: "Keys" }).locator("tbody tr");
  const openKeys = async () => {
    const page = await open("owner", ofDemo("keys"));
    await keys(page).first().waitFor();
    return { page, before: await keys(page).count() };
  };

  test("works with the keyboard alone, shows a new key once, and the focus returns to its button", async () => {
    const { page, before } = await openKeys();
    const focused = (text: string) => page.locator(":focus", { hasText: text });
    await page.keyboard.press("Tab");
    await focused("Skip to the page").waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await focused("Download CSV").waitFor();
    await page.keyboard.press("Tab");
    await focused("Create key").waitFor();
    await page.keyboard.press("Enter");
    await dialog(page).waitFor();
    await dialog(page).getByLabel("Name (optional)").and(page.locator(":focus")).waitFor();
    await page.keyboard.type("Checkout");
    // Past the mode and the three permissions, to the reason.
    await page.keyboard.press("Tab");
    for (const key of ["Tab", "Space", "Tab", "Tab", "Tab"]) await page.keyboard.press(key);
    await page.keyboard.type("For the new checkout");
    await page.keyboard.press("Tab");
    await focused("Cancel").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");

    const secret = page.getByRole("dialog", { name: "The new key \u2068Checkout\u2069" });
    await secret.waitFor();
    await expectAccessible(page);
    const key = (await secret.locator("pre").textContent()) ?? "";
    expect(key).toMatch(/^test_/);
    await page.keyboard.press("Escape");
    expect(await secret.count()).toBe(1);
    await button(secret, "I have saved it").focus();
    await page.keyboard.press("Enter");
    await secret.waitFor({ state: "detached" });
    await expect.poll(() => keys(page).count()).toBe(before + 1);
    await page.getByRole("status").filter({ hasText: "was created" }).waitFor();
    await focused("Create key").waitFor();
    await row(page, `test_…${key.slice(-4)}`)
      .getByText("by owner@example.com")
      .waitFor();
    expect(await page.content()).not.toContain(key);
  });

  test("sends nothing without a network, and works once it is back", async () => {
    expectError(/ERR_INTERNET_DISCONNECTED/);
    const { page, before } = await openKeys();
    await button(page, "Create key").click();
    await page.context().setOffline(true);
    await page.getByText("You are offline").waitFor();
    await submit(page, "Create key");
    await dialog(page).getByText("Nothing was changed").waitFor();
    await expectAccessible(page);
    await page.context().setOffline(false);
    await submit(page, "Create key");
    await button(page.getByRole("dialog", { name: /^The new key/ }), "I have saved it").click();
    await expect.poll(() => keys(page).count()).toBe(before + 1);
  });

  test("waits 35 s for its answer, says if it is lost that it is not known, and the page behind it is read again", async () => {
    expectError(/409 \(Conflict\)/);
    const { page, before } = await openKeys();
    const created = Promise.withResolvers<void>();
    await page.route("**/console-api/keys/create", async (route) => {
      await route.fetch();
      created.resolve();
    });
    await fillAndSend(page, "Create key");
    await created.promise;
    await endWaits(page, 34_999);
    await expect.poll(() => button(dialog(page), "Cancel").isDisabled()).toBe(true);
    expect(await button(dialog(page), "Close").count()).toBe(0);
    await page.keyboard.press("Escape");
    await endWaits(page, 35_000);
    await dialog(page).getByText("It is not known whether the change was made").waitFor();
    await dialog(page).getByText("If the list has a key that nobody has, revoke it").waitFor();
    await button(dialog(page), "Create key").and(page.locator(":focus")).waitFor();
    await expect.poll(() => keys(page).count()).toBe(before + 1);

    await page.unrouteAll();
    await page.route("**/console-api/keys/create", (route) =>
      route.fulfill({ status: 409, json: { status: false, message: "The account is closed" } }),
    );
    await submit(page, "Create key");
    await dialog(page).getByText("This attempt changed nothing").waitFor();
    await dialog(page).getByText("The attempt before may have made the change").waitFor();
  });

  test("whose page was left, and whose new key comes while another one is shown, shows it after that", async () => {
    const page = await open("owner", ofDemo("whitelist"));
    await page.getByRole("link", { name: "Keys" }).click();
    const waited = Promise.withResolvers<void>();
    await page.route("**/console-api/keys/create", async (route) => {
      if (route.request().postData()?.includes("First")) await waited.promise;
      await route.continue();
    });
    const create = async (name: string) => {
      await fillAndSend(page, "Create key", { "Name (optional)": name });
    };
    await create("First");
    await page.goBack();
    await button(page, "Create key").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Keys" }).click();
    await create("Second");
    const secretOf = (name: string) => page.getByRole("dialog", { name: `The new key \u2068${name}\u2069` });
    await secretOf("Second").waitFor();
    waited.resolve();
    await page.locator("[role=status]", { hasText: "First" }).waitFor();
    expect(await secretOf("Second").locator("pre").textContent()).toMatch(/^test_/);
    await button(secretOf("Second"), "I have saved it").click();
    await button(secretOf("First"), "I have saved it").click();
    await dialog(page).waitFor({ state: "detached" });
  });

  test("is sent once, also by a second press before the page has drawn the first one", async () => {
    const { page, before } = await openKeys();
    let sent = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/console-api/keys/create")) sent += 1;
    });
    await button(page, "Create key").click();
    await button(dialog(page), "Create key").waitFor();
    await page.evaluate(`for (const press of [1, 2]) document.querySelector("[role=dialog] [type=submit]").click()`);
    await button(page.getByRole("dialog", { name: /^The new key/ }), "I have saved it").click();
    await expect.poll(() => keys(page).count()).toBe(before + 1);
    expect(sent).toBe(1);
  });

  test("that was left before its answer does not lead away from the page that is shown since", async () => {
    const page = await open("operator", "/catalog");
    await visit(page, "/accounts", "Accounts");
    const release = await keepBack(page, "accounts/create");
    await fillAndSend(page, "Create account", { Name: "Left early" });
    await page.goBack();
    await heading(page, "Catalog").waitFor();
    release();
    await page.getByRole("status").filter({ hasText: "The account \u2068Left early\u2069 was created." }).waitFor();
    expect(page.url()).toMatch(/\/catalog$/);
  });

  test.each([200, 202])(
    "whose answer with status %i the page does not know says so, and cannot be sent again",
    async (status) => {
      const { page } = await openKeys();
      await page.route("**/console-api/keys/create", (route) =>
        route.fulfill({ status, json: { status: true, message: "Done", data: { newer: true } } }),
      );
      await fillAndSend(page, "Create key");
      await dialog(page).getByText("The change was accepted").waitFor();
      await dialog(page).getByText("This page is older than the service").waitFor();
      expect(await button(dialog(page), "Create key").isDisabled()).toBe(true);
      expect(await dialog(page).getByText("Nothing was changed").count()).toBe(0);
    },
  );
});

test("the own address is added to the whitelist with one button, the last address is removed with a warning, and the focus stays in the table of a row that is gone, which is not scrolled", async () => {
  const page = await open("owner", ofDemo("whitelist"));
  await button(page, "Remove ::1/128").click();
  // The table's beginning is out of view, on a page that is long enough also without the row.
  await page.evaluate("document.body.style.paddingBottom = '1000px'");
  const place = 'document.querySelector("main section[tabindex]").getBoundingClientRect().top';
  await page.evaluate(`scrollBy(0, ${place} + 10)`);
  const before = await page.evaluate(place);
  await submit(page, "Remove");
  await page.getByRole("region", { name: "Addresses" }).and(page.locator(":focus")).waitFor();
  expect(await page.evaluate(place)).toBe(before);
  await button(page, "Remove 127.0.0.1/32").click();
  await page.getByText("It is the last address").waitFor();
  await submit(page, "Remove");
  await page.getByText("No address is allowed").waitFor();
  await heading(page, "Whitelist").and(page.locator(":focus")).waitFor();
  await fillAndSend(page, "Add my address");
  await button(page, "Remove 127.0.0.1").waitFor();
  await button(page, "Add my address").waitFor({ state: "detached" });
});

test("an endpoint is added, tested with a result in words, changed and removed, and then nothing can be sent to it again", async () => {
  const [refused, other] = await Promise.all([startReceiver(), startReceiver()]);
  await Promise.all([refused.stop(), other.stop()]);
  const page = await open("owner", ofDemo("webhooks"));
  await fillAndSend(page, "Add endpoint");
  await dialog(page).getByLabel("URL").and(page.locator("[aria-invalid=true]:focus")).waitFor();
  expectError(/409 \(Conflict\)/);
  await fill(page, { URL: "https://10.0.0.1/webhooks" });
  await submit(page, "Add endpoint");
  await dialog(page).getByLabel("URL").and(page.locator("[aria-invalid=true]:focus")).waitFor();
  await dialog(page).getByText("is not a public address").waitFor();
  await dialog(page).getByLabel("URL").fill(refused.url);
  await submit(page, "Add endpoint");
  await page.getByText("Events from now on are sent to it.").waitFor();
  await page.getByRole("link", { name: "Endpoint 1" }).click();
  await button(page, "Send test event").click();
  await dialog(page).getByLabel("Reason").and(page.locator(":focus")).waitFor();
  await submit(page, "Send test event");
  await page.locator(":focus").getByText("No usable answer: Connection refused (ECONNREFUSED)").waitFor();
  await fillAndSend(page, "Change name and URL", { URL: other.url, Name: "Books" });
  await page.getByRole("heading", { name: "Books" }).waitFor();
  expect(await page.getByText("No usable answer").count()).toBe(0);
  const replays = page.getByRole("button", { name: /^Replay/ });
  await replays.waitFor();
  await fillAndSend(page, "Remove", { "Type Books": "Books", Reason: "not in use" });
  await page.getByText("There is no endpoint, so nothing is sent").waitFor();
  expect(await replays.count()).toBe(0);
  await page.goBack();
  await page.getByText("The account has no endpoint 1.").waitFor();
  expect(await replays.count()).toBe(0);
});

test("a form with several wrong fields begins with links to them, and what the service refuses is said once, at its field", async () => {
  const { accountId } = await service().newCaller({ naira: 100 });
  const page = await open("operator", `/accounts/${accountId}`);
  await fillAndSend(page, "Fund");
  const form = page.getByRole("dialog", { name: "Error: Credit a bank transfer" });
  await form.locator(":focus", { hasText: "3 fields are wrong" }).waitFor();
  await expectAccessible(page, undefined, "dialog");
  const address = page.url();
  await form.getByRole("link", { name: "Reason: A reason is required" }).click();
  expect(page.url()).toBe(address);
  await page.keyboard.type("transfer");
  await form.getByText("2 fields are wrong").waitFor();
  await dialog(page).getByLabel("Amount in NGN").fill("5");
  await dialog(page).getByText("2 fields are wrong").waitFor({ state: "detached" });
  await dialog(page).getByLabel("The bank's reference").fill(`first-${accountId}`);
  await page.getByRole("dialog", { name: "Credit a bank transfer", exact: true }).waitFor();

  expectError(/409 \(Conflict\)/);
  await submit(page, "Credit NGN 5.00");
  const refused = dialog(page).getByRole("textbox", {
    name: "The bank's reference",
    description: new RegExp(`first-${accountId} was recorded already, with NGN 100\\.00 at \\d+ \\w+, \\d`),
  });
  await refused.and(page.locator("[aria-invalid=true]:focus")).waitFor();
  expect(await dialog(page).getByText("was recorded already").count()).toBe(1);
});

test("a refused secret and refused choices have the focus and what is wrong with them", async () => {
  const page = await open("support", "/notifications");
  await button(page, "Choose notifications").click();
  await dialog(page).getByRole("group", { name: "To a chat" }).getByRole("checkbox").first().check();
  expectError(/409 \(Conflict\)/);
  await submit(page, "Save");
  const secret = dialog(page).getByLabel("Webhook URL of the chat", { exact: true });
  await secret.and(page.locator("[aria-invalid=true]:focus")).waitFor();

  const { accountId } = await service().newCaller();
  const keys = await open("operator", `/accounts/${accountId}/keys`);
  await button(keys, "Create key").click();
  const boxes = dialog(keys).getByRole("checkbox");
  await boxes.first().waitFor();
  for (const box of await boxes.all()) await box.uncheck();
  await dialog(keys).getByLabel("Name").fill("x".repeat(61));
  await submit(keys, "Create key");
  await dialog(keys).getByRole("link", { name: "Permissions: Must have at least one permission" }).click();
  const refused = dialog(keys).getByRole("checkbox", { description: /Must have at least one permission/ });
  await refused.first().and(keys.locator("[aria-invalid=true]:focus")).waitFor();
});

test("a wallet is funded by an amount as it is read, adjusted once although the first answer was lost, and verified once", async () => {
  const { accountId, balance } = await service().newCaller({ naira: 0 });
  const page = await open("operator", `/accounts/${accountId}`);
  await fillAndSend(page, "Fund", {
    "Amount in NGN": "x",
    "The bank's reference": `GTB-${accountId}`,
    Reason: "transfer",
  });
  await dialog(page).getByText("Must be an amount of NGN").waitFor();
  await dialog(page).getByLabel("Amount in NGN").and(page.locator(":focus")).waitFor();
  await dialog(page).getByLabel("Amount in NGN").fill("2500,50");
  await submit(page, "Fund");
  await dialog(page).getByText("commas only between thousands").waitFor();
  expect(await balance()).toBe(0);
  await dialog(page).getByLabel("Amount in NGN").fill("2,500.50");
  await dialog(page).getByText("NGN 2,500.50 will be credited: from 0.00 to 2,500.50").waitFor();
  expect(await dialog(page).getByText("commas only between thousands").count()).toBe(0);
  await submit(page, "Credit NGN 2,500.50");
  await page.getByText("were credited. The balance is").waitFor();
  expect(await balance()).toBe(2_500.5);

  expectError(/ERR_FAILED|net::/);
  await button(page, "Adjust").click();
  await fill(page, { "Amount in NGN": "-500", Reason: "refunded twice", [`Type ${accountId}`]: accountId });
  await page.route("**/wallet/adjust", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await dialog(page).getByText("NGN 500.00 will be debited: from 2,500.50 to 2,000.50").waitFor();
  await submit(page, "Debit NGN 500.00");
  await dialog(page).getByText("It is not known whether the change was made", { exact: true }).waitFor();
  expect(await balance()).toBe(2_000.5);
  await page.unroute("**/wallet/adjust");
  await submit(page, "Debit NGN 500.00");
  await page.getByText("was recorded before: nothing was changed").waitFor();
  expect(await balance()).toBe(2_000.5);

  // All entries are read on request only, and not with what is read again whenever the tab is shown.
  let verified = 0;
  page.on("request", (request) => {
    if (request.url().includes("/wallet/verify")) verified += 1;
  });
  await button(page, "Verify").click();
  await page.getByText("The balance equals its entries").waitFor();
  await Promise.all([page.waitForRequest("**/wallet/show?*"), readAgain(page)]);
  expect(verified).toBe(1);
});

test("a delivered order is refunded on its page and a wrong funding reversed in its row, and the statement links both", async () => {
  const { accountId, key, balance } = await service().newCaller({ naira: 1_000 });
  const body = { network: "glo", amount: 400, phone_number: "08031234567", reference: randomUUID() };
  const { reference } = transactionOf(await service().call("POST", "/vtu/airtime/purchase", { key, body }));
  const page = await open("operator", `/accounts/${accountId}/transactions/${reference}`);
  await button(page, "Refund").click();
  await dialog(page).getByText("NGN 400.00 will be credited: from 600.00 to 1,000.00").waitFor();
  await dialog(page).getByLabel("Reason").fill("it did not arrive");
  await submit(page, "Credit NGN 400.00");
  await page.getByText("were credited. The balance is NGN 1,000.00").waitFor();
  await button(page, "Refund").waitFor({ state: "detached" });
  expect(await balance()).toBe(1_000);

  await visit(page, `/accounts/${accountId}/statement`, "Statement");
  await row(page, "Refund of").getByRole("link", { name: reference }).waitFor();
  await button(page, `Reverse first-${accountId}`).click();
  await dialog(page).getByText("NGN 1,000.00 will be debited: from 1,000.00 to 0.00").waitFor();
  await dialog(page).getByText("was reversed after the period that is shown, nothing is changed").waitFor();
  await dialog(page).getByLabel("Reason").fill("wrong account");
  await submit(page, "Debit NGN 1,000.00");
  await row(page, "Reversal of")
    .getByRole("link", { name: `first-${accountId}` })
    .waitFor();
  await row(page, "Reversed").getByText(`first-${accountId}`).waitFor();
  expect(await balance()).toBe(0);
});

test("a reversal names its funding, as a link only where the funding is on the page too", async () => {
  const account = await anOldAccount(service().ledger, "2026-01");
  const fundingId = `first-${account}`;
  const reversal = { accountId: account, adjustmentId: reversalName(fundingId), amount_kobo: -100_00, why: "test" };
  await adjustWallet(service().ledger, reversal);
  const page = await open("operator", `/accounts/${account}/statement`);
  const reversed = row(page, `Reversal of ${fundingId}`);
  await reversed.getByRole("link", { name: fundingId }).waitFor();
  await visit(page, `/accounts/${account}/statement?from=2026-02-01`, "Statement");
  await expect.poll(() => row(page, fundingId).count()).toBe(1);
  expect(await reversed.getByRole("link").count()).toBe(0);
});

describe("an open order", () => {
  /** A purchase that stays open: the upstream never reports its outcome. */
  const anOpenOrder = async ({ key }: TestCaller, createdMs = 60_000): Promise<string> => {
    const body = { network: "mtn", amount: 500, phone_number: "08000000004", reference: randomUUID() };
    const { reference } = transactionOf(await service().call("POST", "/vtu/airtime/purchase", { key, body }));
    await setTimes(reference, "SET created_at = :then, listed_at = :then", createdMs);
    return reference;
  };

  /** Sets times of an order; `:then` is `agoMs` before now. */
  const setTimes = async (reference: string, UpdateExpression: string, agoMs: number): Promise<void> => {
    await service().db.update({
      TableName: service().ledger.table,
      Key: { pk: `transaction#${reference.split("_")[1]}` },
      UpdateExpression,
      ExpressionAttributeValues: { ":then": isoTime(Date.now() - agoMs) },
    });
  };

  const statusOf = async (reference: string) => (await findByOwnReference(service().ledger, reference))?.status;

  const resolve = async (page: Page, reference: string, status: "failed" | "success", why: string): Promise<void> => {
    await button(page, `Resolve ${reference}`).click();
    await dialog(page).getByLabel("Outcome").selectOption(status);
    await dialog(page).getByLabel("Reason").fill(why);
    // On the order's own page nothing is typed.
    if (new URL(page.url()).pathname.endsWith("/open")) {
      await dialog(page).getByLabel(`Type ${reference} to confirm`).fill(reference);
    }
  };
  const confirm = (page: Page) =>
    dialog(page)
      .getByRole("button", { name: /^Resolve/ })
      .click();

  test("is on the first page once it is stuck, and resolved only with outcome, reason and its reference", async () => {
    const caller = await service().newCaller();
    const reference = await anOpenOrder(caller, 3_600_000);
    const page = await open("operator");
    await page.getByText(/[1-9]\d* stuck/).waitFor();
    await page.getByRole("heading", { level: 2, name: "Open orders" }).getByRole("link").click();
    await row(page, reference).getByText("Stuck").waitFor();
    await button(page, `Resolve ${reference}`).click();
    await dialog(page).getByText("This cannot be undone.").waitFor();
    await confirm(page);
    for (const error of ["Choose one", "A reason is required", `Type exactly ${reference}`]) {
      await page.getByText(error, { exact: true }).waitFor();
    }
    await expectAccessible(page);
    expect(await statusOf(reference)).toBe("processing");
    await page.keyboard.press("Escape");
    await resolve(page, reference, "failed", "not in their list");
    await confirm(page);
    await page.getByText(`${reference} is failed now, and`).waitFor();
    await row(page, reference).waitFor({ state: "detached" });
    expect(await statusOf(reference)).toBe("failed");
    expect(await caller.balance()).toBe(10_000);
    expect(await readAudit(service().ledger, caller.accountId)).toMatchObject([
      { by: "operator@example.com", why: "not in their list", person: { sub: expect.any(String) } },
    ]);
  });

  test("that two operators resolve shows the second one in the dialog and on the page who was first, and how", async () => {
    const caller = await service().newCaller();
    const reference = await anOpenOrder(caller);
    const late = await open("operator", `/accounts/${caller.accountId}/transactions/${reference}`);
    expectError(/409/);
    await fillAndSend(late, "I am on it");
    await late.getByText("You are on it", { exact: true }).waitFor();
    await resolve(late, reference, "success", "late ticket");
    const early = await fetch(`${service().consoleUrl}-api/transactions/resolve`, {
      method: "POST",
      headers: { authorization: `Bearer ${await tokenOf("operator")}` },
      body: JSON.stringify({ reference, status: "failed", why: "early ticket" }),
    });
    expect(early.status).toBe(200);
    await confirm(late);
    await dialog(late).getByText('operator@example.com resolved it ("early ticket")').waitFor();
    await row(late, "Resolved").getByText("early ticket").waitFor();
    await submit(late, "Cancel");
    await button(late, `Resolve ${reference}`).waitFor({ state: "detached" });
    expect(await caller.balance()).toBe(10_000);
  });

  test("without an outcome is asked for from its page, settles itself by the answer, and the page shows it", async () => {
    const caller = await service().newCaller();
    const reference = await anOpenOrder(caller, 90_000);
    const page = await open("operator", `/accounts/${caller.accountId}/transactions/${reference}`);
    await page.getByText("The upstream is asked for it within a minute.").waitFor();
    await fillAndSend(page, "Ask the upstream now");
    await page.getByText("The upstream is asked within a minute. Its answer is shown here.").waitFor();

    const { state } = service().simulator;
    const order = state.purchases.find((each) => each.reference === reference);
    if (order === undefined) throw new Error("The upstream has no such order");
    state.settle(order, "success");
    const invoke = await loadFunctions(["ask-upstream"], new URL("../../../functions/", import.meta.url));
    await invoke("ask-upstream", {});
    await expect.poll(() => statusOf(reference)).toBe("success");
    await page.reload();
    await page.getByText(/^It was delivered/).waitFor();
    await button(page, "Ask the upstream now").waitFor({ state: "detached" });
    expect(await readAudit(service().ledger, caller.accountId)).toContainEqual(
      expect.objectContaining({ by: "operator@example.com", action: "transactions ask" }),
    );
  });

  test("that may be in flight is resolved once the button has counted the time down", async () => {
    const reference = await anOpenOrder(await service().newCaller());
    // In flight until the test has its request record an outcome, however long the steps before that take.
    await setTimes(reference, "SET sent_at = :then, updated_at = :then", -600_000);
    expectError(/409/);
    // The clock is the context's, so the page has a context of its own.
    const page = await signIn("operator", "/open");
    await row(page, reference).getByText("In flight").waitFor();
    await resolve(page, reference, "success", "they have it");
    await page.clock.install();
    await confirm(page);
    const waits = page.getByRole("button", { name: /^Try again in \d+ s$/ });
    await waits.waitFor();
    const [waitS] = /\d+/.exec(await waits.innerText()) ?? [];
    await setTimes(reference, "SET updated_at = :then", 0);
    // Each timer fires once: all requests of ten minutes at a time would overload the service.
    await page.clock.fastForward(Number(waitS) * 1_000);
    await confirm(page);
    await page.getByText(`${reference} is success now`).waitFor();
  });

  test("that was sent again while its dialog was open is not resolved", async () => {
    const caller = await service().newCaller();
    const reference = await anOpenOrder(caller, 3_600_000);
    const page = await open("operator", `/accounts/${caller.accountId}/transactions/${reference}`);
    expectError(/409/);
    await resolve(page, reference, "failed", "not in their list");
    await setTimes(reference, "SET sent_at = :then, updated_at = :then", 60_000);
    await confirm(page);
    await dialog(page).getByText(`${reference} has begun to wait or was sent since you saw it`).waitFor();
    expect(await statusOf(reference)).toBe("processing");
  });

  test("that an event differs from is matched on request only", async () => {
    const caller = await service().newCaller();
    const reference = await anOpenOrder(caller, 3_600_000);
    // The upstream's reference of an order is unknown if its answer was lost.
    await setTimes(reference, "SET updated_at = :then REMOVE upstream_reference", 3_600_000);
    const event = `U-${randomUUID()}`;
    await recordEvent(
      service().ledger,
      {
        ...{ kind: "event", mode: "live", received_at: isoTime(Date.now()), reference: event, status: "success" },
        ...{ type: "airtime", amount_kobo: koboFromNaira(450) },
      },
      "several_candidates",
    );
    expectError(/409/);
    const page = await open("operator", "/unmatched");
    await page.getByRole("link", { name: event }).click();
    await page.getByRole("row", { name: /^Amount .*450\.00.*500\.00.* differs$/ }).waitFor();
    await fillAndSend(
      page,
      `Match ${reference}`,
      { Reason: "same number, ticket 88", [`Type ${reference} to confirm`]: reference },
      "Match",
    );
    await dialog(page).getByText(`The event differs from ${reference} in amount`).waitFor();
    await dialog(page).getByLabel("Match them although they differ").check();
    await submit(page, "Match");
    await page.getByText(`${reference} was settled as the event says.`).waitFor();
    expect(await statusOf(reference)).toBe("success");
  });
});

test("an event that contradicts a final status leads to its section of the runbook, and is matched to no other order", async () => {
  const { ledger } = service();
  const event = `U-${randomUUID()}`;
  const contradiction = { kind: "event", mode: "live", status: "failed", type: "airtime" } as const;
  await recordEvent(ledger, { ...contradiction, received_at: isoTime(Date.now()), reference: event }, "contradiction");
  const page = await open("operator", "/unmatched");
  await page.getByRole("link", { name: event }).click();
  await button(page, `Discard ${event}`).waitFor();
  expect(await button(page, "Match another order").count()).toBe(0);
  await page.getByRole("link", { name: "Event contradicts a final status" }).click();
  await page.getByRole("heading", { level: 2, name: "Event contradicts a final status" }).waitFor();
});

describe("a banner", () => {
  test("tells operators and owners on every page that purchases are off, since when and why, until they are on", async () => {
    const page = await open("operator", "/upstream");
    await button(page, "Switch purchases off").click();
    expect(await dialog(page).getByText("cannot be undone").count()).toBe(0);
    await fill(page, { Reason: "ticket 97", Type: "purchases" });
    await submit(page, "Switch purchases off");
    await page.getByText("Off: new orders are refused").waitFor();
    await page.getByText("New orders wait", { exact: true }).waitFor();
    expect(await page.getByRole("main").textContent()).not.toMatch(/sent at once/i);
    await checkDialogs(page, new Set());
    await visit(page, "/accounts", "Accounts");
    const banner = page.getByRole("status").filter({ hasText: "Purchases are off" });
    await banner.getByText(/refused \(503\) since .*, by operator@example.com. Reason: ticket 97/).waitFor();
    await expectAccessible(page);
    const owner = await open("owner");
    const seen = owner.getByRole("status").filter({ hasText: "Purchases are off" });
    await seen.getByText(/since .* Reason: ticket 97/).waitFor();
    expect(await seen.textContent()).not.toContain("operator@");

    await banner.getByRole("link", { name: "Upstream" }).click();
    await fillAndSend(page, "Switch purchases on");
    await page.getByText("On", { exact: true }).waitFor();
    await banner.waitFor({ state: "detached" });
  });

  test("tells operators that one network is off, until it is switched on in its row", async () => {
    const page = await open("operator", "/upstream");
    await button(page, "Switch one network or kind off").click();
    await dialog(page).getByLabel("Network or kind").selectOption("glo");
    await dialog(page).getByText("New orders of glo are refused.").waitFor();
    await dialog(page).getByLabel("Reason").fill("ticket 98");
    await submit(page, "Switch glo off");
    const banner = page.getByRole("status").filter({ hasText: "New orders of glo" });
    await banner.getByText(/by operator@example.com. Reason: ticket 98/).waitFor();
    await fillAndSend(page, "Switch on glo", {}, "Switch on");
    await banner.waitFor({ state: "detached" });
  });

  test("tells readers on every page that the upstream refuses the key, until an order gets through", async () => {
    const { key } = await service().newCaller();
    const faults = [{ kind: "status", status: 401, path: "/vtu/", method: "POST" }];
    const controlUrl = `${service().simulator.controlUrl}/faults`;
    await fetch(controlUrl, { method: "PUT", body: JSON.stringify({ faults }) });
    expect((await service().call("POST", BUY_DATA, { key, body: anOrder() })).status).toBe(502);
    const page = await open("reader", "/accounts");
    const banner = page.getByRole("alert").filter({ hasText: "find a fault" });
    await banner.getByText(/^Upstream's key: an order was refused \d+ s ago \(status_401\)/).waitFor();
    await banner.getByText(/^Orders at the upstream: for \d+ s no purchase got through/).waitFor();
    await expectAccessible(page);
    await fetch(controlUrl, { method: "DELETE" });
    expect((await service().call("POST", BUY_DATA, { key, body: anOrder() })).status).toBe(200);
    await page.reload();
    await heading(page, "Accounts").waitFor();
    await row(page, service().demoAccount).waitFor();
    expect(await banner.count()).toBe(0);
  });

  test("is on each page of an account once an operator has restricted it by its name, and gone after that is lifted", async () => {
    const { account_id: account } = await createAccount(service().accounts, { name: "new app", whitelist: [] });
    const page = await open("operator", `/accounts/${account}/settings`);
    await fillAndSend(page, "Change owners", {
      "E-mail addresses": "Ada@Example.com\nbola@example",
      Groups: "checkout-team",
    });
    await dialog(page).getByText('"bola@example" is not an e-mail address').waitFor();
    await dialog(page).getByLabel("E-mail addresses").fill("Ada@Example.com\n");
    await fill(page, { Groups: `checkout-team\n${"x".repeat(201)}` });
    await submit(page, "Change owners");
    await dialog(page).getByText("Must have at most 200 characters").waitFor();
    await dialog(page).getByLabel("Groups").and(page.locator("[aria-invalid=true]:focus")).waitFor();
    await dialog(page).getByLabel("Groups").fill("checkout-team");
    await submit(page, "Change owners");
    await row(page, "ada@example.com").getByText("Person").waitFor();
    await row(page, "checkout-team").getByText("Group").waitFor();

    await fillAndSend(page, "Restrict account", { Reason: "unpaid invoice 1042", "Type new app": "other app" });
    await dialog(page).getByText("Type exactly new app").waitFor();
    await dialog(page).getByLabel("Type new app").fill("new app");
    await submit(page, "Restrict account");
    const banner = page.getByText("This account is restricted");
    await banner.waitFor();
    await expectAccessible(page);
    await visit(page, `/accounts/${account}/keys`, "Keys");
    await banner.waitFor();
    await visit(page, `/accounts/${account}/settings`, "Settings");
    await fillAndSend(page, "Lift restriction");
    await banner.waitFor({ state: "detached" });
  });
});

test("what an account may do is not replaced by what a person saw before another one changed it", async () => {
  expectError(/409/);
  const { account_id: account } = await createAccount(service().accounts, { name: "entitled", whitelist: [] });
  const page = await open("operator", `/accounts/${account}/settings`);
  await button(page, "Change what it may do").click();
  await setEntitlements(service().accounts, account, {});
  const quota = dialog(page).getByLabel("Airtime and data: orders a day");
  await quota.fill("1,000");
  await dialog(page).getByLabel("Verifications, basic", { exact: true }).uncheck();
  await submit(page, "Change what it may do");
  await dialog(page).getByText("Must be a whole number", { exact: true }).waitFor();
  expect(await dialog(page).locator("[aria-invalid=true]").all()).toHaveLength(1);
  expect(await quota.getAttribute("aria-invalid")).toBe("true");
  await quota.fill("500");
  const allowed = "Airtime and data (at most 500 a day); Verifications, advanced: the whole profile";
  await dialog(page).getByText(`It may order: ${allowed}.`, { exact: true }).waitFor();
  await submit(page, "Change what it may do");
  await dialog(page).getByText("Another person has changed what the account may do").waitFor();
  expect((await requireAccount(service().accounts, account)).entitlements).toEqual({});
});

test("an endpoint's URL and events are not replaced by what a person saw before another one changed them", async () => {
  expectError(/409/);
  const { account_id: account } = await createAccount(service().accounts, { name: "hooked", whitelist: [] });
  const { endpoints } = service();
  const rules = { allowed: parseIpRanges("127.0.0.0/8"), refusedHosts: [], resolve: systemResolve };
  const set = (port: number) => setEndpoint(endpoints, rules, account, `http://127.0.0.1:${port}/`);
  await set(9001);
  const page = await open("operator", `/accounts/${account}/webhooks/1`);
  await button(page, "Change name and URL").click();
  await dialog(page).getByLabel("Name").fill("Books");
  await set(9002);
  await submit(page, "Change name and URL");
  await dialog(page).getByText("Another person has changed the endpoint").waitFor();
  await submit(page, "Cancel");
  await button(page, "Choose events").click();
  await dialog(page).getByLabel("wallet.low").check();
  await setEndpointEvents(endpoints, { accountId: account, endpoint: "1" }, ["catalog.updated"]);
  await submit(page, "Choose events");
  await dialog(page).getByText("Another person has changed the endpoint").waitFor();
  expect((await requireAccount(service().accounts, account)).endpoints).toMatchObject([
    { name: "Endpoint 1", url: "http://127.0.0.1:9002/", events: ["catalog.updated"] },
  ]);
});

test("a dialog stays with what was typed when another person does the same first, and its button goes once it is closed", async () => {
  const { account_id: account } = await createAccount(service().accounts, { name: "shared", whitelist: [] });
  const { keyId } = await createKey(service().accounts, account, { mode: "live", permissions: ["vtu"] });
  const page = await open("operator", `/accounts/${account}/settings`);
  await button(page, "Restrict account").click();
  await dialog(page).getByLabel("Reason").fill("unpaid invoice");
  await setAccountStatus(service().accounts, account, "restricted");
  await readAgain(page);
  await page.getByText("This account is restricted").waitFor();
  expect(await dialog(page).getByLabel("Reason").inputValue()).toBe("unpaid invoice");
  await submit(page, "Cancel");
  await button(page, "Restrict account").waitFor({ state: "detached" });
  await button(page, "Lift restriction").waitFor();

  await visit(page, `/accounts/${account}/keys`, "Keys");
  await button(page, `Limit ${keyId}`).click();
  await dialog(page).getByLabel("Reason").fill("less is enough");
  await revokeKey(service().accounts, account, keyId);
  await readAgain(page);
  await row(page, keyId).getByText("Revoked").waitFor();
  expect(await dialog(page).getByLabel("Reason").inputValue()).toBe("less is enough");
  await submit(page, "Cancel");
  await button(page, `Limit ${keyId}`).waitFor({ state: "detached" });
});

test("a dialog stays with what was typed when the part of the page around it is no longer needed", async () => {
  const page = await open("operator", "/accounts");
  const plan = { id: 101, network_id: 1, name: "1GB", price: 510, validity: "30 days" };
  const refused = {
    ...{ fetched_at: "2026-11-21T10:00:00.000Z", age: "3 min", networks: 1, plans: 1, dropped: 0 },
    ...{ added: [plan], removed: [], repriced: [] },
    networks_added: [{ id: 3, name: "Glo", code: "gl2" }],
    networks_removed: [{ id: 3, name: "Glo", code: "glo" }],
  };
  const show = (data: object) =>
    page.route("**/console-api/catalog/diff", (route) =>
      route.fulfill({ json: { status: true, message: "Done", data } }),
    );
  await show({ refused });
  await outdate(page);
  await visit(page, "/catalog", "Catalog");
  await page.getByText("Glo (gl2) is new, Glo (glo) is removed").waitFor();
  await button(page, "Accept this catalog").click();
  await dialog(page).getByLabel("Reason").fill("it is checked");
  await show({ refused: null });
  const [response] = await Promise.all([page.waitForResponse("**/console-api/catalog/diff"), readAgain(page)]);
  await response.finished();
  // Both answers were drawn before the dialog is closed.
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))");
  expect(await dialog(page).getByLabel("Reason").inputValue()).toBe("it is checked");
  await submit(page, "Cancel");
  await page.getByRole("heading", { name: "Refused" }).waitFor({ state: "detached" });
});

test("an emptied field or a window that another person has changed since does not switch the window for duplicates off", async () => {
  expectError(/409/);
  const { account_id: account } = await createAccount(service().accounts, { name: "guarded", whitelist: [] });
  await setDuplicateWindow(service().accounts, account, 300);
  const page = await open("operator", `/accounts/${account}/settings`);
  await page.getByText("Refused for 300 seconds").waitFor();
  await fillAndSend(page, "Change window", { "Seconds, 0 for off": "" });
  await dialog(page).getByText("A value is required").waitFor();
  await dialog(page).getByLabel("Seconds, 0 for off").fill("0");
  await setDuplicateWindow(service().accounts, account, 600);
  await submit(page, "Change window");
  await dialog(page).getByText("Another person has changed the window").waitFor();
  await submit(page, "Cancel");
  await page.getByText("Refused for 600 seconds").waitFor();
  await fillAndSend(page, "Change window", { "Seconds, 0 for off": "0" });
  await dialog(page).waitFor({ state: "detached" });
  expect((await requireAccount(service().accounts, account)).duplicate_window_s).toBeUndefined();
});

test("a closing that fails after its page was left says so, and a month that was closed although the last answer was lost is not said to be open", async () => {
  expectError(/ERR_FAILED/);
  const page = await open("operator", "/periods");
  const close = page.getByRole("button", { name: /^Close \d{4}-\d{2}$/ });
  const name = (await close.textContent()) ?? "";
  const month = name.slice("Close ".length);
  const progress = {
    month,
    state: "closing",
    accounts: 1,
    accounts_done: 0,
    next_cursor: "x",
    wait_ms: 0,
    period: null,
  };
  const waited = Promise.withResolvers<void>();
  let calls = 0;
  await page.route("**/console-api/periods/close", async (route) => {
    calls += 1;
    if (calls % 2 === 1) return route.fulfill({ json: { status: true, message: "Done", data: progress } });
    await waited.promise;
    await route.abort();
  });
  const closeMonth = async () => {
    await close.click();
    await fill(page, { Reason: "month end", "to confirm": month });
    await submit(page, name);
  };
  await closeMonth();
  await page.getByText("Adding up: 0 of 1 account").waitFor();
  await visit(page, "/runbook", "Runbook");
  await page.getByText(`“${name}” is being sent`).waitFor();
  await visit(page, "/periods", "Periods");
  expect(await close.count()).toBe(0);
  waited.resolve();
  const interrupted = page.getByRole("status").filter({ hasText: `“${name}” may not be finished` });
  await interrupted.getByText("do it again: it continues where it was").waitFor();
  await button(page, "Close").click();
  await interrupted.waitFor({ state: "detached" });

  const next = { month: "2099-01", from: "2099-01-31T23:00:00.000Z" };
  await page.route("**/console-api/periods/list", async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = z.looseObject({ data: z.looseObject({}) }).parse(await response.json());
    await route.fulfill({ response, json: { ...rest, data: { ...data, next } } });
  });
  await closeMonth();
  await page.getByRole("heading", { name: "Next: 2099-01" }).waitFor();
  await page.getByText("It can be closed from").waitFor();
  expect(await page.getByText("is not closed yet").count()).toBe(0);
});

test("a month is closed after its name was typed, and then verified on its own page", async () => {
  const page = await open("operator", "/periods");
  const close = page.getByRole("button", { name: /^Close \d{4}-\d{2}$/ });
  const name = (await close.textContent()) ?? "";
  const month = name.slice("Close ".length);
  await close.click();
  await fill(page, { Reason: "month end", "to confirm": month });
  await expectAccessible(page);
  await submit(page, name);
  await page
    .getByRole("status")
    .filter({ hasText: `${month} is closed.` })
    .waitFor();
  await page.getByRole("link", { name: month }).click();
  await heading(page, month).waitFor();
  await button(page, "Verify").click();
  await page.getByText(`${month} is as it was closed`).waitFor();
});
