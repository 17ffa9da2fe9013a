import { afterEach, describe, expect, test } from "vitest";
import { createAccount, setOwners } from "../../../shared/access/accounts.ts";
import { DAY_MS } from "../../../shared/contract/values/durations.ts";
import { OWNER_EMAIL } from "../../../tools/local/identity-provider.ts";
import { expectAccessible } from "../../builders/browser/browser.ts";
import {
  button,
  choosePerson,
  consoleTests,
  fill,
  fillAndSend,
  heading,
  type Page,
  visit,
} from "../../builders/browser/console-pages.ts";
import { signIn as tokenAt } from "../../builders/browser/sign-in.ts";

const DAY_S = DAY_MS / 1_000;
let idTokenS = DAY_S;
afterEach(() => {
  idTokenS = DAY_S;
});
const { service, signIn, newPage, expectError } = consoleTests({ idTokenS: () => idTokenS });

const navigation = (page: Page) => page.getByRole("navigation", { name: "Pages" });
const signInEnded = (page: Page) => page.getByRole("dialog", { name: "Your sign-in has ended" });
const aTransfer = (account: string) => ({
  ...{ "Amount in NGN": "50", "The bank's reference": `GTB-${account}`, Reason: "transfer" },
});
const signOut = async (page: Page) => {
  await button(page, "Sign out").click();
  await button(page, "Yes").click();
  await heading(page, "You are signed out").waitFor();
};

describe("signing in", () => {
  test("an operator comes to the page that was opened, and again after a reload without a question; no storage has the token", async () => {
    const page = await signIn("operator", "/catalog");
    await heading(page, "Catalog").waitFor();
    await page.reload();
    await heading(page, "Catalog").waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/catalog");
    await navigation(page).getByRole("link", { name: "Today" }).click();
    await heading(page, "Today").waitFor();
    expect(await page.title()).toBe("Today · Airtime console");
    await page.reload();
    await heading(page, "Today").waitFor();
    const stored = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
    expect(stored).not.toContain("eyJ");
  });

  test("an owner comes to the overview of the own account, and sees no page of the whole service", async () => {
    const page = await signIn("owner");
    await heading(page, "Overview").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/accounts/${service().demoAccount}`);
    expect(await navigation(page).getByRole("link", { name: "Open orders" }).count()).toBe(0);
  });

  test("an owner of two accounts stays with the one that was shown, also past a page that is about none, and goes to the other one by a link", async () => {
    const { account_id: account } = await createAccount(service().accounts, { name: "second app", whitelist: [] });
    await setOwners(service().accounts, account, [{ kind: "email", value: OWNER_EMAIL }]);
    const page = await signIn("owner", `/accounts/${account}`);
    await navigation(page).getByRole("link", { name: "Notifications" }).click();
    await heading(page, "Notifications").waitFor();
    await navigation(page).getByText("second app", { exact: true }).waitFor();
    await navigation(page).getByRole("link", { name: "Keys" }).click();
    await heading(page, "Keys").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/accounts/${account}/keys`);
    // With the keyboard, each step of a select would lead to another page.
    await navigation(page).getByText("Your other accounts").focus();
    for (const key of ["Enter", "Tab", "Enter"]) await page.keyboard.press(key);
    await heading(page, "Overview").and(page.locator(":focus")).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/accounts/${service().demoAccount}`);
    await expectAccessible(page);
    await setOwners(service().accounts, account, []);
  });

  test("a person without a role sees whom to ask", async () => {
    const page = await signIn("visitor");
    await heading(page, "You have no access yet").waitFor();
    await page.getByText("Ask the operators of the service").waitFor();
    expect(await navigation(page).getByRole("link").count()).toBe(0);
    await expectAccessible(page);
  });

  test("signing out in one tab signs out another one at once, or with its next request if it did not hear of it, which can then not move money", async () => {
    const { accountId, balance } = await service().newCaller({ naira: 100 });
    const page = await signIn("operator", `/accounts/${accountId}`);
    const other = await page.context().newPage();
    const changes: string[] = [];
    page.on("request", (request) => request.method() === "POST" && changes.push(request.url()));
    const signOutUrls: string[] = [];
    other.on("request", (request) => signOutUrls.push(request.url()));
    for (const isDeaf of [false, true]) {
      await button(page, "Fund").click();
      await fill(page, aTransfer(accountId));
      changes.length = 0;

      await other.goto(service().consoleUrl);
      await heading(other, "Today").waitFor();
      await signOut(other);
      if (isDeaf) await button(page, "Credit NGN 50.00").click();
      await heading(page, "You are signed out").waitFor();
      expect(changes).toEqual([]);
      expect(await balance()).toBe(100);
      await page.addInitScript("addEventListener('storage', (event) => event.stopImmediatePropagation())");
      await button(page, "Sign in").click();
      await choosePerson(page, "operator");
      await heading(page, "Overview").waitFor();
    }
    expect(signOutUrls.filter((url) => url.includes("/session/end"))).not.toEqual([]);
    expect(signOutUrls.join("\n")).not.toContain("eyJ");
    await expectAccessible(other);
  });

  test("a change that was being sent when another tab signed out says on that page how it ended", async () => {
    const { accountId, balance } = await service().newCaller({ naira: 100 });
    const page = await signIn("operator", `/accounts/${accountId}`);
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/console-api/wallet/fund", async (route) => {
      const response = await route.fetch();
      await answered;
      await route.fulfill({ response });
    });
    await fillAndSend(page, "Fund", aTransfer(accountId), "Credit NGN 50.00");
    await expect.poll(balance).toBe(150);
    const other = await page.context().newPage();
    await other.goto(service().consoleUrl);
    await heading(other, "Today").waitFor();
    await signOut(other);
    await heading(page, "You are signed out").waitFor();
    await page.getByText("“Credit a bank transfer” is being sent").waitFor();
    await expectAccessible(page);
    answer();
    await page.getByText("“Credit a bank transfer” was done").waitFor();
  });

  test("a provider that cannot be reached, or whose metadata is another issuer's, is named and sends nobody to sign in; afterwards signing in works, also with a token that is valid 2 s later", async () => {
    expectError(/ERR_CONNECTION_REFUSED|ERR_FAILED|401/);
    const page = await newPage();
    const metadata = "**/.well-known/openid-configuration";
    await page.route(metadata, (route) => route.abort());
    await page.goto(service().consoleUrl);
    await heading(page, "Signing in failed").waitFor();
    await page.getByText("The sign-in provider could not be reached").waitFor();
    await expectAccessible(page);

    await page.route(metadata, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), issuer: "https://other.example" } });
    });
    await button(page, "Sign in").click();
    await page.getByText("names itself https://other.example").waitFor();
    await heading(page, "Signing in failed").waitFor();

    await page.unrouteAll();
    let sent = 0;
    await page.route("**/console-api/me", (route) => {
      sent += 1;
      return sent === 1 ? route.fulfill({ status: 401, json: { message: "Unauthorized" } }) : route.continue();
    });
    await button(page, "Sign in").click();
    await choosePerson(page, "operator");
    await heading(page, "Today").waitFor();
    expect(sent).toBe(2);
  });
});

test("people also sign in at the console's address with localhost, or with a slash at its end, and at no other one", async () => {
  const { consoleUrl: url, issuer } = service();
  const slash = await fetch(`${url}/`);
  expect([slash.url, await slash.text()]).toEqual([url, expect.stringContaining("<title>Airtime console</title>")]);
  const at = (host: string) => tokenAt({ url: url.replace("127.0.0.1", host), issuer }, "reader");
  expect(await at("localhost")).toMatch(/^ey/);
  await expect(at("evil.example.com")).rejects.toThrow("invalid_redirect_uri");

  const originsOf = async (origin: string) => {
    const headers = { origin, "access-control-request-method": "POST" };
    const preflight = await fetch(`${issuer}/token`, { method: "OPTIONS", headers });
    const answer = await fetch(`${issuer}/token`, {
      method: "POST",
      headers: { origin },
      body: new URLSearchParams({ client_id: "console", grant_type: "authorization_code", code: "x" }),
    });
    return [preflight.status, answer.headers.get("access-control-allow-origin"), answer.status];
  };
  const { origin } = new URL(url);
  expect(await originsOf(origin)).toEqual([204, origin, 400]);
  expect((await originsOf("http://evil.example.com"))[1]).toBeNull();
});

test("a person of the list is needed, and a choice of another browser is refused", async () => {
  const choose = (person: string) =>
    fetch(`${service().issuer}/interaction/unknown`, { method: "POST", body: new URLSearchParams({ person }) });
  expect(await (await choose("__proto__")).text()).toContain("Sign in as");
  const refused = await choose("operator");
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("Sign-in failed");
});

describe("a token", () => {
  const createDialog = (page: Page) => page.getByRole("dialog", { name: "Create a key" });
  const openForm = async (page: Page) => {
    await page.getByText(/^key_/).first().waitFor();
    await button(page, "Create key").click();
    await createDialog(page).waitFor();
  };
  const keysPath = () => `/accounts/${service().demoAccount}/keys`;

  test("a notice comes before the token expires, and a dialog when it has expired; page and fields of an open form are kept", async () => {
    expectError(/401/);
    idTokenS = 4;
    const page = await signIn("owner", keysPath());
    await page.getByText("Your sign-in ends at").waitFor();
    await expectAccessible(page);
    await openForm(page);
    await createDialog(page).getByLabel("Mode").selectOption("live");
    await createDialog(page).getByLabel("identity", { exact: true }).uncheck();
    await createDialog(page).getByLabel("Reason").fill("For the new checkout");
    idTokenS = DAY_S;
    await page.waitForTimeout(4_500);
    await button(createDialog(page), "Create key").click();
    await signInEnded(page).waitFor();
    await expectAccessible(page);
    await button(signInEnded(page), "Sign in again").click();

    await createDialog(page).getByText("What you had typed was kept").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console${keysPath()}`);
    expect(await page.getByText("Your sign-in ends at").count()).toBe(0);
    expect(await createDialog(page).getByLabel("Mode").inputValue()).toBe("live");
    expect(await createDialog(page).getByLabel("identity", { exact: true }).isChecked()).toBe(false);
    expect(await createDialog(page).getByLabel("Reason").inputValue()).toBe("For the new checkout");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await button(createDialog(page), "Create key").click();
    await page.getByRole("dialog", { name: /^The new key/ }).waitFor();
  });

  test("of two forms that send the same action only the one that was open is kept, until its page is left, and says that an attempt before had no answer", async () => {
    expectError(/401|ERR_FAILED/);
    const { account_id: account } = await createAccount(service().accounts, { name: "two forms", whitelist: [] });
    const page = await signIn("operator", `/accounts/${account}/whitelist`);
    await button(page, "Add my address").waitFor();
    await page.route("**/console-api/ips/allow", (route) => route.abort());
    await fillAndSend(page, "Add addresses", { "Addresses or ranges": "203.0.113.7" });
    const form = page.getByRole("dialog", { name: "Add addresses" });
    await form.getByText("It is not known").waitFor();
    await page.route("**/console-api/ips/allow", (route) => route.fulfill({ status: 401, body: "{}" }));
    await button(form, "Add addresses").click();
    await button(signInEnded(page), "Sign in again").click();
    await form.getByText("What you had typed was kept").waitFor();
    await form.getByText("It is not known").waitFor();
    await page.locator("main button", { hasText: "Add my address" }).waitFor({ state: "attached" });
    expect(await page.getByRole("dialog").count()).toBe(1);
    expect(await form.getByLabel("Addresses or ranges").inputValue()).toBe("203.0.113.7");
    await visit(page, `/accounts/${account}/keys`, "Keys");
    await visit(page, `/accounts/${account}/whitelist`, "Whitelist");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("another person who signs in after it expired does not see a form that was kept", async () => {
    expectError(/401/);
    const page = await signIn("operator", keysPath());
    await openForm(page);
    await createDialog(page).getByLabel("Reason").fill("Only for me");
    await page.route("**/console-api/keys/create", (route) => route.fulfill({ status: 401, body: "{}" }));
    await button(createDialog(page), "Create key").click();
    await page.context().clearCookies();
    await button(signInEnded(page), "Sign in again").click();
    await choosePerson(page, "owner");
    await page.getByText(/^key_/).first().waitFor();
    expect(await createDialog(page).count()).toBe(0);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});
