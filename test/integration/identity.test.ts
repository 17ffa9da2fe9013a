import { GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import type { Fault } from "../../infra/local/simulator/faults.ts";
import { identityNumberOf, personOf } from "../../infra/local/simulator/people.ts";
import { tableNames } from "../../infra/local/tables.ts";
import { verifyNin } from "../../shared/identity/check-identity.ts";
import { parseIdentityPrices } from "../../shared/identity/prices.ts";
import { apiEvent } from "../../shared/platform/api-request.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import type { Provider } from "../../shared/upstream/provider.ts";
import { readTransaction } from "../../shared/wallet/lookup.ts";
import { namingFrom } from "../../shared/wallet/naming.ts";
import { settleTransaction, type Verdict } from "../../shared/wallet/settle.ts";
import { pkOfReference } from "../../shared/wallet/transaction.ts";
import { anApiEvent } from "../builders/api-event.ts";
import { aNinCheck, aRetrieval, checkOf, identityProducts, identityRoutes } from "../builders/identity.ts";
import { type Answer, anOrder, BUY_DATA, startTestService, type TestService } from "../builders/service.ts";
import { emulatorClient } from "../builders/tables.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => {
  service.simulator.state.faults.clear();
  service.proxy.fault = () => undefined;
});
afterAll(() => service.stop());

const VERIFY_NIN = "/identity/nin/verify";
const FUNDS = 1_000;
const takenBack: Verdict = { status: "failed", failure: { code: "provider_unavailable" } };
const PRICES = JSON.stringify({
  nin: { basic: 150, advanced: 250, retrieve: 400 },
  bvn: { basic: 100, advanced: 200, retrieve: 300 },
});

const requestCount = (): number => service.simulator.state.requests.length;

const pkOf = (answer: Answer): string => pkOfReference(answer.headers.get("x-transaction-reference") ?? "") ?? "none";

const itemOf = async (table: keyof typeof tableNames, pk: string) =>
  (await service.db.send(new GetCommand({ TableName: tableNames[table], Key: { pk } }))).Item;

const replayItemOf = (answer: Answer) => itemOf("cache", `replay#${pkOf(answer)}`);

const customJson = (status: number, body: unknown): Fault => ({
  kind: "custom",
  path: "/identity",
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const refusal = (status: number, message = "No", errors?: Record<string, string[]>): Fault =>
  customJson(status, { status: false, message, ...(errors && { errors }) });
const upstreamTransaction = { title: "NIN Verification", amount: 100, reference: "VERIFY_UP", status: "success" };
/** The upstream finds this record. */
const finding = (result: unknown, transaction: unknown = upstreamTransaction): Fault =>
  customJson(200, { status: true, message: "ok", data: { transaction, result } });

/** Verifies a NIN once under the fault, with 1,000 NGN in the wallet. */
const verifyUnder = async (fault: Fault, changes: Readonly<Record<string, unknown>> = {}) => {
  const caller = await service.newCaller({ naira: FUNDS });
  service.simulator.state.faults.add(fault);
  const body = aNinCheck(changes);
  const answer = await service.call("POST", VERIFY_NIN, { key: caller.key, body });
  service.simulator.state.faults.clear();
  const repeat = () => service.call("POST", VERIFY_NIN, { key: caller.key, body });
  return { caller, answer, repeat };
};

describe("a live check that finds a record", () => {
  test.each(identityProducts)("$name costs $naira NGN and is named as documented", async (product) => {
    const caller = await service.newCaller({ naira: FUNDS });
    const before = requestCount();
    const answer = await service.call("POST", product.path, { key: caller.key, body: product.body });
    expect(answer.status).toBe(200);
    const { transaction, result } = checkOf(answer);
    expect(transaction).toEqual({
      title: product.title,
      amount: product.naira,
      reference: expect.stringMatching(new RegExp(`^${product.prefix}[0-9A-Z]{26}$`)),
      status: "success",
    });
    expect(result).not.toBeNull();
    expect(answer.headers.get("x-transaction-reference")).toBe(transaction.reference);
    expect(await caller.balance()).toBe(FUNDS - product.naira);
    expect(requestCount()).toBe(before + 1);

    const found = await service.call("GET", `/transactions/${transaction.reference}`, { key: caller.key });
    expect(found.body.data).toMatchObject({
      transaction: { type: product.type, status: "success", amount: product.naira, phone_number: null },
    });
  });

  const five = ["first_name", "last_name", "middle_name", "gender", "date_of_birth"] as const;
  const advanced = [
    ...five,
    "photo",
    "phone_number",
    "email",
    "title",
    "marital_status",
    "nationality",
    "residential_address",
    "state_of_origin",
    "lga_of_origin",
  ] as const;
  const fieldsOf: Readonly<Record<string, readonly string[]>> = {
    "a basic NIN verification": five,
    "an advanced NIN verification": ["nin", ...advanced],
    "a NIN retrieval": ["nin", ...five, "phone_number"],
    "a basic BVN verification": [...five, "phone_number"],
    "an advanced BVN verification": ["bvn", ...advanced, "enrollment_bank", "registration_date", "watch_listed"],
    "a BVN retrieval": ["bvn", ...five, "phone_number"],
  };

  /** What the answer must say about whoever has this number. */
  const truthAbout = (product: (typeof identityProducts)[number], subject: string): Record<string, unknown> => {
    const kind = product.path.includes("nin") ? "nin" : "bvn";
    const number = product.field === "phone_number" ? identityNumberOf(kind, subject) : subject;
    const truth = { ...personOf(subject), watch_listed: false, [kind]: number };
    return Object.fromEntries(Object.entries(truth).filter(([name]) => (fieldsOf[product.name] ?? []).includes(name)));
  };

  test.each(identityProducts)(
    "$name answers exactly its fields, the same for each of the four ways in which upstreams spell them",
    async (product) => {
      const caller = await service.newCaller({ naira: 10_000 });
      const template = product.field === "phone_number" ? "0803123456" : "5234567890";
      for (const spelling of ["0", "1", "2", "3"]) {
        const subject = `${template}${spelling}`;
        const body = { ...product.body, [product.field]: subject };
        const answer = await service.call("POST", product.path, { key: caller.key, body });
        const { result } = checkOf(answer);
        expect(result, subject).toEqual(truthAbout(product, subject));
        expect(new Set(Object.keys(result ?? {}))).toEqual(new Set(fieldsOf[product.name]));
      }
    },
  );

  test.each(identityProducts)("$name of a record that holds only a name answers null for the rest", async (product) => {
    const caller = await service.newCaller({ naira: FUNDS });
    service.simulator.state.faults.add(finding({ first_name: "Ngozi" }));
    const answer = await service.call("POST", product.path, { key: caller.key, body: product.body });
    const { result } = checkOf(answer);
    const known = { first_name: "Ngozi", ...product.body };
    const expected = (fieldsOf[product.name] ?? []).map((name): [string, unknown] => [
      name,
      Object.entries(known).find(([key]) => key === name)?.[1] ?? null,
    ]);
    expect(result).toEqual(Object.fromEntries(expected));
  });

  test("fields beyond ours are passed on in advanced mode, and held back in basic mode", async () => {
    const record = { first_name: "Ngozi", religion: "none", nested: { deep: [1, true, null] } };
    const { answer } = await verifyUnder(finding(record), { mode: "advanced" });
    expect(checkOf(answer).result).toMatchObject({ religion: "none", nested: { deep: [1, true, null] } });
    const basic = await verifyUnder(finding(record));
    expect(new Set(Object.keys(checkOf(basic.answer).result ?? {}))).toEqual(new Set(five));
  });

  test("a BVN that the upstream sends with an advanced NIN record is passed on too", async () => {
    const record = { first_name: "Ngozi", bvn: "22222222222", enrollment_bank: "Mock Bank" };
    const { answer } = await verifyUnder(finding(record), { mode: "advanced" });
    expect(checkOf(answer).result).toMatchObject({ bvn: "22222222222", enrollment_bank: "Mock Bank" });
  });

  test("a record counts although the upstream's own transaction is still processing", async () => {
    const processing = { ...upstreamTransaction, status: "processing" };
    const { caller, answer } = await verifyUnder(finding({ first_name: "Ngozi" }, processing));
    expect(checkOf(answer)).toMatchObject({ transaction: { status: "success" }, result: { first_name: "Ngozi" } });
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("mode is read in any case and is basic when absent; the upstream gets it in lower case", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const amounts: number[] = [];
    for (const mode of [undefined, "basic", "BASIC", "ADVANCED", "Advanced"]) {
      const answer = await service.call("POST", VERIFY_NIN, { key: caller.key, body: aNinCheck({ mode }) });
      amounts.push(checkOf(answer).transaction.amount);
    }
    expect(amounts).toEqual([150, 150, 150, 250, 250]);
    const sent = service.simulator.state.requests
      .slice(-5)
      .map(({ body }) => z.object({ mode: z.string() }).parse(body));
    expect(sent.map(({ mode }) => mode)).toEqual(["basic", "basic", "basic", "advanced", "advanced"]);
  });

  test("the upstream is told our reference and the consent, and nothing of the purpose", async () => {
    const caller = await service.newCaller();
    const body = aNinCheck({ purpose: "loan 77", reference: "mine-77" });
    const answer = await service.call("POST", VERIFY_NIN, { key: caller.key, body });
    expect(service.simulator.state.requests.at(-1)?.body).toEqual({
      nin: body.nin,
      mode: "basic",
      is_consent: true,
      reference: checkOf(answer).transaction.reference,
    });
  });

  test("an advanced result of 5 MB arrives whole and is charged", async () => {
    const photo = "A".repeat(5_000_000);
    const { caller, answer } = await verifyUnder(finding({ first_name: "Ngozi", photo }), { mode: "advanced" });
    expect(answer.status).toBe(200);
    expect(checkOf(answer).result?.photo === photo).toBe(true);
    expect(await caller.balance()).toBe(FUNDS - 250);
  });
});

describe("a live check without a result is refunded", () => {
  const outcomes: readonly (readonly [string, Fault, number, string])[] = [
    ["404 in the envelope", refusal(404, "No record was found."), 404, "record_not_found"],
    ["200 with status false that speaks of no record", refusal(200, "NIN record not found"), 404, "record_not_found"],
    ["404 that is no envelope", { kind: "custom", status: 404, body: "<html></html>" }, 503, "provider_unavailable"],
    ["500", { kind: "status", status: 500 }, 503, "provider_unavailable"],
    ["502", { kind: "status", status: 502 }, 503, "provider_unavailable"],
    ["503", { kind: "status", status: 503 }, 503, "provider_unavailable"],
    ["504 of the upstream itself", { kind: "status", status: 504 }, 503, "provider_unavailable"],
    ["202", customJson(202, { status: true, message: "later" }), 503, "provider_unavailable"],
    ["302", { kind: "custom", status: 302, headers: { location: "/v1" }, body: "" }, 503, "provider_unavailable"],
    ["HTML", { kind: "html" }, 503, "provider_unavailable"],
    ["an empty body", { kind: "empty" }, 503, "provider_unavailable"],
    ["a socket dropped before the request was read", { kind: "drop_before_reading" }, 503, "provider_unavailable"],
    ["a socket dropped after it was carried out", { kind: "drop_after_order" }, 503, "provider_unavailable"],
    ["401", { kind: "unauthorized" }, 503, "provider_unavailable"],
    ["403", refusal(403, "Your address"), 503, "provider_unavailable"],
    ["429, and again 429", { kind: "rate_limited", retryAfterS: 0 }, 503, "provider_unavailable"],
    ["our balance there is empty", refusal(400, "Insufficient wallet balance."), 503, "provider_unavailable"],
    ["400", refusal(400), 503, "provider_unavailable"],
    ["422 about the nin", refusal(422, "Bad", { nin: ["Their secret words"] }), 422, "validation_failed"],
    ["422 about something else", refusal(422, "Bad", { channel: ["No"] }), 503, "provider_unavailable"],
    ["422 about the reference", refusal(422, "Bad", { reference: ["Taken"] }), 503, "provider_unavailable"],
    ["200 without a result", finding(undefined), 503, "provider_unavailable"],
    ["200 with a list as its result", finding([{ first_name: "Ngozi" }]), 503, "provider_unavailable"],
    ["200 with an empty result", finding({}), 503, "provider_unavailable"],
    ["200 with nothing but the number", finding({ nin: "12345678900" }), 503, "provider_unavailable"],
    [
      "200 with a result whose transaction failed",
      finding({ first_name: "Ngozi" }, { ...upstreamTransaction, status: "failed" }),
      503,
      "provider_unavailable",
    ],
    [
      "200 with a result and status false",
      customJson(200, { status: false, message: "No", data: { result: { first_name: "Ngozi" } } }),
      503,
      "provider_unavailable",
    ],
    ["more than the 5.5 MB that we can pass on", { kind: "huge", bytes: 6_000_000 }, 503, "provider_unavailable"],
  ];
  test.each(outcomes)("%s", async (_name, fault, status, code) => {
    const { caller, answer, repeat } = await verifyUnder({ ...fault, path: VERIFY_NIN }, { reference: "once" });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-error-code")).toBe(code);
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(answer.headers.get("x-transaction-reference")).toMatch(/^VERIFY_/);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(status === 422 ? ["nin"] : []);
    expect(JSON.stringify(answer.body)).not.toMatch(/secret|Ngozi|insufficient|address/i);
    expect(await caller.balance()).toBe(FUNDS);
    const row = await readTransaction(service.ledger, pkOf(answer));
    expect(row).toMatchObject({ status: "failed", failure: { code } });
    expect(row?.open).toBeUndefined();
    expect(await replayItemOf(answer)).toBeUndefined();

    const asked = requestCount();
    const again = await repeat();
    expect(again.status).toBe(status);
    expect(again.body).toEqual(answer.body);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(requestCount()).toBe(asked);
    expect(await caller.balance()).toBe(FUNDS);
  });

  test("a field that a NIN check does not have is not blamed on the caller", async () => {
    const { answer } = await verifyUnder(refusal(422, "Bad", { bvn: ["No"], network: ["No"] }));
    expect(answer.status).toBe(503);
    expect(answer.body.errors).toBeUndefined();
  });

  test("a refund that comes while the upstream is still searching lets no result leave", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    service.simulator.state.faults.add({ kind: "delay", path: VERIFY_NIN, delayMs: 800, times: 1 });
    const body = aNinCheck({ reference: "overtaken" });
    const pending = service.call("POST", VERIFY_NIN, { key: caller.key, body });
    await expect.poll(() => rowUnder(caller.key, "overtaken"), { timeout: 700, interval: 20 }).toBeDefined();
    const row = await rowUnder(caller.key, "overtaken");
    if (row === undefined) throw new Error("The transaction is gone");
    await settleTransaction(service.ledger, row, takenBack, deadlineIn(5_000));

    const answer = await pending;
    expect(answer.status).toBe(503);
    expect(answer.headers.get("x-error-code")).toBe("provider_unavailable");
    expect(answer.body.data).toBeUndefined();
    expect(await caller.balance()).toBe(FUNDS);
    const again = await service.call("POST", VERIFY_NIN, { key: caller.key, body });
    expect(again.body).toEqual(answer.body);
  });

  test("a result whose settling write is not known in time is handed over as processing, and the queue is told to charge it", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const queued: Verdict[] = [];
    const naming = namingFrom({ value: async () => "k".repeat(32), refetch: async () => "k".repeat(32) });
    const found: Provider = {
      assertReady: async () => {},
      buy: async () => ({ kind: "delivered" }),
      check: async () => ({ kind: "found", record: { first_name: "Ngozi" } }),
    };
    service.proxy.fault = ({ operation, body }) =>
      operation === "UpdateItem" && body.includes("transaction#") ? "never_arrives" : undefined;
    const answer = await verifyNin({
      ledger: { ...service.ledger, db: emulatorClient(service.proxy.endpoint) },
      naming,
      statusQueue: {
        send: async (message) => {
          if (message.kind === "verdict") queued.push(message.verdict);
        },
      },
      purchases: "on",
      providers: { live: found, test: found },
      prices: parseIdentityPrices(PRICES),
      replays: { keep: async () => {}, find: async () => undefined },
    })({
      input: { nin: "12345678900", mode: "basic" },
      caller: { accountId: caller.accountId, keyId: "key_1", mode: "live" },
      request: apiEvent.parse(anApiEvent()),
      deadline: deadlineIn(4_000),
    });
    service.proxy.fault = () => undefined;
    expect(answer.data).toMatchObject({ transaction: { status: "processing" }, result: { first_name: "Ngozi" } });
    expect(queued).toMatchObject([{ status: "success" }]);
    const row = await readTransaction(service.ledger, pkOfReference(answer.data.transaction.reference) ?? "none");
    if (row === undefined) throw new Error("The transaction is gone");
    for (const verdict of queued) await settleTransaction(service.ledger, row, verdict, deadlineIn(5_000));
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("a wallet that is one kobo short is refused before anything is sent", async () => {
    const caller = await service.newCaller({ naira: 149.99 });
    const before = requestCount();
    const answer = await service.call("POST", VERIFY_NIN, { key: caller.key, body: aNinCheck() });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("x-error-code")).toBe("insufficient_balance");
    expect(answer.headers.get("x-transaction-reference")).toBeNull();
    expect(answer.body.errors).toBeUndefined();
    expect(await caller.balance()).toBe(149.99);
    expect(requestCount()).toBe(before);
  });
});

const rowUnder = async (key: string, reference: string) => {
  const found = await service.call("GET", `/transactions/${reference}`, { key });
  return found.status === 200 ? readTransaction(service.ledger, pkOf(found)) : undefined;
};

/** Sends what must be refused and sees that it had no effect at all. */
const refused = async (
  path: string,
  body: unknown,
  options: { readonly key?: string; readonly headers?: Record<string, string> } = {},
) => {
  const caller = await service.newCaller({ naira: FUNDS });
  const before = requestCount();
  const answer = await service.call("POST", path, { key: caller.key, body, ...options });
  expect(await caller.balance()).toBe(FUNDS);
  expect(requestCount()).toBe(before);
  expect(answer.headers.get("x-transaction-reference")).toBeNull();
  return answer;
};

describe("consent that is not given: nothing is charged and nothing is sent", () => {
  test.each(identityRoutes)("absent from $path: 400 consent_required", async ({ path, body }) => {
    const answer = await refused(path, { ...body, is_consent: undefined });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("x-error-code")).toBe("consent_required");
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["is_consent"]);
  });

  const values: readonly unknown[] = [false, "true", 1, null, "yes", [], {}];
  const cases = identityRoutes.flatMap(({ path, body }) => values.map((value) => ({ path, body, value })));
  test.each(cases)("$value at $path: 422 in errors.is_consent", async ({ path, body, value }) => {
    const answer = await refused(path, { ...body, is_consent: value });
    expect(answer.status).toBe(422);
    expect(answer.headers.get("x-error-code")).toBe("validation_failed");
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["is_consent"]);
  });
});

describe("a check that cannot be made: nothing is charged and nothing is sent", () => {
  const numbers: readonly (readonly [string, unknown])[] = [
    ["10 digits", "1234567890"],
    ["12 digits", "123456789012"],
    ["a letter", "1234567890a"],
    ["a number instead of text", 12_345_678_901],
    ["a space", "12345 67890"],
    ["a trailing newline", "12345678901\n"],
    ["Arabic digits", "١٢٣٤٥٦٧٨٩٠١"],
    ["null", null],
    ["nothing in it", ""],
  ];
  const subjects = identityRoutes.filter(({ field }) => field !== "phone_number");
  const cases = subjects.flatMap((route) => numbers.map(([what, value]) => ({ ...route, what, value })));
  test.each(cases)("a $field with $what is 422 on it", async ({ path, body, field, value }) => {
    const answer = await refused(path, { ...body, [field]: value });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {})).toEqual([field]);
  });

  test("a virtual NIN of 16 characters gets a message of its own", async () => {
    const virtual = await refused(VERIFY_NIN, aNinCheck({ nin: "AB012345678910YZ" }));
    const short = await refused(VERIFY_NIN, aNinCheck({ nin: "1234567890" }));
    expect(virtual.status).toBe(422);
    expect(virtual.body.errors?.nin?.join()).toMatch(/virtual/i);
    expect(short.body.errors?.nin?.join()).not.toMatch(/virtual/i);
  });

  test.each([["full"], [null], [1], [""], [" basic"]])("mode %j is 422 on mode", async (mode) => {
    const answer = await refused(VERIFY_NIN, aNinCheck({ mode }));
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["mode"]);
  });

  test.each(identityRoutes)("$path without its number is 400 missing_parameter", async ({ path, body, field }) => {
    const answer = await refused(path, { ...body, [field]: undefined });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("x-error-code")).toBe("missing_parameter");
    expect(Object.keys(answer.body.errors ?? {})).toEqual([field]);
  });

  test.each([["+2348031234567"], ["0803123456"], ["08231234567"]])("retrieval by %s is 422", async (phone_number) => {
    const answer = await refused("/identity/nin/retrieve", aRetrieval({ phone_number }));
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["phone_number"]);
  });

  test("a purpose of 101 characters is 422 on purpose", async () => {
    const answer = await refused(VERIFY_NIN, aNinCheck({ purpose: "p".repeat(101) }));
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["purpose"]);
  });

  test("a reference and another Idempotency-Key are 422 on reference", async () => {
    const answer = await refused(VERIFY_NIN, aNinCheck({ reference: "one" }), {
      headers: { "Idempotency-Key": "two" },
    });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(["reference"]);
  });

  test.each(["/identity/nin/retrieve", "/identity/bvn/retrieve"])(
    "%s with a key that lacks identity:retrieve is 403 permission_denied",
    async (path) => {
      const caller = await service.newCaller({ naira: FUNDS });
      const key = await caller.newKey({ permissions: ["vtu", "identity"] });
      const before = requestCount();
      const answer = await service.call("POST", path, { key, body: aRetrieval() });
      expect(answer.status).toBe(403);
      expect(answer.headers.get("x-error-code")).toBe("permission_denied");
      expect(await caller.balance()).toBe(FUNDS);
      expect(requestCount()).toBe(before);
      const verified = await service.call("POST", VERIFY_NIN, { key, body: aNinCheck() });
      expect(verified.status).toBe(200);
    },
  );
});

describe("the consent record", () => {
  const consentOf = (answer: Answer) => itemOf("ledger", `consent#${pkOf(answer)}`);

  test.each(["live", "test"] as const)("of a %s check says who asked for whom, and not the number", async (mode) => {
    const caller = await service.newCaller();
    const key = await caller.newKey({ mode });
    const body = aNinCheck({ mode: "advanced", purpose: "account opening" });
    const answer = await service.call("POST", VERIFY_NIN, { key, body });
    const record = await consentOf(answer);
    expect(record).toEqual({
      pk: `consent#${pkOf(answer)}`,
      account_id: caller.accountId,
      key_id: expect.stringMatching(/^key_/),
      mode,
      subject: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      operation: "nin_verification",
      extent: "advanced",
      purpose: "account opening",
      request_id: answer.headers.get("x-request-id"),
      created_at: expect.any(String),
    });
    expect(JSON.stringify(record)).not.toContain(body.nin);
  });

  test("names the same person the same way in every request, and another person otherwise", async () => {
    const { key } = await service.newCaller();
    const subjects: unknown[] = [];
    for (const nin of ["12345678900", "12345678900", "12345678901"]) {
      const answer = await service.call("POST", VERIFY_NIN, { key, body: aNinCheck({ nin }) });
      subjects.push((await consentOf(answer))?.subject);
    }
    const bvn = await service.call("POST", "/identity/bvn/verify", {
      key,
      body: { bvn: "12345678900", is_consent: true },
    });
    subjects.push((await consentOf(bvn))?.subject);
    expect(subjects[0]).toBe(subjects[1]);
    expect(new Set(subjects).size).toBe(3);
  });

  test("stays when the check found nobody", async () => {
    const { answer } = await verifyUnder(refusal(404, "No record"));
    expect(await consentOf(answer)).toMatchObject({ operation: "nin_verification", extent: "basic" });
  });

  test("is not written when the wallet cannot pay", async () => {
    const caller = await service.newCaller({ naira: 10 });
    const writes = service.proxy.calls.length;
    const answer = await service.call("POST", VERIFY_NIN, {
      key: caller.key,
      body: aNinCheck({ reference: "too-poor" }),
    });
    expect(answer.headers.get("x-error-code")).toBe("insufficient_balance");
    const operations = service.proxy.calls.slice(writes).map(({ operation }) => operation);
    // The debit, the transaction and the record are one write: nothing else could have left the record behind.
    expect(operations).toEqual(["UpdateItem", "TransactWriteItems"]);
    expect(await rowUnder(caller.key, "too-poor")).toBeUndefined();
  });
});

describe("the same reference again", () => {
  const first = async (changes: Readonly<Record<string, unknown>> = {}) => {
    const caller = await service.newCaller({ naira: FUNDS });
    const body = aNinCheck({ reference: "again", ...changes });
    const send = (also: Readonly<Record<string, unknown>> = {}) =>
      service.call("POST", VERIFY_NIN, { key: caller.key, body: { ...body, ...also } });
    return { caller, send, answer: await send() };
  };

  test.each(identityProducts)(
    "$name gives the same result, marked as replayed, once charged and once asked",
    async (product) => {
      const caller = await service.newCaller({ naira: FUNDS });
      const request = { key: caller.key, body: { ...product.body, reference: "again" } };
      const one = await service.call("POST", product.path, request);
      const asked = requestCount();
      const two = await service.call("POST", product.path, request);
      expect(two.status).toBe(200);
      expect(two.body).toEqual(one.body);
      expect(one.headers.get("idempotent-replayed")).toBeNull();
      expect(two.headers.get("idempotent-replayed")).toBe("true");
      expect(requestCount()).toBe(asked);
      expect(await caller.balance()).toBe(FUNDS - product.naira);
    },
  );

  test("fields beyond ours are in the repeat as well", async () => {
    const { answer, repeat } = await verifyUnder(finding({ first_name: "Ngozi", religion: "none" }), {
      mode: "advanced",
      reference: "beyond",
    });
    expect((await repeat()).body).toEqual(answer.body);
  });

  test("another mode, another number, or another kind of request under it is 422 on reference", async () => {
    const { caller, send } = await first();
    const others = [
      await send({ mode: "advanced" }),
      await send({ nin: "12345678909" }),
      await service.call("POST", BUY_DATA, { key: caller.key, body: anOrder({ reference: "again" }) }),
      await service.call("POST", "/identity/nin/retrieve", {
        key: caller.key,
        body: aRetrieval({ reference: "again" }),
      }),
    ];
    for (const other of others) {
      expect(other.status).toBe(422);
      expect(other.headers.get("x-error-code")).toBe("reference_reused");
      expect(Object.keys(other.body.errors ?? {})).toEqual(["reference"]);
    }
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("a basic request under the reference of an advanced one is another request, although it asks for less", async () => {
    const { caller, send } = await first({ mode: "advanced" });
    const other = await send({ mode: "basic" });
    expect(other.status).toBe(422);
    expect(other.headers.get("x-error-code")).toBe("reference_reused");
    expect(await caller.balance()).toBe(FUNDS - 250);
  });

  test("in flight it is 200 processing with a null result, and not charged twice", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    service.simulator.state.faults.add({ kind: "delay", path: VERIFY_NIN, delayMs: 500, times: 1 });
    const request = { key: caller.key, body: aNinCheck({ reference: "twins" }) };
    const pending = service.call("POST", VERIFY_NIN, request);
    await expect.poll(() => rowUnder(caller.key, "twins"), { timeout: 450, interval: 20 }).toBeDefined();
    const meanwhile = await service.call("POST", VERIFY_NIN, request);
    expect(meanwhile.status).toBe(200);
    expect(checkOf(meanwhile)).toMatchObject({ transaction: { status: "processing" }, result: null });
    expect(checkOf(await pending).transaction.status).toBe("success");
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("10 at once: one is asked for and charged", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const before = requestCount();
    const request = { key: caller.key, body: aNinCheck({ reference: "ten" }) };
    const answers = await Promise.all(Array.from({ length: 10 }, () => service.call("POST", VERIFY_NIN, request)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(requestCount()).toBe(before + 1);
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("10 minutes later the result is gone: 422 on reference, nothing charged, nothing asked", async () => {
    const { caller, send, answer } = await first();
    const before = requestCount();
    const key = { pk: `replay#${pkOf(answer)}` };
    const expiry = z.object({ expires_at_s: z.number() }).parse(await itemOf("cache", key.pk));
    expect(expiry.expires_at_s * 1_000 - Date.now()).toBeGreaterThan(590_000);
    expect(expiry.expires_at_s * 1_000 - Date.now()).toBeLessThanOrEqual(600_000);
    await service.db.send(
      new UpdateCommand({
        TableName: tableNames.cache,
        Key: key,
        UpdateExpression: "SET expires_at_s = :past",
        ExpressionAttributeValues: { ":past": Math.floor(Date.now() / 1_000) - 1 },
      }),
    );
    const late = await send();
    expect(late.status).toBe(422);
    expect(Object.keys(late.body.errors ?? {})).toEqual(["reference"]);
    expect(late.headers.get("x-transaction-reference")).toBe(checkOf(answer).transaction.reference);
    expect(requestCount()).toBe(before);
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("what is kept for it cannot be read, and is of no use under another transaction", async () => {
    const { answer } = await first({ mode: "advanced" });
    const kept = z
      .object({ pk: z.string(), sealed: z.instanceof(Uint8Array), expires_at_s: z.number() })
      .parse(await replayItemOf(answer));
    const { result } = checkOf(answer);
    const text = `${Buffer.from(kept.sealed).toString("latin1")} ${kept.pk}`;
    const texts = Object.values(result ?? {}).filter((value) => typeof value === "string" && value.length > 2);
    expect(texts.length).toBeGreaterThan(10);
    for (const value of texts) expect(text).not.toContain(value);

    const other = await first();
    await service.db.send(
      new PutCommand({ TableName: tableNames.cache, Item: { ...kept, pk: `replay#${pkOf(other.answer)}` } }),
    );
    expect((await other.send()).status).toBe(422);
  });

  test("without a reference nothing is kept", async () => {
    const { answer } = await first({ reference: undefined });
    expect(answer.status).toBe(200);
    expect(await replayItemOf(answer)).toBeUndefined();
    const named = await first({ reference: "kept" });
    expect(await replayItemOf(named.answer)).toBeDefined();
  });

  test("of 300 KB is kept; of 360 KB is answered once and not kept", async () => {
    const record = (bytes: number) => finding({ first_name: "Ngozi", photo: "A".repeat(bytes) });
    const small = await verifyUnder(record(300 * 1_024), { mode: "advanced", reference: "small" });
    expect((await small.repeat()).body).toEqual(small.answer.body);
    const large = await verifyUnder(record(360 * 1_024), { mode: "advanced", reference: "large" });
    expect(large.answer.status).toBe(200);
    expect(await replayItemOf(large.answer)).toBeUndefined();
    expect((await large.repeat()).status).toBe(422);
    expect(await large.caller.balance()).toBe(FUNDS - 250);
  });

  test("a cache table that cannot be written does not fail the first request", async () => {
    service.proxy.fault = ({ operation, body }) =>
      operation === "PutItem" && body.includes("replay#") ? "never_arrives" : undefined;
    const { caller, answer, send } = await first();
    service.proxy.fault = () => undefined;
    expect(answer.status).toBe(200);
    expect(checkOf(answer).result).not.toBeNull();
    expect(await caller.balance()).toBe(FUNDS - 150);
    expect((await send()).status).toBe(422);
  });

  test("a cache table that cannot be read is no proof that nothing was charged: the answer names the transaction", async () => {
    const { answer, send } = await first();
    service.proxy.fault = ({ operation, body }) =>
      operation === "GetItem" && body.includes("replay#") ? "never_arrives" : undefined;
    const repeat = await send();
    expect(repeat.headers.get("x-transaction-reference")).toBe(checkOf(answer).transaction.reference);
  });
});
