import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { routes } from "../../shared/contract/routes.ts";
import { type HttpRequest, parseHttpFile } from "../builders/http-file.ts";
import { startTestService } from "../builders/service.ts";

/** Sends the requests of docs/requests in their order and compares the responses with the comments. */
const folder = new URL("../../docs/requests/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".http"));
const textOf = (file: string): string => readFileSync(new URL(file, folder), "utf8");

const service = await startTestService();
afterAll(() => service.stop());

const responseTo = async ({ method, url, headers, body }: HttpRequest) => {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  await response.arrayBuffer();
  return { status: response.status, code: response.headers.get("x-error-code") };
};

test("docs/requests has one file for each capability", () => {
  const capabilities = ["account", "airtime", "bvn", "catalog", "data", "nin"];
  expect(new Set(files)).toEqual(new Set(capabilities.map((name) => `${name}.http`)));
});

describe.each(files)("docs/requests/%s", (file) => {
  test(`docs/requests/${file} has only the variables base_url and key`, () => {
    const { variables } = parseHttpFile(textOf(file), {});
    expect(variables).toEqual(["base_url", "key"]);
  });

  test(`the requests of docs/requests/${file} get the responses in their comments, and charge nothing`, async () => {
    const caller = await service.newCaller({ naira: 1_000 });
    const key = await caller.newKey({ mode: "test" });
    const { requests } = parseHttpFile(textOf(file), { base_url: service.baseUrl, key });
    expect(requests.length).toBeGreaterThan(2);
    const responses: unknown[] = [];
    for (const request of requests) responses.push([request.title, await responseTo(request)]);
    expect(responses).toEqual(requests.map(({ title, expected }) => [title, expected]));
    expect(await caller.balance()).toBe(1_000);
  });
});

const allRequests = files.flatMap(
  (file) => parseHttpFile(textOf(file), { base_url: "https://api.example.com/v1", key: "k" }).requests,
);

test("docs/requests has a successful request for every route with a key, and every body in it is JSON", () => {
  const working = allRequests.filter(({ expected }) => expected.status === 200);
  const served = ["list-catalog", "purchase", "check-identity", "read-account"];
  const shown = Object.values(routes).filter((route) => served.includes(route.function));
  expect(shown.length).toBeGreaterThanOrEqual(10);
  for (const { method, path } of shown) {
    const pattern = new RegExp(`^${path.replace(/\{\w+\}/, "[\\w-]+")}$`);
    const found = working.find((one) => one.method === method && pattern.test(new URL(one.url).pathname));
    expect(found, `${method} ${path}`).toBeDefined();
  }
  for (const { body } of allRequests) if (body !== undefined) expect(() => JSON.parse(body)).not.toThrow();
});

test("every order of docs/requests has its own reference, except for a replay and a conflict of one purchase, and a copy of a cancelled one", () => {
  const ordered = allRequests.filter(({ method }) => method === "POST");
  const references = ordered.map(({ headers, body = "" }) => headers["idempotency-key"] ?? JSON.parse(body).reference);
  expect(references).not.toContain(undefined);
  const duplicates = references.filter((reference, index) => references.indexOf(reference) < index);
  expect(duplicates).toEqual(["top-up-2002", "bundle-1001", "bundle-1001"]);
});

describe("a .http file that cannot be read in full", () => {
  test.each([
    ["a request without expect", "### A\nGET https://x.test/v1", /has no comment/],
    ["a request without a method", "### A\n# expect 200\nhttps://x.test/v1", /no request line/],
    ["a header without a colon", "### A\n# expect 200\nGET https://x.test/v1\nAuthorization k", /is not a header/],
    ["a variable that is not set", "### A\n# expect 200\nGET {{base_url}}/vtu/data", /has no value/],
    ["a request before the first ###", "GET https://x.test/v1\n### A", /before the first/],
  ])("a .http file is rejected: %s", (_name, text, message) => {
    expect(() => parseHttpFile(text, {})).toThrow(message);
  });
});
