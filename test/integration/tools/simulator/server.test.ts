import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import * as z from "#zod";
import { sleep } from "../../../../shared/platform/time.ts";
import { identityNumberOf, personOf } from "../../../../tools/simulator/people.ts";
import { startSimulator } from "../../../../tools/simulator/server.ts";
import { eventually } from "../../../builders/run/eventually.ts";
import {
  aSimulator,
  aWebhook,
  bodySchema,
  LIVE_KEY,
  SOME_PHONE,
  TEST_KEY,
} from "../../../builders/upstream/upstream-simulator.ts";

/** Goal: the simulator serves the upstream's interface and follows the magic values. */
test("the catalog lists 4 networks and 30 plans, and every plan belongs to one of the networks", async () => {
  const { get } = await aSimulator();
  const { status, body } = await get("/vtu/data");
  const plan = z.object({ id: z.int(), network_id: z.int().check(z.minimum(1), z.maximum(4)), price: z.number() });
  const { data } = z
    .object({ data: z.object({ networks: z.array(z.unknown()), data_plans: z.array(plan) }) })
    .parse(body);
  expect([status, data.networks.length, data.data_plans.length]).toEqual([200, 4, 30]);
  expect(data.data_plans).toContainEqual({ id: 101, network_id: 1, price: 500 });
});

test("a live data purchase of 500 NGN debits the wallet and is recorded with the live key", async () => {
  const { buy, state } = await aSimulator({ balanceKobo: 600_00 });
  const { status, body } = await buy({ reference: "r-1" });
  expect(status).toBe(200);
  expect(body.data?.transaction).toMatchObject({
    status: "success",
    amount: 500,
    reference: expect.stringMatching(/^DATA_/),
  });
  expect(state.balanceKobo).toBe(100_00);
  expect(state.purchases).toMatchObject([
    {
      path: "/vtu/data/purchase",
      reference: "r-1",
      mode: "live",
      keyUsed: LIVE_KEY,
      amountKobo: 500_00,
      status: "success",
    },
  ]);
  expect((await buy()).body.message).toMatch(/Insufficient/);
});

test("a test purchase gets a TEST_ reference and debits nothing, even from an empty wallet", async () => {
  const { buy, state } = await aSimulator({ balanceKobo: 0 });
  const { body } = await buy({}, { Authorization: `Bearer ${TEST_KEY}` });
  expect(body.data?.transaction?.reference).toMatch(/^TEST_/);
  expect(state.balanceKobo).toBe(0);
});

test("airtime of 50.25 NGN costs 5,025 kobo, and the case of the network code does not matter", async () => {
  const { post, state } = await aSimulator();
  const { body } = await post("/vtu/airtime/purchase", { network: "Mtn", phone_number: SOME_PHONE, amount: 50.25 });
  expect(body.data?.transaction).toMatchObject({ amount: 50.25, reference: expect.stringMatching(/^AIRTIME_/) });
  expect(state.purchases[0]?.amountKobo).toBe(50_25);
});

test.for([
  ["0", 200, "success", 500],
  ["1", 502, "failed", 0],
  ["2", 200, "processing", 500],
  ["3", 200, "processing", 500],
  ["4", 200, "processing", 500],
  ["5", 400, "refused", 0],
  ["6", 503, "refused", 0],
  ["8", 200, "success", 500],
] as const)(
  "a purchase for 0800000000%s is answered with %i and its order is %s",
  async ([digit, status, order, spent]) => {
    const { buy, state } = await aSimulator({ balanceKobo: 1_000_00, delayedOutcomeMs: 10_000 });
    const answer = await buy({ phone_number: `0800000000${digit}` });
    expect(answer.status).toBe(status);
    expect(answer.body.status).toBe(status === 200);
    expect(state.purchases.map((purchase) => purchase.status)).toEqual(order === "refused" ? [] : [order]);
    expect(state.balanceKobo).toBe(1_000_00 - spent * 100);
  },
);

test("a purchase for 08000000007 is accepted, and its connection is closed after stallMs without a response", async () => {
  const { buy, state } = await aSimulator();
  const startMs = Date.now();
  await expect(buy({ phone_number: "08000000007" })).rejects.toThrow("fetch failed");
  expect(Date.now() - startMs).toBeGreaterThanOrEqual(55);
  expect(state.purchases).toMatchObject([{ status: "processing" }]);
});

test.for([
  ["08000000002", "success", 1, 500],
  ["08000000003", "failed", 1, 1_000],
  ["08000000004", "processing", 0, 500],
  ["08000000008", "success", 2, 500],
] as const)("the order for %s settles as %s and sends %i signed events", async ([phone, end, events, balance]) => {
  const { received, webhook } = await aWebhook();
  const { buy, state } = await aSimulator({ webhook, balanceKobo: 1_000_00 });
  const { body } = await buy({ phone_number: phone });
  await eventually(() => expect(received.length).toBe(events));
  await sleep(60);
  expect(received.length).toBe(events);
  expect([state.purchases[0]?.status, state.balanceKobo]).toEqual([end, balance * 100]);
  for (const event of received) {
    expect(event.signature).toBe(createHmac("sha256", "s3cret").update(event.body).digest("hex"));
    expect(JSON.parse(event.body)).toEqual({
      event: "transaction.updated",
      data: {
        ...{ reference: body.data?.transaction?.reference, status: end, amount: 500, type: "data" },
        ...{ network: "MTN", phone_number: phone, created_at: state.purchases[0]?.at },
      },
    });
  }
});

test("without a webhook a delayed order settles and no event is sent", async () => {
  const { buy, state } = await aSimulator();
  await buy({ phone_number: "08000000002" });
  await eventually(() => expect(state.purchases[0]?.status).toBe("success"));
  expect(state.deliveries).toEqual([]);
});

test.for([
  ["0", 200, "success"],
  ["1", 404, "failed"],
  ["2", 422, "refused"],
  ["3", 503, "refused"],
  ["4", 200, "success"],
  ["5", 400, "refused"],
] as const)(
  "an identity number that ends in %s is answered with %i by nin, bvn and phone number alike",
  async ([digit, status, order]) => {
    const { post, state } = await aSimulator({ balanceKobo: 1_000_00 });
    const zeros = `0000000000${digit}`;
    for (const [path, fields] of [
      ["/identity/nin/verify", { nin: zeros }],
      ["/identity/bvn/verify", { bvn: zeros }],
      ["/identity/nin/retrieve", { phone_number: `0800000000${digit}` }],
      ["/identity/bvn/retrieve", { phone_number: `0800000000${digit}` }],
    ] as const) {
      const answer = await post(path, { ...fields, is_consent: true });
      expect(answer.status, path).toBe(status);
      if (status === 422) expect(Object.keys(answer.body.errors ?? {})).toEqual(Object.keys(fields));
    }
    expect(state.purchases.map((purchase) => purchase.status)).toEqual(order === "refused" ? [] : Array(4).fill(order));
    // 150 + 100 for the verifications, 400 + 300 for the retrievals; all refunded if no record is found.
    expect(state.balanceKobo).toBe(order === "success" ? 50_00 : 1_000_00);
  },
);

test("an identity number that ends in 6 gets no response", async () => {
  const { check } = await aSimulator();
  await expect(check("00000000006")).rejects.toThrow("fetch failed");
});

test("a minimal record has names and nothing else", async () => {
  const { check } = await aSimulator();
  const { body } = await check("00000000004", { mode: "advanced" });
  expect(Object.keys(body.data?.result ?? {})).toEqual(["first_name", "last_name"]);
});

test("the last digit of an identity number selects one of four formats of the record", async () => {
  const { check } = await aSimulator();
  const recordFor = async (nin: string) => {
    const { body } = await check(nin, { mode: "advanced" });
    return { person: personOf(nin), result: body.data?.result ?? {} };
  };
  const documented = await recordFor("12345678970");
  const { enrollment_bank, registration_date, watch_listed, ...ninFields } = documented.person;
  expect(documented.result).toEqual({ nin: "12345678970", ...ninFields });

  const camel = await recordFor("12345678971");
  expect(camel.result).toMatchObject({
    firstName: camel.person.first_name,
    surname: camel.person.last_name,
    birthdate: camel.person.date_of_birth.split("-").reverse().join("-"),
    gender: camel.person.gender.toLowerCase(),
    photo: `data:image/jpeg;base64,${camel.person.photo}`,
    maritalStatus: camel.person.marital_status,
  });

  const inWords = await recordFor("12345678972");
  expect(inWords.result).toMatchObject({ firstname: inWords.person.first_name, surname: inWords.person.last_name });
  expect(inWords.result.dateOfBirth).toMatch(/^\d\d-[A-Z][a-z]+-\d{4}$/);
  expect(new Date(`${inWords.result.dateOfBirth} UTC`).toISOString().slice(0, 10)).toBe(inWords.person.date_of_birth);
  expect(inWords.result.gender).toMatch(/^(Female|Male)$/);

  const timestamped = await recordFor("12345678973");
  const lagosMidnight = Date.parse(timestamped.result.date_of_birth ?? "") + 3_600_000;
  expect(new Date(lagosMidnight).toISOString()).toBe(`${timestamped.person.date_of_birth}T00:00:00.000Z`);
});

test("a NIN retrieved by phone number verifies as the same person, with a photo only in advanced mode", async () => {
  const { post, check } = await aSimulator();
  const found = await post("/identity/nin/retrieve", { phone_number: "08031234560", is_consent: true });
  const nin = found.body.data?.result?.nin ?? "";
  expect(nin).toBe(identityNumberOf("nin", "08031234560"));
  expect(found.body.data?.transaction).toMatchObject({
    title: "NIN Retrieval",
    reference: expect.stringMatching(/^RETRIEVE_/),
  });
  const verified = await check(nin);
  expect(verified.body.data?.transaction).toMatchObject({ title: "NIN Verification", amount: 150 });
  expect(found.body.data?.result).toMatchObject(verified.body.data?.result ?? {});
  expect(verified.body.data?.result).not.toHaveProperty("photo");
});

test.for([
  ["no phone number", { phone_number: undefined }, 400, "phone_number"],
  ["a phone number of 10 digits", { phone_number: "0803123456" }, 422, "phone_number"],
  ["a phone number with a foreign prefix", { phone_number: "+2348031234567" }, 422, "phone_number"],
  ["a plan of another network", { plan_id: 201 }, 422, "plan_id"],
  ["an unknown plan", { plan_id: 999 }, 422, "plan_id"],
  ["an unknown network", { network_id: 9 }, 422, "network_id"],
  ["a network id as text", { network_id: "1" }, 422, "network_id"],
  ["a reference that is a number", { reference: 7 }, 422, "reference"],
] as const)(
  "a data purchase with %s is rejected with an error that names the field",
  async ([, changes, status, field]) => {
    const { buy, state } = await aSimulator();
    const answer = await buy(changes);
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([status, [field]]);
    expect(state.purchases).toEqual([]);
  },
);

test("a duplicate reference in the same mode is answered with 422 and places no order", async () => {
  const { buy, check, state } = await aSimulator();
  await buy({ reference: "r-1", phone_number: "08000000001" });
  for (const duplicate of [await buy({ reference: "r-1" }), await check("12345678901", { reference: "r-1" })]) {
    expect([duplicate.status, Object.keys(duplicate.body.errors ?? {})]).toEqual([422, ["reference"]]);
  }
  expect((await buy({ reference: "r-1" }, { Authorization: `Bearer ${TEST_KEY}` })).status).toBe(200);
  expect(state.purchases.length).toBe(2);
  expect(state.requests.map(({ outcome }) => outcome)).toEqual([
    "failed",
    "duplicate_reference",
    "duplicate_reference",
    "success",
  ]);
});

test("invalid JSON, an array, an empty body, a body over 1 MiB and another content type are answered with 400", async () => {
  const { post } = await aSimulator();
  for (const body of ["{", "[]", "", JSON.stringify({ pad: "x".repeat(1_048_576) })]) {
    const answer = await post("/vtu/data/purchase", body);
    expect([answer.status, answer.headers.get("x-ratelimit-limit")]).toEqual([400, "60"]);
  }
  expect((await post("/vtu/data/purchase", {}, { "Content-Type": "text/plain" })).status).toBe(400);
});

test("an unknown path or method is answered with 404 in the error envelope, with the catalog's rate limit", async () => {
  const { get } = await aSimulator();
  for (const path of ["/vtu/none", "/vtu/data/purchase", "/../elsewhere", "/transactions/%E0%A4%A"]) {
    const { status, headers, body } = await get(path);
    expect([status, headers.get("x-ratelimit-limit")]).toEqual([404, "120"]);
    expect(bodySchema.parse(body).status).toBe(false);
  }
});

test("either header carries the key; no key, an invalid key and an address that is not whitelisted are rejected", async () => {
  const { get, state } = await aSimulator();
  const statuses = async (...all: Record<string, string>[]) =>
    Promise.all(all.map(async (headers) => (await get("/vtu/data", headers)).status));
  const bearer = { Authorization: `Bearer ${TEST_KEY}` };
  expect(await statuses(bearer, { "X-API-KEY": LIVE_KEY }, {}, { "X-API-KEY": "live_" })).toEqual([200, 200, 401, 401]);
  state.whitelist = ["203.0.113.9"];
  const refused = await get("/vtu/data");
  expect([refused.status, refused.headers.get("x-ratelimit-remaining")]).toEqual([403, "120"]);
  state.whitelist = ["127.0.0.1"];
  state.restricted = true;
  expect(await statuses(bearer, {})).toEqual([403, 401]);
});

test("stopping the simulator closes its connections at once and waits for no timer", async () => {
  const simulator = await startSimulator({ liveKey: LIVE_KEY });
  const waiting = fetch(`${simulator.baseUrl}/identity/nin/verify`, {
    ...{ method: "POST", headers: { "X-API-KEY": LIVE_KEY } },
    body: JSON.stringify({ nin: "00000000006", is_consent: true }),
  });
  const refused = expect(waiting).rejects.toThrow("fetch failed");
  await eventually(() => expect(simulator.state.purchases.length).toBe(1));
  await simulator.stop();
  await refused;
});
