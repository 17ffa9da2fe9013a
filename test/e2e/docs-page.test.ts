import { afterAll, beforeAll, expect, test } from "vitest";
import { browserTests, expectAccessible } from "../builders/browser.ts";
import { startTestService, type TestService } from "../builders/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());
const { newPage } = browserTests();

test("the page of the interface is accessible, with its operations open", async () => {
  const page = await newPage();
  await page.goto(`${service.baseUrl}/docs`);
  const operations = page.getByRole("button", { name: /^(GET|POST) \/vtu/ });
  await operations.first().waitFor();
  expect(await operations.count()).toBe(3);
  for (const operation of await operations.all()) await operation.click();
  await page.getByRole("heading", { name: "Responses" }).nth(2).waitFor();
  await expectAccessible(page);
});
