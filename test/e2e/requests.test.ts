import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { routes } from "../../shared/contract/routes.ts";
import { type HttpRequest, parseHttpFile } from "../builders/http-file.ts";
import { startTestService, type TestService } from "../builders/service.ts";

/** Goal: the requests of docs/requests stay true. Method: they are sent, in the files' order, and their answers compared. */
const folder = new URL("../../docs/requests/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".http"));
const textOf = (file: string): string => readFileSync(new URL(file, folder), "utf8");

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const answerTo = async ({ method, url, headers, body }: HttpRequest) => {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  await response.arrayBuffer();
  return { status: response.status, code: response.headers.get("x-error-code") };
};

test("there is one file for each capability", () => {
  const capabilities = ["account", "airtime", "bvn", "catalog", "data", "nin"];
  expect(new Set(files)).toEqual(new Set(capabilities.map((name) => `${name}.http`)));
});

describe.each(files)("%s", (file) => {
  test("needs a base URL and a key, and nothing else", () => {
    const { variables } = parseHttpFile(textOf(file), {});
    expect(variables).toEqual(["base_url", "key"]);
  });

  test("each request answers what its comment says, with a test key, and costs nothing", async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const key = await caller.newKey({ mode: "test" });
    const { requests } = parseHttpFile(textOf(file), { base_url: service.baseUrl, key });
    expect(requests.length).toBeGreaterThan(2);
    const answers: unknown[] = [];
    for (const request of requests) answers.push([request.title, await answerTo(request)]);
    expect(answers).toEqual(requests.map(({ title, expected }) => [title, expected]));
    expect(await caller.balance()).toBe(1_000);
  });
});

test("every route that takes a key is shown at work, and every body that is sent is JSON", () => {
  const baseUrl = "https://api.example.com/v1";
  const requests = files.flatMap((file) => parseHttpFile(textOf(file), { base_url: baseUrl, key: "k" }).requests);
  const working = requests.filter(({ expected }) => expected.status === 200);
  const served = ["list-catalog", "purchase", "check-identity", "read-account"];
  const shown = Object.values(routes).filter((route) => served.includes(route.function));
  expect(shown.length).toBeGreaterThanOrEqual(10);
  for (const { method, path } of shown) {
    const pattern = new RegExp(`^${path.replace(/\{\w+\}/, "[\\w-]+")}$`);
    const found = working.find((one) => one.method === method && pattern.test(new URL(one.url).pathname));
    expect(found, `${method} ${path}`).toBeDefined();
  }
  for (const { body } of requests) if (body !== undefined) expect(() => JSON.parse(body)).not.toThrow();
});

describe("a file that is not in order is refused, so that none of its requests is passed over", () => {
  test.each([
    ["a request without expect", "### A\nGET https://x.test/v1", /says nothing/],
    ["a request without a method", "### A\n# expect 200\nhttps://x.test/v1", /no request line/],
    ["a header without a colon", "### A\n# expect 200\nGET https://x.test/v1\nAuthorization k", /is no header/],
    ["a variable that is not set", "### A\n# expect 200\nGET {{base_url}}/vtu/data", /set nowhere/],
    ["a request before the first ###", "GET https://x.test/v1\n### A", /Before the first/],
  ])("%s", (_name, text, message) => {
    expect(() => parseHttpFile(text, {})).toThrow(message);
  });
});
