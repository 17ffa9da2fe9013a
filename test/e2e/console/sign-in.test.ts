import { afterEach, describe, expect, test } from "vitest";
import { expectAccessible } from "../../builders/browser.ts";
import { choosePerson, consoleTests, type Page } from "../../builders/console-pages.ts";

const HOUR_S = 3_600;
let idTokenS = HOUR_S;
afterEach(() => {
  idTokenS = HOUR_S;
});
const { service, signIn, newPage, expectError } = consoleTests({ idTokenS: () => idTokenS });

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true });
const navigation = (page: Page) => page.getByRole("navigation", { name: "Pages" });

describe("signing in", () => {
  test.each(["operator", "reader"] as const)("%s: the pages of the whole service are listed", async (person) => {
    const page = await signIn(person);
    await heading(page, "Today").waitFor();
    await navigation(page).getByRole("link", { name: "Open orders" }).waitFor();
    expect(await page.title()).toBe("Today · Airtime console");
  });

  test("an owner comes to the overview of the own account, and sees no page of the whole service", async () => {
    const page = await signIn("owner");
    await heading(page, "Overview").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/accounts/${service().demoAccount}`);
    expect(await navigation(page).getByRole("link", { name: "Open orders" }).count()).toBe(0);
    await page.goto(`${service().consoleUrl}/open`);
    await heading(page, "Not your page").waitFor();
    await page.getByText("Only operators and readers see this page.").waitFor();
  });

  test("a person without a role sees whom to ask", async () => {
    const page = await signIn("visitor");
    await heading(page, "You have no access yet").waitFor();
    await page.getByText("Ask the operators of the service").waitFor();
    expect(await navigation(page).getByRole("link").count()).toBe(0);
    await expectAccessible(page);
  });

  test("the page that was opened is shown after signing in, and again after a reload without a question", async () => {
    const page = await signIn("operator", "/catalog");
    await heading(page, "Catalog").waitFor();
    await page.reload();
    await heading(page, "Catalog").waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/catalog");
    await navigation(page).getByRole("link", { name: "Today" }).click();
    await heading(page, "Today").waitFor();
    await page.reload();
    await heading(page, "Today").waitFor();
  });

  test("no storage of the browser holds the token", async () => {
    const page = await signIn("operator");
    await heading(page, "Today").waitFor();
    const stored = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
    expect(stored).not.toContain("eyJ");
  });

  test("a person who signs out is asked again at the next visit", async () => {
    const page = await signIn("operator");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Yes" }).click();
    await heading(page, "You are signed out").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Sign in" }).click();
    await choosePerson(page, "reader");
    await heading(page, "Today").waitFor();
  });

  test.each([
    ["at once", ""],
    [
      "with its next request, if it did not hear of it",
      "addEventListener('storage', (e) => e.stopImmediatePropagation())",
    ],
  ])("signing out in one tab signs out another one %s, which can then not move money", async (_when, deafness) => {
    const { accountId, balance } = await service().newCaller({ naira: 100 });
    const page = await newPage();
    await page.addInitScript(deafness);
    await page.goto(`${service().consoleUrl}/accounts/${accountId}`);
    await choosePerson(page, "operator");
    await page.getByRole("button", { name: "Fund", exact: true }).click();
    await page.getByLabel("Amount in NGN").fill("50");
    await page.getByLabel("The bank's reference").fill(`GTB-${accountId}`);
    await page.getByLabel("Reason").fill("transfer");
    const changes: string[] = [];
    page.on("request", (request) => request.method() === "POST" && changes.push(request.url()));

    const other = await page.context().newPage();
    await other.goto(service().consoleUrl);
    await heading(other, "Today").waitFor();
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByRole("button", { name: "Yes" }).click();
    await heading(other, "You are signed out").waitFor();

    if (deafness !== "") await page.getByRole("button", { name: "Credit NGN 50.00" }).click();
    await heading(page, "You are signed out").waitFor();
    expect(changes).toEqual([]);
    expect(await balance()).toBe(100);
    await page.getByRole("button", { name: "Sign in" }).click();
    await choosePerson(page, "operator");
    await heading(page, "Overview").waitFor();
  });

  test("a provider that cannot be reached is named, and signing in works once it can", async () => {
    expectError(/ERR_CONNECTION_REFUSED|ERR_FAILED/);
    const page = await newPage();
    await page.route("**/.well-known/openid-configuration", (route) => route.abort());
    await page.goto(service().consoleUrl);
    await heading(page, "Signing in failed").waitFor();
    await page.getByText("The sign-in provider could not be reached").waitFor();
    await expectAccessible(page);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Sign in" }).click();
    await choosePerson(page, "operator");
    await heading(page, "Today").waitFor();
  });
});

describe("a token", () => {
  test("a token that is not valid yet is sent again after 2 s", async () => {
    expectError(/401/);
    const page = await newPage();
    let refused = 0;
    await page.route("**/console-api/me", (route) => {
      refused += 1;
      return refused === 1 ? route.fulfill({ status: 401, json: { message: "Unauthorized" } }) : route.continue();
    });
    await page.goto(service().consoleUrl);
    await choosePerson(page, "operator");
    await heading(page, "Today").waitFor();
    expect(refused).toBe(2);
  });

  test("a notice comes before the token expires, and a dialog when it has expired; the person stays on the page", async () => {
    expectError(/401/);
    idTokenS = 4;
    const page = await signIn("operator", "/doctor");
    await page.getByText("Your sign-in ends at").waitFor();
    await expectAccessible(page);
    idTokenS = HOUR_S;
    await page.waitForTimeout(4_500);
    await navigation(page).getByRole("link", { name: "Accounts" }).click();
    const dialog = page.getByRole("dialog", { name: "Your sign-in has ended" });
    await dialog.waitFor({ timeout: 10_000 });
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Sign in again" }).click();
    await heading(page, "Accounts").waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/accounts");
    expect(await page.getByText("Your sign-in ends at").count()).toBe(0);
  });
});
