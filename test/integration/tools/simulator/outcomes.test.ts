import { afterAll, beforeAll, expect, test } from "vitest";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { pkOfReference } from "../../../../shared/ledger/transaction.ts";
import { type Answer, startTestService, type TestService } from "../../../builders/service/service.ts";
import { identityRoutes } from "../../../builders/upstream/identity.ts";

/**
 * The outcomes of the magic values with a live key, where the simulated upstream follows them. Source:
 * docs/interface.md 3.D4.
 */
type Expected = {
  /** What the upstream does. */
  readonly upstream: string;
  readonly status: number;
  readonly code: string | null;
  /** The transaction's status when the response is sent. */
  readonly transactionStatus: "success" | "processing" | "failed";
  readonly charged: boolean;
};

const delivered = { status: 200, code: null, transactionStatus: "success", charged: true } as const;
/** An unknown purchase is never an error and is not refunded: docs/interface.md 8.D3. */
const unknown = { status: 200, code: null, transactionStatus: "processing", charged: true } as const;
/** Refunded in the write that marks it failed: docs/interface.md 8.2, 12.D8. */
const refunded = (status: number, code: string) =>
  ({ status, code, transactionStatus: "failed", charged: false }) as const;

const purchaseTable: Readonly<Record<string, Expected>> = {
  "08000000000": { upstream: "success", ...delivered },
  "08000000001": { upstream: "502", ...unknown },
  "08000000002": { upstream: "processing, then success", ...unknown },
  "08000000003": { upstream: "processing, then failed", ...unknown },
  "08000000004": { upstream: "processing for ever", ...unknown },
  "08000000005": { upstream: "400, because its own balance is empty", ...refunded(502, "delivery_failed") },
  "08000000006": { upstream: "503", ...unknown },
  "08000000007": { upstream: "no response within 20 s", ...unknown },
  "08000000008": { upstream: "success with two events", ...delivered },
};

const checkTable: Readonly<Record<string, Expected>> = {
  "0": { upstream: "a full record", ...delivered },
  "1": { upstream: "404", ...refunded(404, "record_not_found") },
  "2": { upstream: "422 about the number", ...refunded(422, "validation_failed") },
  "3": { upstream: "503", ...refunded(502, "delivery_failed") },
  "4": { upstream: "a minimal record", ...delivered },
  "5": { upstream: "400, because its own balance is empty", ...refunded(502, "delivery_failed") },
  "6": { upstream: "no response within 20 s", ...refunded(504, "provider_timeout") },
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
/** The outcome of each case. Those without a response take 20 s and run concurrently. */
const outcomes = new Map<string, Awaited<ReturnType<typeof ask>>>();
const nameOf = ({ path, number }: Pick<Case, "path" | "number">): string => `${path} ${number}`;
const outcomeOf = (one: Case) => {
  const found = outcomes.get(nameOf(one));
  if (found === undefined) throw new Error(`${nameOf(one)} was not requested`);
  return found;
};

const ask = async ({ path, body, field, number }: Case) => {
  const caller = await service.newCaller({ naira: FUNDS });
  const startMs = performance.now();
  const answer = await service.call("POST", path, { key: caller.key, body: { ...body, [field]: number } });
  return {
    answer,
    tookMs: performance.now() - startMs,
    balance: await caller.balance(),
    transaction: await transactionOf(answer),
  };
};
const transactionOf = (answer: Answer) =>
  readTransaction(service.ledger, pkOfReference(answer.headers.get("x-transaction-reference") ?? "") ?? "none");

beforeAll(async () => {
  service = await startTestService();
  const slow = cases.filter(({ upstream }) => upstream === "no response within 20 s");
  const quick = cases.filter((one) => !slow.includes(one));
  const pending = slow.map(async (one) => outcomes.set(nameOf(one), await ask(one)));
  for (const one of quick) outcomes.set(nameOf(one), await ask(one));
  await Promise.all(pending);
});
afterAll(() => service.stop());

test.each(cases)(
  "$what for $number (upstream: $upstream) is answered with $status, is $transactionStatus, and is charged: $charged",
  (one) => {
    const { answer, transaction, balance } = outcomeOf(one);
    expect(answer.status).toBe(one.status);
    expect(answer.headers.get("x-error-code")).toBe(one.code);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(one.status === 422 ? [one.field] : []);
    // A transaction was made: the response names it and asks for no retry.
    expect(answer.headers.get("x-transaction-reference")).not.toBeNull();
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(JSON.stringify(answer.body)).not.toMatch(/insufficient|temporarily|network could not/i);
    if (one.status === 200) expect(answer.body.data).toMatchObject({ transaction: { status: one.transactionStatus } });
    expect(transaction?.status).toBe(one.transactionStatus);
    expect(transaction?.open !== undefined).toBe(one.transactionStatus === "processing");
    expect(balance).toBe(one.charged ? (FUNDS * 100 - one.naira * 100) / 100 : FUNDS);
  },
);

test("each order reaches the upstream once, and the upstream has 20 s to respond", () => {
  const requests = service.simulator.state.requests.map(({ path, body }) => JSON.stringify([path, body]));
  expect(new Set(requests).size).toBe(requests.length);
  expect(requests.length).toBe(cases.length);
  const slow = cases.filter(({ upstream }) => upstream === "no response within 20 s");
  expect(slow).toHaveLength(6);
  for (const one of slow) expect(outcomeOf(one).tookMs).toBeGreaterThan(19_500);
});

test.each(identityRoutes.filter(({ field }) => field !== "phone_number"))(
  "$path finds a number with the digits of a magic phone number",
  async ({ path, field }) => {
    const { key } = await service.newCaller({ naira: FUNDS });
    const body = { [field]: "08000000001", is_consent: true };
    expect((await service.call("POST", path, { key, body })).status).toBe(200);
  },
);
