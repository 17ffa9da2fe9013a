import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "#zod";
import { catalogSchema } from "../../../../shared/contract/catalog.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { pkOfReference } from "../../../../shared/ledger/transaction.ts";
import { localTableNames } from "../../../../tools/local/tables.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { eventually } from "../../../builders/run/eventually.ts";
import { type Answer, anOrder, BUY_DATA, serviceForTests, transactionOf } from "../../../builders/service/service.ts";
import { checkOf, identityProducts, identityRoutes } from "../../../builders/upstream/identity.ts";

const BUY_AIRTIME = "/vtu/airtime/purchase";
const FUNDS = 1_000;

const service = await serviceForTests();
const caller = await service.newCaller({ naira: FUNDS });
const key = await caller.newKey({ mode: "test" });

const viewOf = async (reference: string) => {
  const answer = await service.call("GET", `/transactions/${reference}`, { key });
  return z
    .object({
      transaction: z.object({
        status: z.string(),
        error_code: z.nullable(z.string()),
        created_at: z.string(),
        updated_at: z.string(),
      }),
    })
    .parse(answer.body.data).transaction;
};

/** Holds for every response to a test key: no order of it is in an index of open ones either. */
const expectUntouched = async (answer: Answer): Promise<void> => {
  const reference = answer.headers.get("x-transaction-reference");
  if (reference !== null) {
    expect(reference).toMatch(/^TEST_[0-9A-Z]{26}$/);
    const stored = await readTransaction(service.ledger, pkOfReference(reference) ?? "");
    expect(stored).toMatchObject({ mode: "test" });
    expect(stored).not.toHaveProperty("open");
  }
  expect(await caller.balance()).toBe(FUNDS);
  expect(service.simulator.state.requests).toEqual([]);
  expect(service.simulator.state.purchases).toEqual([]);
};

describe("with a catalog that was never fetched", async () => {
  const TableName = localTableNames.cache;
  const { Items = [] } = await service.db.scan({ TableName });
  beforeAll(async () => {
    for (const { pk } of Items) await service.db.delete({ TableName, Key: { pk } });
  });
  // Until there was one, each request reads the table.
  afterAll(() => putItems(service.db, TableName, Items));

  test("before the first refresh a test key sees the built-in catalog, and buys data and airtime from it", async () => {
    const catalog = catalogSchema.parse((await service.call("GET", "/vtu/data", { key })).body.data);
    const [plan] = catalog.data_plans;
    const data = await service.call("POST", BUY_DATA, {
      key,
      body: anOrder({ network_id: plan?.network_id, plan_id: plan?.id }),
    });
    expect(transactionOf(data)).toMatchObject({ status: "success", amount: plan?.price });
    const codes = catalog.networks.map(({ code }) => code);
    expect(codes).toContain("mtn");
    for (const network of [...codes, "etisalat", "globacom"]) {
      const body = { network, phone_number: "08031234567", amount: 50 };
      const airtime = await service.call("POST", BUY_AIRTIME, { key, body });
      expect(transactionOf(airtime), network).toMatchObject({ status: "success", amount: 50 });
    }
  });
});

describe("with a catalog", () => {
  /** Phone number, response status, transaction status at once, and error code. */
  const purchaseRows: readonly (readonly [string, number, string | undefined, string | null])[] = [
    ["08000000000", 200, "success", null],
    ["08000000001", 502, "failed", "delivery_failed"],
    ["08000000002", 200, "processing", null],
    ["08000000003", 200, "processing", null],
    ["08000000004", 200, "processing", null],
    ["08000000005", 400, undefined, "insufficient_balance"],
    ["08000000006", 503, undefined, "provider_unavailable"],
    ["08000000007", 200, "processing", null],
    ["08000000008", 200, "success", null],
    ["08000000009", 200, "processing", null],
    ["08031234567", 200, "success", null],
  ];
  const purchases = [
    { what: "data", path: BUY_DATA, body: anOrder() },
    { what: "airtime", path: BUY_AIRTIME, body: { network: "mtn", amount: 100.5 } },
  ];
  const purchaseCases = purchases.flatMap((purchase) =>
    purchaseRows.map(([phone_number, status, transactionStatus, code]) => ({
      ...purchase,
      phone_number,
      status,
      transactionStatus,
      code,
    })),
  );

  test.each(purchaseCases)(
    "a test purchase of $what for $phone_number is $status, $transactionStatus, $code",
    async ({ path, body, phone_number, status, transactionStatus, code }) => {
      const request = { ...body, phone_number, reference: `${path.split("/")[2]}-${phone_number.slice(-2)}` };
      const answer = await service.call("POST", path, { key, body: request });
      expect(answer.status).toBe(status);
      expect(answer.headers.get("x-error-code")).toBe(code);
      const reference = answer.headers.get("x-transaction-reference");
      expect(reference === null).toBe(transactionStatus === undefined);
      expect(answer.headers.get("x-estimated-delivery")).toBe(phone_number === "08000000009" ? "5" : null);
      expect(answer.headers.get("retry-after")).toBe(code === "provider_unavailable" ? "5" : null);
      if (status === 200) expect(transactionOf(answer)).toMatchObject({ status: transactionStatus, reference });
      if (reference !== null)
        expect(await viewOf(reference)).toMatchObject({ status: transactionStatus, error_code: code });
      await expectUntouched(answer);
    },
  );

  test("about 5 s later 08000000002 and 08000000009 succeed, and 08000000003 fails and is replayed as 502; 08000000004 stays open", async () => {
    const order = async (path: string, body: object, phoneNumber: string) => {
      const reference = `later-${path.split("/")[2]}-${phoneNumber.slice(-2)}`;
      const request = { ...body, phone_number: phoneNumber, reference };
      const send = () => service.call("POST", path, { key, body: request });
      return { reference: transactionOf(await send()).reference, replay: send };
    };
    const orders = await Promise.all(
      purchases.flatMap(({ path, body }) =>
        (["08000000002", "08000000003", "08000000004", "08000000009"] as const).map((number) =>
          order(path, body, number),
        ),
      ),
    );
    for (const [success, failed, open, waiting] of [orders.slice(0, 4), orders.slice(4)]) {
      if (success === undefined || failed === undefined || open === undefined || waiting === undefined)
        throw new Error("An order is missing");
      // Rarely, because the key may look up 120 a minute.
      await eventually(async () => {
        expect(await viewOf(success.reference)).toMatchObject({ status: "success", error_code: null });
        expect(await viewOf(waiting.reference)).toMatchObject({ status: "success", error_code: null });
        expect(await viewOf(failed.reference)).toMatchObject({ status: "failed", error_code: "delivery_failed" });
      }, 500);
      for (const { reference } of [success, failed, waiting]) {
        const { created_at, updated_at } = await viewOf(reference);
        const tookMs = Date.parse(updated_at) - Date.parse(created_at);
        expect(tookMs).toBeGreaterThanOrEqual(4_500);
      }
      expect(await viewOf(open.reference)).toMatchObject({ status: "processing" });
      const replay = await failed.replay();
      expect(replay.status).toBe(502);
      expect(replay.headers.get("x-error-code")).toBe("delivery_failed");
      expect(replay.headers.get("idempotent-replayed")).toBe("true");
      expect(replay.headers.get("x-transaction-reference")).toBe(failed.reference);
    }
    expect(await caller.balance()).toBe(FUNDS);
  });

  const identityRows: readonly (readonly [string, number, string | null])[] = [
    ["0", 200, null],
    ["1", 404, "record_not_found"],
    ["2", 422, "validation_failed"],
    ["3", 503, "provider_unavailable"],
    ["4", 200, null],
    ["5", 400, "insufficient_balance"],
    ["6", 504, "provider_timeout"],
    ["7", 200, null],
  ];
  const isBeforeDebit = (code: string | null): boolean =>
    code === "insufficient_balance" || code === "provider_unavailable";
  const zeroesOf = (field: string): string => (field === "phone_number" ? "0800000000" : "0000000000");
  const identityCases = identityRoutes.flatMap((route) =>
    identityRows.map(([digit, status, code]) => ({
      ...route,
      number: `${zeroesOf(route.field)}${digit}`,
      status,
      code,
    })),
  );

  describe("identity checks", () => {
    // 34 checks are more than a key's 30 a minute.
    const keys = new Map<string, string>();
    beforeAll(async () => {
      for (const { path } of identityRoutes) keys.set(path, await caller.newKey({ mode: "test" }));
    });

    test.each(identityCases)(
      "a test check at $path for $number is $status $code",
      async ({ path, field, number, status, code, ...product }) => {
        const body = { [field]: number, is_consent: true };
        const answer = await service.call("POST", path, { key: keys.get(path) ?? "", body });
        expect(answer.status).toBe(status);
        expect(answer.headers.get("x-error-code")).toBe(code);
        expect(Object.keys(answer.body.errors ?? {})).toEqual(status === 422 ? [field] : []);
        expect(answer.headers.get("x-transaction-reference") === null).toBe(isBeforeDebit(code));
        expect(answer.headers.get("retry-after")).toBe(code === "provider_unavailable" ? "5" : null);
        if (status === 200) {
          const { transaction, result } = checkOf(answer);
          expect(transaction).toMatchObject({ title: product.title, amount: product.naira, status: "success" });
          expect(transaction.reference).toMatch(/^TEST_/);
          expect(result).toMatchObject({ first_name: expect.any(String), last_name: expect.any(String) });
          const isMinimal = number.endsWith("4");
          expect(result?.date_of_birth === "").toBe(isMinimal);
          expect(result?.gender === "").toBe(isMinimal);
        }
        await expectUntouched(answer);
      },
    );

    test.each(identityRoutes.filter(({ field }) => field !== "phone_number"))(
      "a test check at $path for a number with the digits of a magic phone number is found",
      async ({ path, field }) => {
        const body = { [field]: "08000000001", is_consent: true };
        expect((await service.call("POST", path, { key: keys.get(path) ?? "", body })).status).toBe(200);
      },
    );

    test.each(identityProducts)(
      "for the same number $name gives the same mock person",
      async ({ path, body, field }) => {
        const testKey = await caller.newKey({ mode: "test" });
        const find = async (subject: string) => {
          const answer = await service.call("POST", path, { key: testKey, body: { ...body, [field]: subject } });
          return checkOf(answer).result;
        };
        const digits = field === "phone_number" ? "0809999999" : "9999999999";
        const one = await find(`${digits}1`);
        expect(await find(`${digits}1`)).toEqual(one);
        const others = await Promise.all(["2", "3", "4", "5"].map((digit) => find(`${digits}${digit}`)));
        expect(others.some((other) => other?.first_name !== one?.first_name)).toBe(true);
        // Every field of the mock person has a value.
        expect(Object.values(one ?? {})).not.toContain(null);
      },
    );

    test.each(["nin", "bvn"])("the %s that a retrieval finds verifies as the same person", async (subject) => {
      const testKey = await caller.newKey({ mode: "test" });
      for (const phone_number of ["08031234567", "08012345678", "07011112222"]) {
        const find = async (path: string, body: object) =>
          checkOf(await service.call("POST", `/identity/${subject}/${path}`, { key: testKey, body })).result;
        const retrieved = await find("retrieve", { phone_number, is_consent: true });
        const number = { [subject]: retrieved?.[subject] };
        const verified = await find("verify", { ...number, is_consent: true, mode: "advanced" });
        expect(verified, phone_number).toMatchObject({ ...retrieved });
      }
    });
  });

  test("a 503 of the sandbox raises no alarm", async () => {
    const log = captureLog();
    const testKey = await caller.newKey({ mode: "test" });
    for (const { path, body } of purchases) {
      await service.call("POST", path, { key: testKey, body: { ...body, phone_number: "08000000006" } });
    }
    await service.call("POST", "/identity/nin/verify", {
      key: testKey,
      body: { nin: "00000000003", is_consent: true },
    });
    expect(log.lines().filter(({ status }) => status === 503)).toHaveLength(3);
    expect(log.lines().filter(({ level }) => level === "error")).toEqual([]);
  });
});
