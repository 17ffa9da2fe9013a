import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { pkOfReference } from "../../../../shared/ledger/transaction.ts";
import { identityRoutes } from "../../../builders/identity.ts";
import { type Answer, startTestService, type TestService } from "../../../builders/service.ts";

/**
 * What the numbers of the sandbox come to with a live key, when the upstream does what they ask for. The table is the
 * documentation: what our caller gets for what the upstream did.
 */
type Expected = {
  /** What the upstream does. */
  readonly upstream: string;
  readonly status: number;
  readonly code: string | null;
  /** How the transaction stands when the answer leaves. */
  readonly standing: "success" | "processing" | "failed";
  readonly charged: boolean;
};

const delivered = { status: 200, code: null, standing: "success", charged: true } as const;
/** R2: an unknown purchase is never an error, and its debit stands. */
const unknown = { status: 200, code: null, standing: "processing", charged: true } as const;
/** R3, and decision 14: refunded in the same write. */
const refunded = (status: number, code: string) => ({ status, code, standing: "failed", charged: false }) as const;

const purchaseTable: Readonly<Record<string, Expected>> = {
  "08000000000": { upstream: "success", ...delivered },
  "08000000001": { upstream: "502", ...unknown },
  "08000000002": { upstream: "processing, then success", ...unknown },
  "08000000003": { upstream: "processing, then failed", ...unknown },
  "08000000004": { upstream: "processing for ever", ...unknown },
  "08000000005": { upstream: "400: our balance there is empty", ...refunded(502, "delivery_failed") },
  "08000000006": { upstream: "503", ...unknown },
  "08000000007": { upstream: "no answer in 20 s", ...unknown },
  "08000000008": { upstream: "success, announced twice", ...delivered },
};

const checkTable: Readonly<Record<string, Expected>> = {
  "0": { upstream: "a full record", ...delivered },
  "1": { upstream: "404", ...refunded(404, "record_not_found") },
  "2": { upstream: "422 about the number", ...refunded(422, "validation_failed") },
  "3": { upstream: "503", ...refunded(502, "delivery_failed") },
  "4": { upstream: "a minimal record", ...delivered },
  "5": { upstream: "400: our balance there is empty", ...refunded(502, "delivery_failed") },
  "6": { upstream: "no answer in 20 s", ...refunded(504, "provider_timeout") },
};

const products = [
  { what: "data", path: "/vtu/data/purchase", body: { network_id: 1, plan_id: 101 }, naira: 500 },
  { what: "airtime", path: "/vtu/airtime/purchase", body: { network: "mtn", amount: 100.55 }, naira: 100.55 },
];
const purchases = products.flatMap((product) =>
  Object.entries(purchaseTable).map(([number, expected]) => ({ ...product, field: "phone_number", number, expected })),
);
const checks = identityRoutes.flatMap(({ path, field, naira }) =>
  Object.entries(checkTable).map(([digit, expected]) => ({
    what: path,
    path,
    body: { is_consent: true },
    naira,
    field,
    number: `${field === "phone_number" ? "0800000000" : "0000000000"}${digit}`,
    expected,
  })),
);
const cases = [...purchases, ...checks].map((one) => ({ ...one, ...one.expected }));
type Case = (typeof cases)[number];

const FUNDS = 1_000;
let service: TestService;
/** What came of each case, all asked at once: the rows without an answer take 20 s. */
const outcomes = new Map<string, Awaited<ReturnType<typeof ask>>>();
const nameOf = ({ path, number }: Pick<Case, "path" | "number">): string => `${path} ${number}`;

const ask = async ({ path, body, field, number }: Case) => {
  const caller = await service.newCaller({ naira: FUNDS });
  const startMs = performance.now();
  const answer = await service.call("POST", path, { key: caller.key, body: { ...body, [field]: number } });
  return {
    answer,
    tookMs: performance.now() - startMs,
    balance: await caller.balance(),
    transaction: await rowOf(answer),
  };
};
const rowOf = (answer: Answer) =>
  readTransaction(service.ledger, pkOfReference(answer.headers.get("x-transaction-reference") ?? "") ?? "none");

beforeAll(async () => {
  service = await startTestService();
  const slow = cases.filter(({ upstream }) => upstream === "no answer in 20 s");
  const quick = cases.filter((one) => !slow.includes(one));
  const pending = slow.map(async (one) => outcomes.set(nameOf(one), await ask(one)));
  for (const one of quick) outcomes.set(nameOf(one), await ask(one));
  await Promise.all(pending);
}, 40_000);
afterAll(() => service.stop());

describe.each(cases)("$what for $number, to which the upstream does this: $upstream", (one) => {
  const outcome = () => {
    const found = outcomes.get(nameOf(one));
    if (found === undefined) throw new Error(`${nameOf(one)} was not asked`);
    return found;
  };

  test(`is answered ${one.status} ${one.code ?? one.standing}`, () => {
    const { answer } = outcome();
    expect(answer.status).toBe(one.status);
    expect(answer.headers.get("x-error-code")).toBe(one.code);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(one.status === 422 ? [one.field] : []);
    // A transaction was made: the caller is told its name, and is not asked to try it again.
    expect(answer.headers.get("x-transaction-reference")).not.toBeNull();
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(JSON.stringify(answer.body)).not.toMatch(/insufficient|temporarily|network could not/i);
    if (one.status === 200) expect(answer.body.data).toMatchObject({ transaction: { status: one.standing } });
  });

  test(`stands as ${one.standing} and costs ${one.charged ? one.naira : "nothing"}`, () => {
    const { transaction, balance } = outcome();
    expect(transaction?.status).toBe(one.standing);
    expect(transaction?.open).toBe(one.standing === "processing" ? "live" : undefined);
    expect(balance).toBe(one.charged ? (FUNDS * 100 - one.naira * 100) / 100 : FUNDS);
  });
});

test("the upstream is asked once for each row, and has 20 s to answer", () => {
  const asked = service.simulator.state.requests.map(({ path, body }) => JSON.stringify([path, body]));
  expect(new Set(asked).size).toBe(asked.length);
  expect(asked.length).toBe(cases.length);
  const slow = cases.filter(({ upstream }) => upstream === "no answer in 20 s");
  expect(slow).toHaveLength(6);
  for (const one of slow) {
    expect(outcomes.get(nameOf(one))?.tookMs).toBeGreaterThan(19_500);
    expect(outcomes.get(nameOf(one))?.tookMs).toBeLessThan(25_000);
  }
});

test("an order that the upstream calls processing is known by the upstream's own reference", () => {
  for (const number of ["08000000002", "08000000003", "08000000004"]) {
    const transaction = outcomes.get(`/vtu/data/purchase ${number}`)?.transaction;
    const order = service.simulator.state.purchases.find(
      ({ phoneNumber, type }) => phoneNumber === number && type === "data",
    );
    expect(order?.upstreamReference).toBeDefined();
    expect(transaction).toMatchObject({ upstream_reference: order?.upstreamReference, upstream_amount_kobo: 50_000 });
  }
});
