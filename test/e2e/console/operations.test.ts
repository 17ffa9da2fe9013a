import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { setAccountStatus } from "../../../shared/access/accounts.ts";
import { catalogStore } from "../../../shared/catalog/catalog-store.ts";
import { snapshotOf } from "../../../shared/catalog/snapshot.ts";
import { addToHours, readHours } from "../../../shared/statistics/hourly-counts.ts";
import { localTableNames } from "../../../tools/local/tables.ts";
import { expectAccessible } from "../../builders/browser.ts";
import { consoleTests, type Page } from "../../builders/console-pages.ts";
import { eventually } from "../../builders/eventually.ts";
import { anOrder, BUY_DATA } from "../../builders/service.ts";
import { signIn as tokenOf } from "../../builders/sign-in.ts";

/**
 * Goal: the pages about catalog, upstream and statistics show what is stored, and each change is an operator's alone.
 */
const { service, signIn } = consoleTests({ announces: true });

const db = () => service().endpoints.accounts.db;
const catalog = () => catalogStore(db(), localTableNames.cache);
const cache = () => ({ db: db(), table: localTableNames.cache });

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const table = (page: Page, name: string) => page.getByRole("region", { name });
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });

/** Fills the dialog of an irreversible change, and sends it. */
const confirm = async (page: Page, { name, why }: { readonly name: string; readonly why: string }, send: string) => {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/^Reason/).fill(why);
  await dialog.getByLabel(/^Type/).fill(name);
  await dialog.getByRole("button", { name: send, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
};

describe("the catalog", () => {
  const networks = [
    { id: 1, name: "MTN", code: "mtn" },
    { id: 3, name: "Glo", code: "glo" },
  ];
  const plan = { id: 101, network_id: 1, name: "1GB of the refused catalog", price: 510, validity: "30 days" };
  const refuse = () => catalog().writeCandidate(snapshotOf({ networks, data_plans: [plan] }, Date.now()));

  test("an operator finds a plan, sees what a refused catalog would change, and accepts it", async () => {
    await refuse();
    const page = await signIn("operator", "/catalog");
    await page.getByLabel("Name or id contains").fill("101");
    await table(page, "Data plans").getByText("101").waitFor();
    const changes = table(page, "What would change");
    await changes.getByText("Goes").first().waitFor();
    await changes.getByText("New price").waitFor();
    await expectAccessible(page);

    await button(page, "Accept this catalog").click();
    await page.getByRole("dialog").getByText("This cannot be undone.").waitFor();
    await expectAccessible(page);
    await confirm(page, { name: "catalog", why: "the upstream sells one plan now" }, "Accept this catalog");
    await heading(page, "Refused").waitFor({ state: "detached" });
    await table(page, "Data plans").getByText(plan.name).waitFor();
  });

  test("a reader sees a refused catalog without a button, and the service refuses to accept it", async () => {
    await refuse();
    const page = await signIn("reader", "/catalog");
    await heading(page, "Refused").waitFor();
    expect(await button(page, "Accept this catalog").count()).toBe(0);
    await expectRefused("catalog/accept");
    expect(await catalog().readCandidate()).toBeDefined();
  });
});

/** No reader and no owner may send this change, whatever the page shows. */
const expectRefused = async (path: string): Promise<void> => {
  const url = service().consoleUrl;
  const { issuer } = z.object({ issuer: z.string() }).parse(await (await fetch(`${url}/config.json`)).json());
  for (const person of ["reader", "owner"] as const) {
    const response = await fetch(`${url}-api/${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${await tokenOf({ url, issuer }, person)}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ why: "not allowed" }),
    });
    expect([person, response.status]).toEqual([person, 403]);
  }
};

describe("the upstream", () => {
  test("an operator switches purchases off with a reason, which the page shows, and on again", async () => {
    const page = await signIn("operator", "/upstream");
    await button(page, "Switch purchases off").click();
    await page.getByRole("dialog").getByRole("button", { name: "Switch purchases off" }).click();
    await page.getByRole("dialog").getByText("A reason is required").waitFor();
    expect(await page.getByRole("dialog").getByText("cannot be undone").count()).toBe(0);
    await confirm(page, { name: "purchases", why: "ticket 97" }, "Switch purchases off");
    await page.getByText("Off: new orders are refused").waitFor();
    await page.getByText("ticket 97", { exact: true }).waitFor();
    await page.getByText("operator@example.com").first().waitFor();
    await expectAccessible(page);
    // Everybody concerned sees it, on every page.
    await page.getByRole("navigation").getByRole("link", { name: "Accounts" }).click();
    await heading(page, "Accounts").waitFor();
    const banner = page.getByRole("status").filter({ hasText: "Purchases are off" });
    await banner.getByText(/refused \(503\) since .*, by operator@example.com. Reason: ticket 97/).waitFor();
    const owner = await signIn("owner");
    const seen = owner.getByRole("status").filter({ hasText: "Purchases are off" });
    await seen.getByText(/since .* Reason: ticket 97/).waitFor();
    expect(await seen.textContent()).not.toContain("operator@");
    await expectAccessible(owner);

    await banner.getByRole("link", { name: "Upstream" }).click();
    await button(page, "Switch purchases on").click();
    await page.getByRole("dialog").getByRole("button", { name: "Switch purchases on" }).click();
    await page.getByText("On", { exact: true }).waitFor();
    await banner.waitFor({ state: "detached" });
  });

  test("a refused key is on every page of an operator while the catalog is in order, until an order gets through", async () => {
    const { key } = await service().newCaller();
    const faults = [{ kind: "unauthorized", path: "/vtu/", method: "POST" }];
    const controlUrl = `${service().simulator.controlUrl}/faults`;
    await fetch(controlUrl, { method: "PUT", body: JSON.stringify({ faults }) });
    expect((await service().call("POST", BUY_DATA, { key, body: anOrder() })).status).toBe(502);
    const page = await signIn("reader", "/accounts");
    const banner = page.getByRole("alert").filter({ hasText: "find a fault" });
    await banner.getByText(/^Upstream's key: an order was refused \d+ s ago \(status_401\)/).waitFor();
    await banner.getByText(/^Orders at the upstream: none of the purchases of the last \d+ s got through/).waitFor();
    await expectAccessible(page);
    await page.goto(`${service().consoleUrl}/upstream`);
    await page.getByText("No purchase was confirmed since").waitFor();
    await fetch(controlUrl, { method: "DELETE" });
    expect((await service().call("POST", BUY_DATA, { key, body: anOrder() })).status).toBe(200);
    await page.goto(`${service().consoleUrl}/doctor`);
    await table(page, "Checks").getByText("the upstream takes them").waitFor();
    expect(await banner.count()).toBe(0);
  });

  test("a restricted account says so on each of its pages", async () => {
    const { accountId } = await service().newCaller();
    await setAccountStatus(service().accounts, accountId, "restricted");
    const page = await signIn("reader", `/accounts/${accountId}/keys`);
    await page.getByText("This account is restricted").waitFor();
  });

  test("a reader sees the limit and no switch, and the service refuses to switch", async () => {
    const page = await signIn("reader", "/upstream");
    await page.getByText("Are sent at once").waitFor();
    await page.getByText("one key with the usual limit").waitFor();
    expect(await page.getByRole("button", { name: /^Switch/ }).count()).toBe(0);
    for (const path of ["purchases/off", "purchases/on"]) await expectRefused(path);
  });

  test("an owner does not see the pages of the service", async () => {
    const page = await signIn("owner", "/upstream");
    await heading(page, "Not your page").waitFor();
  });
});

test("the doctor names what it found and the page that helps, and what only a command checks", async () => {
  const page = await signIn("reader", "/doctor");
  const checks = table(page, "Checks");
  await checks.getByText("Purchases", { exact: true }).waitFor();
  await checks.getByText("only the command admin doctor checks it").first().waitFor();
  expect(await checks.getByRole("row").count()).toBe(15);
  await expectAccessible(page);
});

describe("the charts", () => {
  beforeAll(async () => {
    const hours = Array.from({ length: 10 }, (_, index) => Date.now() - index * 3_600_000);
    const ended = (network: string, latencyMs: number, status: "success" | "failed" = "success") =>
      hours.map((endedAtMs) => ({ type: "data", network, status, amountKobo: 50_000, endedAtMs, latencyMs }) as const);
    const airtel = [...ended("Airtel", 900), ...ended("Airtel", 1_500), ...ended("Airtel", 0, "failed")];
    await addToHours(cache(), [...airtel, ...ended("Glo", 900), ...ended("MTN", 900)]);
  });

  test("a purchase of an app is in the charts, with volume, success rate and latency beside tables", async () => {
    const { key } = await service().newCaller();
    // Of a network that no other test sells.
    const body = { network: "glo", amount: 510, phone_number: "08051234567" };
    expect((await service().call("POST", "/vtu/airtime/purchase", { key, body })).status).toBe(200);
    await eventually(async () => {
      const hours = await readHours(cache(), Date.now() - 3_600_000, Date.now());
      expect(hours.flatMap(({ counts }) => counts).some(({ network }) => network === "Glo")).toBe(true);
    });
    const page = await signIn("operator", "/charts");
    for (const name of ["Volume", "Sales", "Success rate", "Latency"]) {
      const figure = page.getByRole("figure", { name: `${name} by network` });
      await figure.locator("svg").first().waitFor();
      await figure.getByText("Show as a table").click();
    }
    const numbers = (name: string, text: string | RegExp) => table(page, `${name} by network`).getByText(text).first();
    await numbers("Volume", "3").waitFor();
    await numbers("Sales", /1,000\.00/).waitFor();
    for (const share of ["66.7 %", "100 %"]) await numbers("Success rate", share).waitFor();
    await numbers("Latency", "2 s").waitFor();
    await table(page, "Volume by network").getByRole("columnheader", { name: "MTN" }).waitFor();
    await expectAccessible(page);
    const volume = page.getByRole("figure", { name: "Volume by network" });
    const drawing = volume.locator("svg").first();
    const width = (await drawing.boundingBox())?.width ?? 0;
    // Some hours ago, when no test sold anything.
    await drawing.hover({ position: { x: width * 0.85, y: 60 } });
    expect(await volume.locator("dl > div").allTextContents()).toEqual(
      expect.arrayContaining(["Airtel3", "Glo1", "MTN1"]),
    );
    await page.getByLabel("Network", { exact: true }).selectOption("Airtel");
    await table(page, "Volume by network").getByRole("columnheader", { name: "Glo" }).waitFor({ state: "detached" });
    await page.getByLabel("Time", { exact: true }).selectOption("Last 7 days");
    await page.getByRole("figure", { name: "Volume by network" }).getByText("Show as a table").click();
    await table(page, "Volume by network").getByRole("columnheader", { name: "Day" }).waitFor();
  });

  test("the pages are accessible in dark colours and on a phone", async () => {
    const page = await signIn("operator", "", { viewport: "phone", colorScheme: "dark" });
    for (const path of ["/charts", "/catalog", "/upstream", "/doctor"]) {
      await page.goto(`${service().consoleUrl}${path}`);
      await page
        .getByRole(path === "/charts" ? "figure" : "region")
        .first()
        .waitFor();
      await expectAccessible(page);
    }
  });
});
