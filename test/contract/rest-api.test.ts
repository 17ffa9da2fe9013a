import { afterAll, expect, test } from "vitest";
import { startTestService } from "../builders/service/service.ts";
import { contractSuite } from "./suite.ts";

/**
 * Goal: functions behind a REST API keep the contract. Method: the suite, with events of format 1.0 on callers' routes.
 * The rate limit counts by key, of which the event has no part.
 */
const service = await startTestService({ front: "rest" });
afterAll(() => service.stop());

contractSuite({
  name: "the local service behind a REST API",
  scope: "service",
  modes: ["test"],
  arranges: [],
  omits: ["rate_limited"],
  open: async () => ({
    baseUrl: service.baseUrl,
    key: async (mode) => (await service.newCaller()).newKey({ mode }),
    close: async () => {},
  }),
});

test("a parameter or header with the name of a property of all objects is ignored like any other", async () => {
  const { key } = await service.newCaller();
  const url = `${service.baseUrl}/transactions?constructor=x&__proto__=y`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, constructor: "z" } });
  expect(response.status).toBe(200);
});

test("a reference with an encoded colon is found by its decoded text", async () => {
  const { key } = await service.newCaller();
  const body = { network_id: 1, plan_id: 101, phone_number: "08031234567", reference: "shop:1042" };
  expect(await service.call("POST", "/vtu/data/purchase", { key, body })).toMatchObject({ status: 200 });
  const found = await service.call("GET", "/transactions/shop%3A1042", { key });
  expect(found.body.data).toMatchObject({ transaction: { caller_reference: "shop:1042" } });
});
