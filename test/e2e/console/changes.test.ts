import { afterEach, describe, expect, test } from "vitest";
import { expectAccessible } from "../../builders/browser.ts";
import { choosePerson, consoleTests, type Page } from "../../builders/console-pages.ts";

const HOUR_S = 3_600;
let idTokenS = HOUR_S;
afterEach(() => {
  idTokenS = HOUR_S;
});
const { service, signIn, expectError } = consoleTests({ idTokenS: () => idTokenS });

const keysPath = () => `/accounts/${service().demoAccount}/keys`;
const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true });
const rows = (page: Page) => page.getByRole("region", { name: "Keys" }).locator("tbody tr");
const createDialog = (page: Page) => page.getByRole("dialog", { name: "Create a key" });
const openForm = async (page: Page) => {
  await rows(page).first().waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  await createDialog(page).waitFor();
};
const submit = (page: Page) => createDialog(page).getByRole("button", { name: "Create key" }).click();

describe("a change in the console", () => {
  test("a change works with the keyboard alone, and the focus returns to its button", async () => {
    const page = await signIn("owner", keysPath());
    await rows(page).first().waitFor();
    const before = await rows(page).count();
    const focused = (text: string) => page.locator(":focus", { hasText: text });

    await page.keyboard.press("Tab");
    await focused("Skip to the page").waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await focused("Create key").waitFor();
    await page.keyboard.press("Enter");
    await createDialog(page).waitFor();
    await expectAccessible(page);
    await createDialog(page).getByLabel("Mode").and(page.locator(":focus")).waitFor();
    // Past the field of the mode, the two permissions and the reason.
    for (const key of ["Tab", "Space", "Tab", "Tab"]) await page.keyboard.press(key);
    await page.keyboard.type("For the new checkout");
    await page.keyboard.press("Tab");
    await focused("Cancel").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");

    const secret = page.getByRole("dialog", { name: /^The new key/ });
    await secret.waitFor();
    await expectAccessible(page);
    expect(await secret.locator("pre").textContent()).toMatch(/^test_/);
    await page.keyboard.press("Escape");
    expect(await secret.count()).toBe(1);
    await secret.getByRole("button", { name: "I have saved it" }).focus();
    await page.keyboard.press("Enter");
    await secret.waitFor({ state: "detached" });
    await expect.poll(() => rows(page).count()).toBe(before + 1);
    await page.getByRole("status").filter({ hasText: "was created" }).waitFor();
    await focused("Create key").waitFor();
  });

  test("the fields are kept when the sign-in ends while a form is open", async () => {
    expectError(/401/);
    idTokenS = 3;
    const page = await signIn("owner", keysPath());
    await page.getByText("Your sign-in ends at").waitFor();
    await openForm(page);
    await createDialog(page).getByLabel("Mode").selectOption("live");
    await createDialog(page).getByLabel("identity", { exact: true }).uncheck();
    await createDialog(page).getByLabel("Reason").fill("For the new checkout");
    idTokenS = HOUR_S;
    await page.waitForTimeout(3_200);
    await submit(page);
    const ended = page.getByRole("dialog", { name: "Your sign-in has ended" });
    await ended.waitFor();
    await expectAccessible(page);
    await ended.getByRole("button", { name: "Sign in again" }).click();

    await createDialog(page).getByText("What you had typed was kept").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console${keysPath()}`);
    expect(await createDialog(page).getByLabel("Mode").inputValue()).toBe("live");
    expect(await createDialog(page).getByLabel("identity", { exact: true }).isChecked()).toBe(false);
    expect(await createDialog(page).getByLabel("Reason").inputValue()).toBe("For the new checkout");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await submit(page);
    await page.getByRole("dialog", { name: /^The new key/ }).waitFor();
  });

  test("nothing is sent without a network, and the form works once it is back", async () => {
    expectError(/ERR_INTERNET_DISCONNECTED/);
    const page = await signIn("owner", keysPath());
    await openForm(page);
    const before = await rows(page).count();
    await page.context().setOffline(true);
    await page.getByText("You are offline").waitFor();
    await submit(page);
    await createDialog(page).getByText("Nothing was changed").waitFor();
    await expectAccessible(page);
    await page.context().setOffline(false);
    await submit(page);
    await page.getByRole("dialog", { name: /^The new key/ }).waitFor();
    await expect.poll(() => rows(page).count()).toBe(before + 1);
  });

  test("a change whose answer is lost is said to be unknown, and the page behind it is read again", async () => {
    expectError(/ERR_FAILED/);
    const page = await signIn("owner", keysPath());
    await openForm(page);
    const before = await rows(page).count();
    await page.route("**/console-api/keys/create", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await submit(page);
    await createDialog(page).getByText("It is not known whether the change was made").waitFor();
    await createDialog(page).getByText("revoke it").waitFor();
    await expect.poll(() => rows(page).count()).toBe(before + 1);
  });

  test("a page that cannot be loaded says so, and loads when it is tried again", async () => {
    expectError(/ERR_FAILED|503/);
    const page = await signIn("owner");
    await page.route("**/console-api/keys/list*", (route) => route.fulfill({ status: 503, json: { message: "x" } }));
    await page.getByRole("navigation").getByRole("link", { name: "Keys" }).click();
    await heading(page, "Keys").waitFor();
    await page.getByText("This could not be loaded").waitFor();
    await expectAccessible(page);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await rows(page).first().waitFor();
  });

  test("a page that was not loaded before is said to need the network while there is none", async () => {
    expectError(/ERR_INTERNET_DISCONNECTED|Failed to fetch/);
    const page = await signIn("owner");
    await heading(page, "Overview").waitFor();
    await page.context().setOffline(true);
    await page.getByRole("navigation").getByRole("link", { name: "Statement" }).click();
    await page.getByText("Without a network this page cannot be loaded").waitFor();
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Reload" }).click();
    await heading(page, "Statement").waitFor();
  });

  test.each([
    ["the service cannot be reached", 503, undefined, "The service cannot be reached"],
    ["a new version was deployed", 200, "<script type=module src=/console/assets/other.js></script>", "A new version"],
    ["its file is broken", undefined, undefined, "report it to the operators"],
  ] as const)("a page whose file cannot be loaded says that %s", async (_why, status, body, text) => {
    expectError(/Failed to (fetch|load)|ERR_FAILED/);
    const page = await signIn("owner");
    await heading(page, "Overview").waitFor();
    await page.route("**/console/assets/statement-*", (route) => route.abort());
    if (status !== undefined) await page.route("**/console", (route) => route.fulfill({ status, body: body ?? "" }));
    await page.getByRole("navigation").getByRole("link", { name: "Statement" }).click();
    await page.getByText(text).waitFor();
  });

  test("somebody else who signs in does not see a form that was kept", async () => {
    expectError(/401/);
    const page = await signIn("operator", keysPath());
    await openForm(page);
    await createDialog(page).getByLabel("Reason").fill("Only for me");
    await page.route("**/console-api/keys/create", (route) => route.fulfill({ status: 401, body: "{}" }));
    await submit(page);
    await page.context().clearCookies();
    await page
      .getByRole("dialog", { name: "Your sign-in has ended" })
      .getByRole("button", { name: "Sign in again" })
      .click();
    await choosePerson(page, "owner");
    await rows(page).first().waitFor();
    expect(await createDialog(page).count()).toBe(0);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});
