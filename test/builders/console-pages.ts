import type { Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { builtConsole } from "../../infra/bundle/console-files.ts";
import type { LocalPerson } from "../../tools/local/identity-provider.ts";
import { browserTests, type PageOptions } from "./browser.ts";
import { startTestService, type TestService } from "./service.ts";

export type { Page } from "playwright-core";

export type ConsoleTest = {
  readonly service: () => TestService;
  /** Signs a person in at the local provider, in a browser context of their own, and opens a path below /console. */
  readonly signIn: (person: LocalPerson, path?: string, options?: PageOptions) => Promise<Page>;
  /** A page that nobody has opened yet. */
  readonly newPage: (options?: PageOptions) => Promise<Page>;
  /** Messages of the browser's console that the current test causes on purpose. */
  readonly expectError: (pattern: RegExp) => void;
};

/** The whole service with its console and a browser, for the tests of the importing file. */
export const consoleTests = (options: Parameters<typeof startTestService>[0] = {}): ConsoleTest => {
  const { newPage, expectError } = browserTests();
  let service: TestService | undefined;

  beforeAll(async () => {
    builtConsole();
    service = await startTestService(options);
  });
  afterAll(() => service?.stop());

  const running = (): TestService => {
    if (service === undefined) throw new Error("The service is used outside of a test");
    return service;
  };
  return {
    service: running,
    newPage,
    expectError,
    signIn: async (person, path = "", pageOptions) => {
      const page = await newPage(pageOptions);
      await page.goto(`${running().consoleUrl}${path}`);
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
