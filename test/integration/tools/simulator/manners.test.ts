import { expect, test } from "vitest";
import { usableCatalog } from "../../../../shared/catalog/usable-catalog.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { httpUpstream } from "../../../../shared/upstream/http-upstream.ts";
import { profileOf } from "../../../../shared/upstream/profile.ts";
import type { IdentityCheck, UpstreamOrder } from "../../../../shared/upstream/upstream.ts";
import type { SimulatorOptions } from "../../../../tools/simulator/server.ts";
import { aSecret } from "../../../builders/ledger/secrets.ts";
import { aSimulator, aWebhook, LIVE_KEY, SOME_PHONE, TEST_KEY } from "../../../builders/upstream/upstream-simulator.ts";

const DEADLINE_MS = 29_000;

/** The service's client in front of a simulator, whose orders carry our reference as the setting says. */
const aClient = async (options: Partial<SimulatorOptions>, reference: "all" | "documented") => {
  const simulator = await aSimulator(options);
  const liveKey = aSecret(LIVE_KEY);
  const upstream = httpUpstream({ baseUrl: simulator.baseUrl, profile: profileOf({ reference }), liveKey });
  let orders = 0;
  const next = (): string => {
    orders += 1;
    return `REFERENCE_${orders}`;
  };
  const data = (phoneNumber = SOME_PHONE, planId = 101): UpstreamOrder => ({
    ...{ kind: "data", networkId: 1 },
    ...{ planId, phoneNumber },
  });
  const airtime = (phoneNumber = SOME_PHONE): UpstreamOrder => ({
    ...{ kind: "airtime", network: "mtn", amountKobo: koboFromNaira(100) },
    phoneNumber,
  });
  const nin = (number: string): IdentityCheck => ({ kind: "identity", idType: "nin", by: { number, mode: "basic" } });
  return {
    ...simulator,
    data,
    airtime,
    nin,
    buying: (order: UpstreamOrder) => upstream.buy(order, next(), deadlineIn(DEADLINE_MS)),
    checking: (check: IdentityCheck) => upstream.check(check, next(), deadlineIn(DEADLINE_MS)),
    retrieving: (idType: "nin" | "bvn", phoneNumber = SOME_PHONE) =>
      upstream.check({ kind: "identity", idType, by: { phoneNumber } }, next(), deadlineIn(DEADLINE_MS)),
    catalog: () => upstream.fetchCatalog(deadlineIn(DEADLINE_MS)),
  };
};

test.each([
  ["lenient", "all"],
  ["lenient", "documented"],
  ["strict", "documented"],
  ["strict", "all"],
  ["sloppy", "all"],
  ["sloppy", "documented"],
] as const)(
  "the service's orders have their outcomes at a %s upstream, with a reference for %s kinds",
  async (manner, references) => {
    const client = await aClient({ manner, references }, references);
    expect(await client.buying(client.data())).toMatchObject({ kind: "delivered", upstreamAmountKobo: 500_00 });
    expect(await client.buying(client.airtime())).toMatchObject({ kind: "delivered", upstreamAmountKobo: 100_00 });
    expect(await client.buying(client.data("08000000004"))).toMatchObject({ kind: "unknown", reason: "processing" });
    expect(await client.buying(client.data("08000000001"))).toMatchObject({ kind: "unknown", reason: "status_502" });
    expect(await client.buying(client.data("08000000005"))).toMatchObject({ reason: "upstream_balance" });
    expect(await client.buying(client.data("123"))).toMatchObject({ kind: "refused", fields: ["phone_number"] });
    expect(await client.buying(client.data(SOME_PHONE, 999))).toMatchObject({ kind: "refused", fields: ["plan_id"] });
    expect(await client.checking(client.nin("12345678901"))).toMatchObject({
      kind: "found",
      upstreamAmountKobo: 150_00,
    });
    expect(await client.checking(client.nin("00000000001"))).toMatchObject({ kind: "no_record" });
    expect(await client.checking(client.nin("00000000002"))).toMatchObject({ kind: "refused", fields: ["nin"] });
    for (const idType of ["nin", "bvn"] as const)
      expect(await client.retrieving(idType)).toMatchObject({ kind: "found" });
    client.state.restricted = true;
    expect(await client.buying(client.airtime())).toMatchObject({ kind: "account_error", reason: "status_403" });
    const sent = client.state.purchases
      .filter(({ type }) => type !== "data")
      .map(({ reference }) => reference === null);
    expect(new Set(sent)).toEqual(new Set([references === "documented"]));
  },
);

test.each(["lenient", "strict", "sloppy"] as const)(
  "every plan of a %s upstream's catalog is usable",
  async (manner) => {
    const client = await aClient({ manner }, "documented");
    const answer = await client.catalog();
    if (answer.kind !== "answered") throw new Error("The catalog was not answered");
    const { data } = JSON.parse(answer.body);
    const { catalog, dropped } = usableCatalog(data);
    expect([catalog.networks.length, catalog.data_plans.length, dropped]).toEqual([4, 30, []]);
    expect(catalog.networks[0]).toEqual({ id: 1, name: "MTN", code: "mtn" });
    expect(catalog.data_plans[0]).toMatchObject({ id: 101, network_id: 1, price: 500 });
  },
);

test("a strict upstream refuses a reference that the document does not show, and the service leaves the order open", async () => {
  const client = await aClient({ manner: "strict" }, "all");
  expect((await client.buying(client.data())).kind).toBe("delivered");
  expect(await client.buying(client.airtime())).toMatchObject({ kind: "unknown", reason: "duplicate_reference" });
  expect(client.state.purchases.map(({ type }) => type)).toEqual(["data"]);
});

test("a strict upstream refuses unknown fields, wrong types, keys without their prefix and plain HTTP", async () => {
  const { buy, post } = await aSimulator({ manner: "strict", liveKey: [LIVE_KEY, "key_without_prefix"] });
  const airtime = { network: "mtn", phone_number: SOME_PHONE, amount: 100 };
  const check = { nin: "12345678901", is_consent: true, mode: "basic" };
  for (const [answer, field] of [
    [await buy({ note: "x" }), "note"],
    [await buy({ plan_id: "101" }), "plan_id"],
    [await post("/vtu/airtime/purchase", { ...airtime, amount: "100" }), "amount"],
    [await post("/vtu/airtime/purchase", { ...airtime, reference: "r-1" }), "reference"],
    [await post("/identity/nin/verify", { ...check, reference: "r-1" }), "reference"],
    [await post("/identity/nin/verify", { ...check, is_consent: "true" }), "is_consent"],
  ] as const) {
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([422, [field]]);
  }
  expect((await buy({}, { Authorization: "Bearer key_without_prefix" })).status).toBe(401);
  expect((await buy({}, { Authorization: `Bearer ${TEST_KEY}` })).status).toBe(200);
  expect((await buy({}, { "X-Forwarded-Proto": "http" })).status).toBe(400);
  expect((await buy({}, { "X-Forwarded-Proto": "https" })).status).toBe(200);
});

test("a sloppy upstream's answers and events differ from the document in each way that its name promises", async () => {
  const { webhook, received } = await aWebhook();
  const simulator = await aSimulator({ manner: "sloppy", webhook });
  const answerOf = async (phone_number: string) =>
    simulator.post("/vtu/airtime/purchase", { network: "MTN", phone_number, amount: 100 }).catch((error) => error);
  // The builder's schema requires a message.
  expect(String(await answerOf(SOME_PHONE))).toContain("message");
  expect(await answerOf("08000000005")).toMatchObject({ status: 200, body: { status: false } });
  const [order] = simulator.state.purchases;
  await simulator.control("POST", "/events", { reference: order?.upstreamReference, status: "success" });
  expect(JSON.parse(received[0]?.body ?? "")).toMatchObject({
    event: "TRANSACTION.UPDATED",
    id: "1",
    data: {
      status: "SUCCESS",
      type: "AIRTIME",
      amount: "100",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    },
  });
});
