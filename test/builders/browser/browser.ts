import axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { WAIT_MS_MAX } from "../run/until.ts";
import { startChromium } from "./chromium.ts";

export const VIEWPORTS = { desktop: { width: 1280, height: 800 }, phone: { width: 375, height: 740 } } as const;
export type PageOptions = {
  readonly colorScheme?: "light" | "dark";
  readonly viewport?: keyof typeof VIEWPORTS;
};

export type TestBrowser = {
  /** A page in a context of its own, so without cookies of another. It is closed after the test. */
  readonly newPage: (options?: PageOptions) => Promise<Page>;
  /** A context for several tests. Its pages stay until the browser is closed. */
  readonly newContext: () => Promise<BrowserContext>;
  /** Messages of the browser's console that the current test causes on purpose. */
  readonly expectError: (pattern: RegExp) => void;
};

/**
 * A browser for the tests of the importing file. A test fails if one of its pages reports a violation of the content
 * security policy, throws, logs an error that the test does not expect, or sends a request to another host than this
 * machine.
 */
export const browserTests = (): TestBrowser => {
  let browser: Browser | undefined;
  let contexts: BrowserContext[] = [];
  let problems: string[] = [];
  let expected: RegExp[] = [];

  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    const found = problems.filter((problem) => !expected.some((pattern) => pattern.test(problem)));
    const open = contexts;
    [problems, expected, contexts] = [[], [], []];
    await Promise.all(open.map((context) => context.close()));
    expect(found).toEqual([]);
  });

  const startContext = async ({ colorScheme = "light", viewport = "desktop" }: PageOptions = {}) => {
    if (browser === undefined) throw new Error("The browser is used outside of a test");
    const context = await browser.newContext({
      colorScheme,
      viewport: VIEWPORTS[viewport],
      locale: "en-GB",
      timezoneId: "Africa/Lagos",
      reducedMotion: "reduce",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(WAIT_MS_MAX);
    await watch(context, (problem) => problems.push(problem));
    await context.addInitScript(KEEP_WAITING);
    return context;
  };

  return {
    newPage: async (options) => {
      const context = await startContext(options);
      contexts.push(context);
      return context.newPage();
    },
    newContext: () => startContext(),
    expectError: (pattern) => expected.push(pattern),
  };
};

/** On a busy machine an answer may arrive later than a page waits for it: its waits end with `endWaits` alone. */
const KEEP_WAITING = `(() => {
  const waits = [];
  AbortSignal.timeout = (ms) => {
    const end = new AbortController();
    waits.push({ ms, end });
    return end.signal;
  };
  globalThis.endWaits = (ms) => {
    for (const wait of waits) if (wait.ms <= ms) wait.end.abort(new DOMException("The time is up", "TimeoutError"));
  };
})()`;

/** Ends what a page has waited for, as if this much time had passed. */
export const endWaits = (page: Page, afterMs: number): Promise<unknown> => page.evaluate(`endWaits(${afterMs})`);

const watch = async (context: BrowserContext, report: (problem: string) => void): Promise<void> => {
  await context.exposeBinding("reportViolation", (_, violation: string) =>
    report(`Content security policy: ${violation}`),
  );
  await context.addInitScript(`addEventListener("securitypolicyviolation", (event) => {
    reportViolation([event.effectiveDirective, event.blockedURI, event.sourceFile, event.lineNumber, event.sample].join(" "));
  })`);
  context.on("weberror", (error) => report(`The page threw: ${String(error.error())}`));
  context.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      report(`Console ${message.type()}: ${message.text()} (${message.location().url})`);
    }
  });
  context.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "127.0.0.1") report(`Request to another host: ${request.url()}`);
  });
};

export const PIXELS_CUT_OFF = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** What axe looks at. */
const contexts = {
  document: "document",
  /** Without what is around every page of the console. */
  page: `{ exclude: ["header", "nav"] }`,
  dialog: `"[role=dialog]"`,
} as const;

/**
 * Fails on each violation of axe's rules, by default of all in the whole document, and if the page is wider than the
 * window.
 */
export const expectAccessible = async (
  page: Page,
  rules?: readonly string[],
  within: keyof typeof contexts = "document",
): Promise<void> => {
  // A document that has axe already keeps it while the console shows one page after another.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  // What passes is left out: to find and send its elements takes most of axe's time.
  const options = { resultTypes: ["violations"], ...(rules !== undefined && { runOnly: rules }) };
  const context = contexts[within];
  const found = await page.evaluate<string[]>(`axe.run(${context}, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))`);
  expect(found, `${page.url()}, ${within}`).toEqual([]);
  // A chart is drawn again some time after the window has changed.
  const cutOff = () => page.evaluate<number>(PIXELS_CUT_OFF);
  await expect.poll(cutOff, { message: `${page.url()} is wider than the window` }).toBeLessThanOrEqual(0);
};
