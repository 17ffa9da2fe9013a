import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bundleOptions, functionEntry } from "../../infra/bundle/bundle.ts";
import { anOrder, BUY_DATA, startTestService, type TestService } from "../builders/service.ts";

/** Goal: a request stays as cheap as docs/architecture.md promises. Method: calls and capacity units are counted on the wire. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  // The first request reads the catalog and the secrets into memory.
  const { key } = await service.newCaller();
  await service.call("POST", BUY_DATA, { key, body: anOrder() });
  await service.call("GET", "/vtu/data", { key });
});
beforeEach(() => {
  service.proxy.calls.length = 0;
});
afterAll(() => service.stop());

const operations = (): string[] => service.proxy.calls.map(({ operation }) => operation);
const units = (kind: "tableUnits" | "indexUnits"): number =>
  service.proxy.calls.reduce((sum, call) => sum + call[kind], 0);

/** As long as everything may be: 100 characters of reference and 20 addresses. */
const longest = {
  body: anOrder({ reference: "r".repeat(100) }),
  whitelist: [
    "127.0.0.1",
    ...Array.from({ length: 19 }, (_, index) => `2001:db8:1111:2222:3333:4444:5555:${1000 + index}`),
  ],
};

describe("DynamoDB calls and capacity", () => {
  test("a live purchase takes 3 calls, 6 write units on the tables and at most 4 on indexes, with the longest fields", async () => {
    const caller = await service.newCaller({ whitelist: longest.whitelist });
    service.proxy.calls.length = 0;
    const answer = await service.call("POST", BUY_DATA, { key: caller.key, body: longest.body });
    expect(answer.status).toBe(200);
    expect(operations()).toEqual(["UpdateItem", "TransactWriteItems", "UpdateItem"]);
    expect(units("tableUnits")).toBe(6);
    expect(units("indexUnits")).toBeLessThanOrEqual(4);
    expect(units("indexUnits")).toBeGreaterThan(0);
  });

  test("two of the three calls of a purchase come before the upstream is asked", async () => {
    const caller = await service.newCaller();
    service.proxy.calls.length = 0;
    service.simulator.state.faults.add({ kind: "drop_before_reading", path: BUY_DATA, times: 1 });
    await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder() });
    expect(operations()).toEqual(["UpdateItem", "TransactWriteItems"]);
  });

  test("a repeat takes 2 calls", async () => {
    const caller = await service.newCaller();
    const body = anOrder({ reference: "twice" });
    await service.call("POST", BUY_DATA, { key: caller.key, body });
    service.proxy.calls.length = 0;
    const repeat = await service.call("POST", BUY_DATA, { key: caller.key, body });
    expect(repeat.headers.get("idempotent-replayed")).toBe("true");
    expect(operations()).toEqual(["UpdateItem", "TransactWriteItems"]);
  });

  test("a request over the limit takes 1 call", async () => {
    const caller = await service.newCaller({ naira: 0 });
    const answers = await Promise.all(
      Array.from({ length: 130 }, () => service.call("POST", BUY_DATA, { key: caller.key, body: {} })),
    );
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    expect(operations()).toEqual(Array(130).fill("UpdateItem"));
  });

  test("a malformed key takes no call", async () => {
    const answer = await service.call("POST", BUY_DATA, { key: "live_garbage", body: anOrder() });
    expect(answer.status).toBe(401);
    expect(operations()).toEqual([]);
  });

  test("the warm catalog takes 1 call, and 304 has no body", async () => {
    const { key } = await service.newCaller();
    service.proxy.calls.length = 0;
    const headers = { authorization: `Bearer ${key}` };
    const first = await fetch(`${service.baseUrl}/vtu/data`, { headers });
    const again = await fetch(`${service.baseUrl}/vtu/data`, {
      headers: { ...headers, "if-none-match": first.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    expect((await again.arrayBuffer()).byteLength).toBe(0);
    expect(operations()).toEqual(["UpdateItem", "UpdateItem"]);
  });
});

describe("what leaves a request", () => {
  test("is one log line of at most 400 bytes, also with the longest fields", async () => {
    const caller = await service.newCaller({ whitelist: longest.whitelist });
    const lines: unknown[] = [];
    const spy = vi.spyOn(console, "log").mockImplementation((line: unknown) => void lines.push(line));
    await service.call("POST", BUY_DATA, { key: caller.key, body: longest.body });
    spy.mockRestore();
    expect(lines).toHaveLength(1);
    expect(Buffer.byteLength(String(lines[0]))).toBeLessThanOrEqual(400);
    expect(String(lines[0])).toContain("request.answered");
    expect(String(lines[0])).not.toMatch(/08031234567|live_/);
  });
});

describe("a purchase function's bundle", () => {
  test("is at most 500 KB minified and 150 KB in gzip", async () => {
    const { outputFiles } = await build({ ...bundleOptions, entryPoints: [functionEntry("purchase")], write: false });
    const bytes = outputFiles[0]?.contents ?? new Uint8Array();
    expect(bytes.length).toBeGreaterThan(100_000);
    expect(bytes.length).toBeLessThanOrEqual(500_000);
    expect(gzipSync(bytes).length).toBeLessThanOrEqual(150_000);
  });
});
