import { expect, test } from "vitest";
import * as z from "zod";
import { consoleTests } from "../../builders/console-pages.ts";

/**
 * Goal: what a person waits for at the first visit has at most 300 KB. Method: what Chromium fetches, compressed as it
 * arrives, preloads and dynamic imports included.
 */
const { service, signIn } = consoleTests();

const BYTES_MAX = 300 * 1024;
const fetched = z.array(z.tuple([z.string(), z.number(), z.string()]));

test.each(["operator", "owner"] as const)("%s: the first load of the console has at most 300 KB", async (person) => {
  const page = await signIn(person);
  await expect.poll(() => page.getByText("Loading", { exact: true }).count(), { timeout: 8_000 }).toBe(0);
  await page.waitForLoadState("networkidle");
  const files = fetched.parse(
    await page.evaluate(`[performance.getEntriesByType("navigation"), performance.getEntriesByType("resource")]
      .flat()
      .map(({ name, encodedBodySize, initiatorType }) => [new URL(name).pathname, encodedBodySize, initiatorType])
      .filter(([path]) => path.startsWith("/console/") || path === "/console")`),
  );
  const scripts = files.filter(([path]) => path.endsWith(".js"));
  // As the service sends them: none is counted without its size.
  expect(scripts.length).toBeGreaterThan(10);
  expect(files.filter(([, bytes]) => bytes === 0)).toEqual([]);
  const first = new URL(service().consoleUrl).pathname;
  expect(
    files.reduce((sum, [, bytes]) => sum + bytes, 0),
    `${first}: ${JSON.stringify(files)}`,
  ).toBeLessThanOrEqual(BYTES_MAX);
});
