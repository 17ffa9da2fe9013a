import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import * as z from "#zod";
import { builtConsole } from "../../../infra/bundle/console-files.ts";
import type { Action } from "../../../shared/contract/actions/action.ts";
import { actionNames, actions } from "../../../shared/contract/actions/actions.ts";
import type { LocalPerson } from "../../../tools/local/identity-provider.ts";
import { startTestService, type TestService } from "../service/service.ts";
import { browserTests, expectAccessible, type PageOptions, VIEWPORTS } from "./browser.ts";
import { signIn } from "./sign-in.ts";

export type { Page } from "playwright-core";

export type ConsoleTest = {
  readonly service: () => TestService;
  /**
   * The page of this person at a path below /console. The person signs in once for all tests of the file, which share the
   * page: to load the console costs ten times what its own navigation costs. A second one in the same test is a new page.
   */
  readonly open: (person: LocalPerson, path?: string) => Promise<Page>;
  /** Signs a person in at the local provider, in a browser context of their own, and opens a path below /console. */
  readonly signIn: (person: LocalPerson, path?: string) => Promise<Page>;
  /** An ID token of this person, for what needs no page. */
  readonly tokenOf: (person: LocalPerson) => Promise<string>;
  /** A page that nobody has opened yet. */
  readonly newPage: (options?: PageOptions) => Promise<Page>;
  /** Messages of the browser's console that the current test causes on purpose. */
  readonly expectError: (pattern: RegExp) => void;
};

/** The whole service with its console and a browser, for the tests of the importing file. */
export const consoleTests = (options: Parameters<typeof startTestService>[0] = {}): ConsoleTest => {
  const { newPage, newContext, expectError } = browserTests();
  const contexts = new Map<LocalPerson, BrowserContext>();
  const kept = new Map<LocalPerson, Page>();
  const inUse = new Set<Page>();
  let service: TestService | undefined;

  beforeAll(async () => {
    builtConsole();
    service = await startTestService(options);
  });
  afterAll(() => service?.stop());
  afterEach(async ({ task }) => {
    const pages = new Set(kept.values());
    const used = [...inUse].filter((page) => !page.isClosed());
    inUse.clear();
    await Promise.all(
      used.map((page) => (pages.has(page) && task.result?.state !== "fail" ? leave(page) : page.close())),
    );
  });

  const running = (): TestService => {
    if (service === undefined) throw new Error("The service is used outside of a test");
    return service;
  };
  const urlOf = (path: string): string => `${running().consoleUrl}${path}`;
  return {
    service: running,
    newPage,
    expectError,
    open: async (person, path = "") => {
      const last = kept.get(person);
      if (last !== undefined && !last.isClosed() && !inUse.has(last)) {
        inUse.add(last);
        await outdate(last);
        await push(last, path);
        await last.locator("main h1").filter({ hasNotText: NO_SUCH_PAGE }).waitFor();
        return last;
      }
      const known = contexts.get(person);
      const context = known ?? (await newContext());
      contexts.set(person, context);
      const page = await context.newPage();
      inUse.add(page);
      if (last === undefined || last.isClosed()) kept.set(person, page);
      await page.addInitScript(LET_TIME_PASS);
      await page.goto(urlOf(path));
      await (known === undefined ? choosePerson(page, person) : page.locator("main h1").waitFor());
      return page;
    },
    tokenOf: (person) => signIn({ url: running().consoleUrl, issuer: running().issuer }, person),
    signIn: async (person, path = "") => {
      const page = await newPage();
      await page.goto(urlOf(path));
      await choosePerson(page, person);
      return page;
    },
  };
};

/** Signs in on the page of the local provider, and waits for the console's page. */
export const choosePerson = async (page: Page, person: LocalPerson): Promise<void> => {
  await page.locator(`button[value="${person}"]`).click();
  await page.locator("main h1").waitFor();
};

/** For longer than the console takes an answer for fresh. */
const LET_TIME_PASS = `(() => {
  const now = Date.now;
  let aheadMs = 0;
  Date.now = () => now() + aheadMs;
  globalThis.letTimePass = () => (aheadMs += 10_001);
})()`;

/** What a page of `open` has read is read again where it is shown next. */
export const outdate = (page: Page): Promise<unknown> => page.evaluate("letTimePass()");

/** Has what the page shows read again, as where its tab is shown after a while. */
export const readAgain = async (page: Page): Promise<void> => {
  await outdate(page);
  await page.evaluate(`dispatchEvent(new Event("visibilitychange"))`);
};

/** Keeps what the page sends to this path of an action back until the returned function is called. */
export const keepBack = async (page: Page, path: string): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(`**/console-api/${path}`, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
};

/** Where a page waits for the next test: this one reads nothing. */
const NOWHERE = "/nowhere";
const NO_SUCH_PAGE = "No such page";

/** Undoes what a test does to a page. */
const leave = async (page: Page): Promise<void> => {
  page.removeAllListeners("request");
  await page.unrouteAll();
  await page.context().setOffline(false);
  await page.emulateMedia({ media: null, colorScheme: null });
  await page.setViewportSize(VIEWPORTS.desktop);
  await visit(page, NOWHERE, NO_SUCH_PAGE);
};

const push = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(`/console${path}`)})`);

/** Shows a page by the page's own navigation, without loading everything again, once it has read what it shows. */
export const visit = async (page: Page, path: string, title: string): Promise<void> => {
  await push(page, path);
  await heading(page, title).waitFor();
  await expect.poll(() => page.getByText("Loading", { exact: true }).count()).toBe(0);
};

export const heading = (page: Page, name: string): Locator =>
  page.getByRole("heading", { level: 1, name, exact: true });
export const button = (within: Page | Locator, name: string): Locator =>
  within.getByRole("button", { name, exact: true });
export const dialog = (page: Page): Locator => page.getByRole("dialog");
/** Sends the form of the open dialog. */
export const submit = (page: Page, name: string): Promise<void> => button(dialog(page), name).click();
/** Fills fields of the open dialog, by their labels. */
export const fill = async (page: Page, fields: Readonly<Record<string, string>>): Promise<void> => {
  for (const [label, text] of Object.entries(fields)) await dialog(page).getByLabel(label).fill(text);
};
/** Opens a dialog, fills its fields and sends it, by default with a button of the same name. */
export const fillAndSend = async (
  page: Page,
  name: string,
  fields: Readonly<Record<string, string>> = {},
  sendName = name,
): Promise<void> => {
  await button(page, name).click();
  await fill(page, fields);
  await submit(page, sendName);
};
export const row = (page: Page, text: string): Locator => page.getByRole("row").filter({ hasText: text });

/** The buttons that open dialogs: action and text, without the row's name, and the place of the first one. */
const OPENERS = `[...new Map(
  [...document.querySelectorAll("main [aria-haspopup=dialog]")]
    .map((each, place) => {
      const subject = each.querySelector(".visually-hidden")?.textContent ?? "";
      return [each.dataset.action + ":" + each.textContent.slice(0, each.textContent.length - subject.length), place];
    })
    .reverse(),
)]`;
const openersSchema = z.array(z.tuple([z.string(), z.int()]));

/** Whether the action of a dialog is taken without a reason. */
const needsNoReason = (opener: string): boolean => {
  const name = actionNames.find((each) => each === opener.split(":")[0]);
  const action: Action | undefined = name && actions[name];
  const why = action?.input.shape.why;
  return why !== undefined && z.safeParse(why, undefined).success;
};

/** Names that a layout has put on a line of their own, apart from their sentence. */
const NAMES_OUT_OF_LINE = `[...document.querySelectorAll("[role=dialog] bdi")]
  .filter((name) => getComputedStyle(name).display !== "inline").map((name) => name.parentElement.textContent)`;

/** Opens each dialog of the page that is not among `opened`, where axe finds nothing, and each sentence is whole, and adds it there. */
export const checkDialogs = async (page: Page, opened: Set<string>): Promise<void> => {
  for (const [opener, place] of openersSchema.parse(await page.evaluate(OPENERS))) {
    if (opened.has(opener)) continue;
    opened.add(opener);
    await page.locator("main [aria-haspopup=dialog]").nth(place).click();
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page, undefined, "dialog");
    expect(await page.evaluate(NAMES_OUT_OF_LINE), opener).toEqual([]);
    const offersNoReason = (await page.getByRole("dialog").getByLabel("Reason (optional)").count()) > 0;
    if (offersNoReason) expect(needsNoReason(opener), opener).toBe(true);
    const optional = page.getByRole("dialog").getByLabel("(optional)");
    expect(await optional.and(page.locator("[required]")).count(), opener).toBe(0);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
};
