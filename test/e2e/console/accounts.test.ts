import type { Locator } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { createAccount, createKey } from "../../../shared/access/accounts.ts";
import { recordAudit } from "../../../shared/ledger/audit.ts";
import { expectAccessible, type PageOptions } from "../../builders/browser.ts";
import { choosePerson, consoleTests, type Page } from "../../builders/console-pages.ts";

/** Goal: accounts, keys, whitelist and audit log by the page alone, and nothing beyond what a person may do. */
const { service, signIn, newPage, expectError } = consoleTests();

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name, exact: true });
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
const ofAccount = (path: string): string => `/accounts/${service().demoAccount}/${path}`;

let otherAccount: string;
let otherKey: string;
beforeAll(async () => {
  otherAccount = (await createAccount(service().accounts, { name: "other app", whitelist: [] })).account_id;
  otherKey = (await createKey(service().accounts, otherAccount, { mode: "live" })).keyId;
});

/** Goes to another page of the console without loading it anew. */
const visit = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(`/console${path}`)})`);

/** A page of this person, and what sends actions as the person, past the buttons of the page. */
const signInWithRequests = async (person: "owner" | "reader", path: string, options: PageOptions = {}) => {
  const page = await newPage(options);
  const [request] = await Promise.all([
    page.waitForRequest(/console-api/),
    page.goto(`${service().consoleUrl}${path}`).then(() => choosePerson(page, person)),
  ]);
  const { authorization = "" } = await request.allHeaders();
  const send = async (action: string, init: RequestInit): Promise<number> => {
    const headers = { authorization, ...init.headers };
    return (await fetch(`${service().consoleUrl}-api/${action}`, { ...init, headers })).status;
  };
  return {
    page,
    read: (action: string, input: Record<string, string>) => send(`${action}?${new URLSearchParams(input)}`, {}),
    change: (action: string, input: object) =>
      send(action, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ why: "a test", ...input }),
      }),
  };
};

/** The key id in the heading of a dialog. */
const keyIdIn = async (shown: Locator): Promise<string> =>
  /key_[0-9a-f]+/.exec((await shown.getByRole("heading").textContent()) ?? "")?.[0] ?? "";

/** Creates a key on the page of keys; resolves with the key that is shown, and its id. */
const createTestKey = async (page: Page): Promise<{ readonly key: string; readonly keyId: string }> => {
  await button(page, "Create key").click();
  await dialog(page, "Create a key").getByRole("button", { name: "Create key" }).click();
  const shown = page.getByRole("dialog", { name: /^The new key key_/ });
  const key = (await shown.locator("pre").textContent()) ?? "";
  const keyId = await keyIdIn(shown);
  await expectAccessible(page);
  await shown.getByRole("button", { name: "I have saved it" }).click();
  return { key, keyId };
};

describe("an operator", () => {
  test("creates an account, names its owners, restricts it and lifts the restriction", async () => {
    const page = await signIn("operator", "/accounts");
    await button(page, "Create account").click();
    await dialog(page, "Create an account").getByLabel("Name").fill("new app");
    await dialog(page, "Create an account").getByRole("button", { name: "Create account" }).click();
    await heading(page, "Settings").waitFor();
    const account = new URL(page.url()).pathname.split("/").at(-2);

    await button(page, "Change owners").click();
    const owners = dialog(page, "Change the owners");
    await owners.getByLabel("E-mail addresses").fill("Ada@Example.com\nbola@example");
    await owners.getByRole("button", { name: "Change owners" }).click();
    await owners.getByText('"bola@example" is not an e-mail address').waitFor();
    await owners.getByLabel("E-mail addresses").fill("Ada@Example.com\n");
    await owners.getByLabel("Groups").fill("checkout-team");
    await owners.getByRole("button", { name: "Change owners" }).click();
    await row(page, "ada@example.com").getByText("Person").waitFor();
    await row(page, "checkout-team").getByText("Group").waitFor();

    await button(page, "Restrict account").click();
    const restrict = dialog(page, "Restrict the account");
    await restrict.getByLabel("Type new app").fill("other app");
    await restrict.getByRole("button", { name: "Restrict account" }).click();
    await restrict.getByText("Type exactly new app").waitFor();
    await restrict.getByText("A reason is required").waitFor();
    await restrict.getByLabel("Type new app").fill("new app");
    await restrict.getByLabel("Reason").fill("unpaid invoice 1042");
    await expectAccessible(page);
    await restrict.getByRole("button", { name: "Restrict account" }).click();
    await page.getByText("This account is restricted").waitFor();
    await expectAccessible(page);

    await page.getByRole("link", { name: "All accounts" }).click();
    await page.getByLabel("Search by name or id").fill("NEW");
    await row(page, "new app").getByText("Restricted").waitFor();
    expect(await row(page, "other app").count()).toBe(0);
    await expectAccessible(page);

    await visit(page, `/accounts/${account}/settings`);
    await button(page, "Lift restriction").click();
    await dialog(page, "Lift the restriction").getByRole("button", { name: "Lift restriction" }).click();
    await button(page, "Restrict account").waitFor();
    await page.getByRole("link", { name: "Audit log" }).click();
    await row(page, "accounts restrict").getByText("unpaid invoice 1042").waitFor();
    await row(page, "accounts owners").getByText("operator@example.com").waitFor();
  });

  test("is offered the permission that finds people by phone number, and gives it", async () => {
    const page = await signIn("operator", ofAccount("keys"));
    await button(page, "Create key").click();
    await page.getByLabel("identity:retrieve").check();
    await dialog(page, "Create a key").getByRole("button", { name: "Create key" }).click();
    const shown = page.getByRole("dialog", { name: /^The new key key_/ });
    const keyId = await keyIdIn(shown);
    await button(page, "I have saved it").click();
    await row(page, keyId).getByText("identity:retrieve").waitFor();
    await button(page, `Replace ${keyId}`).waitFor();
  });

  test("who opens an account that does not exist sees that, and is offered nothing to change", async () => {
    expectError(/404/);
    const page = await signIn("operator", "/accounts/acc_unknown");
    await page.getByRole("heading", { level: 1, name: "No such account" }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "Show all accounts" }).waitFor();
    expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
  });

  test("reads the audit log of an account page by page", async () => {
    for (let number = 0; number < 55; number += 1) {
      const action = { subject: otherAccount, by: "ada", action: "test", details: { number } };
      await recordAudit({ ...service().ledger, clock: () => Date.now() - number * 1_000 }, action);
    }
    const page = await signIn("operator", `/accounts/${otherAccount}/audit`);
    await row(page, "number: 0").waitFor();
    await page.getByRole("navigation").getByText("other app").waitFor();
    expect(await row(page, "number: 54").count()).toBe(0);
    await button(page, "Show more").click();
    await row(page, "number: 54").waitFor();
    await expectAccessible(page);
    await visit(page, "/audit");
    await heading(page, "Audit log").waitFor();
    await page.getByText("Nobody has changed the service yet").waitFor();
  });
});

describe("an owner", () => {
  test("creates a key that works, replaces it with an overlap, revokes it by typing its id, and is in the audit log", async () => {
    const page = await signIn("owner", ofAccount("keys"));
    const { key, keyId } = await createTestKey(page);
    expect(await page.content()).not.toContain(key);
    const status = async (used: string) => (await service().call("GET", "/wallet", { key: used })).status;
    expect(await status(key)).toBe(200);

    await page.reload();
    await row(page, keyId).getByText("Active").waitFor();
    expect(await row(page, keyId).getByText("None yet").count()).toBe(0);
    await button(page, `Replace ${keyId}`).click();
    await dialog(page, `Replace ${keyId}`).getByLabel("The old key stays valid for").selectOption("1 hour");
    await dialog(page, `Replace ${keyId}`).getByRole("button", { name: "Replace" }).click();
    const shown = page.getByRole("dialog", { name: /^The new key key_/ });
    const replacement = (await shown.locator("pre").textContent()) ?? "";
    await shown.getByRole("button", { name: "I have saved it" }).click();
    await row(page, keyId).getByText("Replaced").waitFor();
    expect(await button(page, `Replace ${keyId}`).count()).toBe(0);
    expect([await status(key), await status(replacement)]).toEqual([200, 200]);

    await button(page, `Revoke ${keyId}`).click();
    const revoke = dialog(page, `Revoke ${keyId}`);
    await revoke.getByLabel(`Type ${keyId}`).fill(keyId);
    await revoke.getByLabel("Reason").fill("leaked");
    await revoke.getByRole("button", { name: "Revoke" }).click();
    await row(page, keyId).getByText("Revoked").waitFor();
    expect([await status(key), await status(replacement)]).toEqual([401, 200]);
    await expectAccessible(page);
    await page.getByRole("link", { name: "Audit log" }).click();
    const revoked = row(page, "keys revoke").filter({ hasText: keyId });
    for (const text of ["owner@example.com", "leaked"]) await revoked.getByText(text).waitFor();
  });

  test("sees what to do if the answer with a new key is lost, and finds the key in the list", async () => {
    const page = await signIn("owner", ofAccount("keys"));
    const rows = page.getByRole("row");
    await rows.nth(1).waitFor();
    const before = await rows.count();
    await page.route("**/console-api/keys/create", async (route) => {
      await route.fetch();
      await route.abort();
    });
    expectError(/ERR_FAILED/);
    await button(page, "Create key").click();
    const create = dialog(page, "Create a key");
    await create.getByRole("button", { name: "Create key" }).click();
    await create.getByText("It is not known whether the change was made").waitFor();
    await create.getByText("If a key is in the list that nobody has, revoke it").waitFor();
    await create.getByRole("button", { name: "Cancel" }).click();
    await rows.nth(before).waitFor();
  });

  test("adds their own address and others to the whitelist, and removes them", async () => {
    const page = await signIn("owner", ofAccount("whitelist"));
    await button(page, "Remove ::1/128").click();
    await dialog(page, "Remove ::1/128").getByRole("button", { name: "Remove" }).click();
    await button(page, "Remove 127.0.0.1/32").click();
    await page.getByText("It is the last address").waitFor();
    await dialog(page, "Remove 127.0.0.1/32").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No address is allowed").waitFor();
    await expectAccessible(page);
    await button(page, "Add my address").click();
    await dialog(page, "Add 127.0.0.1").getByRole("button", { name: "Add my address" }).click();
    await button(page, "Remove 127.0.0.1").waitFor();
    expect(await button(page, "Add my address").count()).toBe(0);

    expectError(/409/);
    await button(page, "Add addresses").click();
    const add = dialog(page, "Add addresses");
    await add.getByLabel("Addresses or ranges").fill("203.0.113.0/24\n203.0.113.999");
    await add.getByRole("button", { name: "Add addresses" }).click();
    await add.getByText('"203.0.113.999" is not an IP address or CIDR range').waitFor();
    await add.getByLabel("Addresses or ranges").fill("203.0.113.0/24, 2001:db8::/64");
    await add.getByRole("button", { name: "Add addresses" }).click();
    await button(page, "Remove 2001:db8::/64").waitFor();
    await expectAccessible(page);
  });

  test("makes a test key on the API page, which the examples have until the page is left", async () => {
    const page = await signIn("owner", ofAccount("api"));
    await page.getByText('-H "Authorization: Bearer $API_KEY"').first().waitFor();
    await button(page, "Create test key").click();
    await dialog(page, "Create a test key").getByRole("button", { name: "Create test key" }).click();
    await page.getByText("The examples have your new test key").waitFor();
    const key = /test_[\w-]{38}/.exec((await page.locator("pre").first().textContent()) ?? "")?.[0] ?? "";
    const call =
      (await page
        .locator("section")
        .filter({ hasText: "POST /v1/vtu/airtime/purchase" })
        .locator("pre")
        .first()
        .textContent()) ?? "";
    expect(call).toContain(key);
    expect((await service().call("GET", "/vtu/data", { key })).status).toBe(200);
    await expectAccessible(page);
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await heading(page, "Keys").waitFor();
    await page.getByRole("link", { name: "API", exact: true }).click();
    await heading(page, "API").waitFor();
    expect(await page.content()).not.toContain(key);
  });

  test("is offered nothing that is an operator's, and refused if they send it", async () => {
    const { page, read, change } = await signInWithRequests("owner", ofAccount("settings"));
    await page.getByText("Only operators change the list").waitFor();
    for (const name of ["Restrict account", "Change owners"]) expect(await button(page, name).count()).toBe(0);
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await button(page, "Create key").click();
    await page.getByLabel("vtu").waitFor();
    expect(await page.getByLabel("identity:retrieve").count()).toBe(0);

    const account = service().demoAccount;
    expect(await change("accounts/restrict", { account })).toBe(403);
    expect(await change("accounts/owners", { account, owners: [] })).toBe(403);
    expect(await change("accounts/create", { name: "mine" })).toBe(403);
    expect(await read("accounts/list", {})).toBe(403);
    const permissions = ["vtu", "identity:retrieve"] as const;
    expect(await change("keys/create", { account, mode: "live", permissions })).toBe(403);
    const given = await createKey(service().accounts, account, { mode: "live", permissions });
    expect(await change("keys/rotate", { account, key: given.keyId, overlap_ms: 0 })).toBe(403);
  });

  test("finds another account like one that does not exist, and another account's key in none of their own", async () => {
    const { page, read, change } = await signInWithRequests("owner", ofAccount("keys"));
    for (const account of [otherAccount, "acc_000000000000000000"]) {
      expect(await read("keys/list", { account })).toBe(404);
      expect(await read("audit/account", { account })).toBe(404);
      expect(await change("keys/create", { account, mode: "test", permissions: ["vtu"] })).toBe(404);
      expect(await change("ips/allow", { account, ranges: ["203.0.113.7"] })).toBe(404);
    }
    const account = service().demoAccount;
    expect(await change("keys/rotate", { account, key: otherKey, overlap_ms: 0 })).toBe(404);
    expect(await change("keys/revoke", { account, key: otherKey })).toBe(404);
    await visit(page, `/accounts/${otherAccount}/keys`);
    await heading(page, "Not your page").waitFor();
  });
});

describe("a reader", () => {
  test("sees accounts, keys, addresses and the audit log, without a button that changes something, and is refused", async () => {
    const dark = { colorScheme: "dark", viewport: "phone" } as const;
    const { page, change } = await signInWithRequests("reader", "/accounts", dark);
    const buttons = async () =>
      (await page.getByRole("main").getByRole("button").allTextContents()).filter((text) => !/^Copy/.test(text));
    await row(page, "other app").waitFor();
    expect(await buttons()).toEqual([]);
    await expectAccessible(page);
    for (const [path, text] of [
      ["settings", "Owners"],
      ["keys", otherKey],
      ["whitelist", "No address is allowed"],
      ["audit", "number: 0"],
      ["api", "Full documentation"],
    ] as const) {
      await visit(page, `/accounts/${otherAccount}/${path}`);
      await page.getByRole("main").getByText(text).first().waitFor();
      expect(await buttons(), path).toEqual(path === "audit" ? ["Show more"] : []);
      // The others are looked at in the tests above.
      if (path === "keys" || path === "api") await expectAccessible(page);
    }
    const account = otherAccount;
    expect(await change("accounts/create", { name: "mine" })).toBe(403);
    expect(await change("accounts/restrict", { account })).toBe(403);
    expect(await change("accounts/owners", { account, owners: [] })).toBe(403);
    expect(await change("keys/create", { account, mode: "test", permissions: ["vtu"] })).toBe(403);
    expect(await change("keys/rotate", { account, key: otherKey, overlap_ms: 0 })).toBe(403);
    expect(await change("keys/revoke", { account, key: otherKey })).toBe(403);
    expect(await change("ips/allow", { account, ranges: ["203.0.113.7"] })).toBe(403);
    expect(await change("ips/disallow", { account, ranges: ["203.0.113.7"] })).toBe(403);
  });
});
