import { describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import type { IdentityMode } from "../../../../shared/contract/identity.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import type { Mode } from "../../../../shared/contract/transaction.ts";
import { type IdentityDeps, verifyNin } from "../../../../shared/identity/check-identity.ts";
import { parseIdentityPrices } from "../../../../shared/identity/identity-prices.ts";
import type { ReplayStore } from "../../../../shared/identity/replay-store.ts";
import { apiEvent, callRequest } from "../../../../shared/lambda/api-request.ts";
import { readTransaction } from "../../../../shared/ledger/find-transactions.ts";
import { NOT_DELIVERED, type Settlement, settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { pkOfReference } from "../../../../shared/ledger/transaction.ts";
import type { OutcomeQueue } from "../../../../shared/orders/outcome-queue.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { EPOCH } from "../../../../shared/platform/time.ts";
import { SETTLE_RESERVE_MS } from "../../../../shared/platform/time-budgets.ts";
import { reconcileLedger } from "../../../../shared/reconciliation/reconcile-ledger.ts";
import type { Upstream } from "../../../../shared/upstream/upstream.ts";
import { localTableNames } from "../../../../tools/local/tables.ts";
import type { Fault } from "../../../../tools/simulator/faults.ts";
import { identityNumberOf, personOf } from "../../../../tools/simulator/people.ts";
import { anApiEvent } from "../../../builders/aws/api-event.ts";
import { emulatorClient } from "../../../builders/dynamodb/tables.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import {
  FUNDS,
  finding,
  identityServiceForTests,
  pkOf,
  refusal,
  upstreamTransaction,
  VERIFY_NIN,
} from "../../../builders/service/identity-service.ts";
import { aNinCheck, checkOf, identityProducts } from "../../../builders/upstream/identity.ts";
import { FACE_VALUES, NO_PRICE_RULES } from "../../../builders/upstream/upstream-costs.ts";

/** Goal: a record that is found is returned completely and charged, and every other outcome is refunded. */
const service = await identityServiceForTests({ virtualNin: true });

const PRICES = JSON.stringify({
  nin: { basic: 150, advanced: 250, retrieve: 400 },
  bvn: { basic: 100, advanced: 200, retrieve: 300 },
});

describe("a live check that finds a record", () => {
  test.each(identityProducts)(
    "$name costs $naira NGN and has its documented title; its replay has the same result, and is neither charged nor sent",
    async (product) => {
      const log = captureLog();
      const caller = await service.newCaller({ naira: FUNDS });
      const before = service.requestCount();
      const request = { key: caller.key, body: { ...product.body, reference: "again" } };
      const answer = await service.call("POST", product.path, request);
      expect(answer.status).toBe(200);
      const { transaction, result } = checkOf(answer);
      expect(transaction).toEqual({
        title: product.title,
        amount: product.naira,
        reference: expect.stringMatching(new RegExp(`^${product.prefix}[0-9A-Z]{26}$`)),
        status: "success",
        type: product.type,
        caller_reference: "again",
      });
      expect(result).not.toBeNull();
      expect(answer.headers.get("x-transaction-reference")).toBe(transaction.reference);
      // The upstream charges our price.
      expect(log.lines("transaction.amount_differs")).toEqual([]);

      const found = await service.call("GET", `/transactions/${transaction.reference}`, { key: caller.key });
      expect(found.body.data).toMatchObject({
        transaction: { type: product.type, status: "success", amount: product.naira, phone_number: null },
      });
      const replay = await service.call("POST", product.path, request);
      expect(replay.status).toBe(200);
      expect(replay.body).toEqual(answer.body);
      expect(answer.headers.get("idempotent-replayed")).toBeNull();
      expect(replay.headers.get("idempotent-replayed")).toBe("true");
      expect(await caller.balance()).toBe(FUNDS - product.naira);
      expect(service.requestCount()).toBe(before + 1);
    },
  );

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

  /** The result for the person with this number. */
  const truthAbout = (product: (typeof identityProducts)[number], subject: string): Record<string, unknown> => {
    const kind = product.path.includes("nin") ? "nin" : "bvn";
    const number = product.field === "phone_number" ? identityNumberOf(kind, subject) : subject;
    const truth = { ...personOf(subject), watch_listed: false, [kind]: number };
    return Object.fromEntries(Object.entries(truth).filter(([name]) => (fieldsOf[product.name] ?? []).includes(name)));
  };

  test.each(identityProducts)(
    "$name answers exactly its fields, the same for each of the four ways in which upstreams spell them",
    async (product) => {
      const log = captureLog();
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
      expect(log.lines("identity.other_person")).toEqual([]);
    },
  );

  test("a check for which the upstream charges more than we took, while its transaction is processing, raises an alarm and has the charge", async () => {
    const log = captureLog();
    const transaction = { ...upstreamTransaction, status: "processing", amount: 160 };
    const { answer } = await service.verifyUnder(finding({ first_name: "Ngozi" }, transaction));
    expect(log.lines("transaction.amount_differs")).toMatchObject([{ ours: 15_000, theirs: 16_000 }]);
    expect(
      await readTransaction(service.ledger, pkOfReference(checkOf(answer).transaction.reference) ?? "none"),
    ).toMatchObject({ upstream_amount_kobo: 16_000, upstream_reference: upstreamTransaction.reference });
  });

  test("mode has any case and is basic by default, and is sent upstream in lower case", async () => {
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

  test("an advanced result of 5 MB arrives whole and is charged", async () => {
    const photo = "A".repeat(5_000_000);
    const { caller, answer } = await service.verifyUnder(finding({ first_name: "Ngozi", photo }), { mode: "advanced" });
    expect(answer.status).toBe(200);
    expect(checkOf(answer).result?.photo === photo).toBe(true);
    expect(await caller.balance()).toBe(FUNDS - 250);
  });
});

test("a record of another NIN is returned and charged, and raises an alarm that has neither number", async () => {
  const log = captureLog();
  const record = { first_name: "Ngozi", nin: "52345678909" };
  const { caller, answer } = await service.verifyUnder(finding(record));
  expect(checkOf(answer).result).toMatchObject({ first_name: "Ngozi" });
  expect(await caller.balance()).toBe(FUNDS - 150);
  const reference = answer.headers.get("x-transaction-reference");
  expect(log.lines("identity.other_person")).toMatchObject([{ level: "error", reference }]);
  expect(log.text()).not.toContain(record.nin);
});

describe("the date of birth of a live check", () => {
  test("an unreadable date of birth is empty, its shape is logged without its value, and the check is charged", async () => {
    const log = captureLog();
    const { caller, answer } = await service.verifyUnder(finding({ first_name: "Ngozi", birthdate: "31.02.1987" }));
    expect(checkOf(answer).result).toMatchObject({ first_name: "Ngozi", date_of_birth: "" });
    expect(await caller.balance()).toBe(FUNDS - 150);
    expect(log.lines("identity.date_unreadable")[0]).toEqual({
      level: "warn",
      event: "identity.date_unreadable",
      reference: answer.headers.get("x-transaction-reference"),
      field: "date_of_birth",
      shape: "99.99.9999",
    });
    expect(log.text()).not.toContain("1987");
  });
});

describe("a live check without a result is refunded", () => {
  // test/unit/shared/upstream/classify.test.ts has every answer and what kind it is.
  const outcomes: readonly (readonly [string, Fault, number, string])[] = [
    ["404 in the envelope", refusal(404, "No record was found."), 404, "record_not_found"],
    ["a socket dropped after it was carried out", { kind: "drop_after_order" }, 502, "delivery_failed"],
    ["401", { kind: "status", status: 401 }, 502, "delivery_failed"],
    ["422 about the nin", refusal(422, "Bad", { nin: ["Their secret text"] }), 422, "validation_failed"],
    ["200 with nothing but the number", finding({ nin: "12345678900" }), 502, "delivery_failed"],
    [
      "a result that is larger than we can pass on once it is encoded twice",
      finding({ first_name: '"'.repeat(1_500_000) }),
      502,
      "delivery_failed",
    ],
    ["more than the 5.5 MB that we can pass on", { kind: "huge", bytes: 6_000_000 }, 502, "delivery_failed"],
  ];
  test.each(outcomes)("a live check without a result is refunded: %s", async (_name, fault, status, code) => {
    const { caller, answer, replay } = await service.verifyUnder({ ...fault, path: VERIFY_NIN }, { reference: "once" });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-error-code")).toBe(code);
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(answer.headers.get("x-transaction-reference")).toMatch(/^VERIFY_/);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(status === 422 ? ["nin"] : []);
    expect(JSON.stringify(answer.body)).not.toContain("secret");
    expect(await caller.balance()).toBe(FUNDS);
    const transaction = await readTransaction(service.ledger, pkOf(answer));
    expect(transaction).toMatchObject({ status: "failed", failure: { code } });
    expect(transaction?.open).toBeUndefined();
    expect(await service.replayItemOf(answer)).toBeUndefined();

    const requests = service.requestCount();
    const replayed = await replay();
    expect(replayed.status).toBe(status);
    expect(replayed.body).toEqual(answer.body);
    expect(replayed.headers.get("idempotent-replayed")).toBe("true");
    expect(service.requestCount()).toBe(requests);
    expect(await caller.balance()).toBe(FUNDS);
  });

  test("a check that is refunded while the upstream still works returns no result", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    service.simulator.state.faults.add({ kind: "delay", path: VERIFY_NIN, delay_ms: 3_000, times: 1 });
    const body = aNinCheck({ reference: "overtaken" });
    const pending = service.call("POST", VERIFY_NIN, { key: caller.key, body });
    await expect.poll(() => service.rowUnder(caller.key, "overtaken")).toBeDefined();
    const transaction = await service.rowUnder(caller.key, "overtaken");
    if (transaction === undefined) throw new Error("The transaction is gone");
    await settleTransaction(service.ledger, transaction, NOT_DELIVERED, deadlineIn(5_000));

    const answer = await pending;
    expect(answer.status).toBe(502);
    expect(answer.headers.get("x-error-code")).toBe("delivery_failed");
    expect(answer.body.data).toBeUndefined();
    expect(await caller.balance()).toBe(FUNDS);
    const replayed = await service.call("POST", VERIFY_NIN, { key: caller.key, body });
    expect(replayed.body).toEqual(answer.body);
  });

  const DEADLINE_MS = 6_000;
  /** A check of a number by the function itself, at an upstream that finds a record. */
  const checkDirectly = (
    accountId: string,
    { mode = "live", ...changes }: Partial<IdentityDeps> & { readonly mode?: Mode },
    input: { readonly nin: string; readonly mode: IdentityMode; readonly reference?: string },
    check: Upstream["check"] = async () => ({ kind: "found", record: { first_name: "Ngozi" } }),
  ) => {
    const found: Upstream = {
      baseUrl: "https://upstream.example.com/v1",
      waitS: () => 0,
      blocks: () => ({ limitUntilMs: 0, unrecognizedUntilMs: 0 }),
      learnBlocks: () => {},
      assertReady: async () => {},
      buy: async () => ({ kind: "delivered" }),
      check,
    };
    return verifyNin({
      ledger: { ...service.ledger, db: emulatorClient(service.proxy.endpoint) },
      keyedHashes,
      outcomeQueue: { send: async () => {} },
      gate: { purchases: async () => "on", noteOutcome: async () => {} },
      costs: FACE_VALUES,
      upstreams: { live: found, test: found },
      prices: NO_PRICE_RULES,
      timeZone: "Africa/Lagos",
      identityPrices: parseIdentityPrices(PRICES),
      upstreamDates: "day-first",
      takesVirtualNin: false,
      replays: { store: async () => {}, find: async () => undefined },
      hashSubject: async () => ({ hash: "hash", keyId: "mrk-1" }),
      ...changes,
    })({
      input,
      caller: { accountId, keyId: "key_1", mode, entitlements: ALL_ENTITLEMENTS },
      request: callRequest(apiEvent.parse(anApiEvent())),
      deadline: deadlineIn(DEADLINE_MS),
    });
  };

  test("an upstream that takes a virtual NIN is sent it, the result has the upstream's NIN or none, and no table has the virtual one", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const nin = "AB012345678910YZ";
    const before = service.requestCount();
    const log = captureLog();
    const body = aNinCheck({ nin, mode: "advanced", reference: "virtual-1" });
    const answer = await service.call("POST", VERIFY_NIN, { key: caller.key, body });
    expect(log.lines("identity.other_person")).toEqual([]);
    expect(answer.body.data).toMatchObject({ result: { nin: expect.stringMatching(/^\d{11}$/) } });
    const sent = service.simulator.state.requests.slice(before).map((request) => request.body);
    expect(sent).toEqual([expect.objectContaining({ nin })]);
    const checked = (changes: Partial<IdentityDeps>) =>
      checkDirectly(caller.accountId, changes, { nin, mode: "advanced" }, async () => ({
        kind: "found",
        record: { first_name: "Ngozi" },
      }));
    expect((await checked({ takesVirtualNin: true })).data.result).toMatchObject({ nin: "" });
    for (const TableName of Object.values(localTableNames)) {
      const { Items = [] } = await service.db.scan({ TableName });
      expect(JSON.stringify(Items)).not.toContain(nin);
    }
    await expect(checked({})).rejects.toMatchObject({ code: "validation_failed" });
  });

  test("the refusal of a malformed NIN names both forms where the upstream takes virtual NINs", async () => {
    const caller = await service.newCaller();
    const answers = ["1234567890", 12_345_678_901].map((nin) =>
      service.call("POST", VERIFY_NIN, { key: caller.key, body: { ...aNinCheck(), nin } }),
    );
    expect((await Promise.all(answers)).map(({ body }) => body.errors?.nin)).toEqual([
      ["Must be exactly 11 digits, or a virtual NIN of 16 letters and digits"],
      ["Must be a string of 11 digits, or a virtual NIN of 16 letters and digits"],
    ]);
  });

  test("the replay of a check of a virtual NIN is answered when the upstream takes none any more, and a new one is refused", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const nin = "AB012345678910YZ";
    const kept: unknown[] = [];
    const store: ReplayStore["store"] = async (_transaction, result) => void kept.push(result);
    const replays = { store, find: async () => kept[0] };
    const checked = (takesVirtualNin: boolean, reference: string) =>
      checkDirectly(caller.accountId, { takesVirtualNin, replays }, { nin, mode: "basic", reference });
    const first = await checked(true, "virtual-3");
    expect((await checked(false, "virtual-3")).data).toEqual(first.data);
    await expect(checked(false, "virtual-4")).rejects.toMatchObject({ code: "validation_failed" });
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("a rule by which a verification would cost as much as a retrieval is without effect, and one that leaves it dearer counts", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const amountUnder = async (kobo: number) => {
      const rule = { id: "pr_1", kind: "nin_verification", from: EPOCH, change: { by: "amount", kobo } } as const;
      const checked = await checkDirectly(
        caller.accountId,
        { prices: async () => [rule] },
        { nin: "12345678900", mode: "basic" },
      );
      return checked.data.transaction.amount;
    };
    // The advanced one costs 250 NGN, and a retrieval 400.
    expect(await amountUnder(150_00)).toBe(150);
    expect(await amountUnder(149_99)).toBe(299.99);
  });

  test("what a live check shows of whether the upstream takes checks is noted, and nothing of a test check", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const noteOutcome = vi.fn(async () => {});
    const gate: IdentityDeps["gate"] = { purchases: async () => "on", noteOutcome };
    for (const mode of ["live", "test"] as const) {
      await checkDirectly(caller.accountId, { gate, mode }, { nin: "12345678900", mode: "basic" });
    }
    expect(noteOutcome).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ kind: "found" }), expect.anything());
  });

  test("a result that the cache table does not take in time leaves the time of the settlement", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const store = vi.fn<ReplayStore["store"]>(() => Promise.reject(new Error("No answer")));
    const replays = { store, find: async () => undefined };
    const input = { nin: "12345678900", mode: "basic", reference: "slow-1" } as const;
    const answer = await checkDirectly(caller.accountId, { replays }, input);
    expect(answer.data.transaction.status).toBe("success");
    const [[, , limitMs] = []] = store.mock.calls;
    expect(limitMs).toBeLessThanOrEqual(DEADLINE_MS - SETTLE_RESERVE_MS);
  });

  /** A check that finds a record, and whose settling write never arrives. */
  const checkUnsettled = async (accountId: string, send: OutcomeQueue["send"]) => {
    service.proxy.fault = ({ operation, body }) =>
      operation === "UpdateItem" && body.includes("transaction#") ? "never_arrives" : undefined;
    const answer = await checkDirectly(accountId, { outcomeQueue: { send } }, { nin: "12345678900", mode: "basic" });
    const transaction = await readTransaction(
      service.ledger,
      pkOfReference(answer.data.transaction.reference) ?? "none",
    );
    if (transaction === undefined) throw new Error("The transaction is gone");
    return { answer, transaction };
  };

  test("a result whose settling write is indeterminate is returned as processing, and its settlement is queued", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const queued: Settlement[] = [];
    const { answer, transaction } = await checkUnsettled(caller.accountId, async (message) => {
      if (message.kind === "settlement") queued.push(message.settlement);
    });
    expect(answer.data).toMatchObject({ transaction: { status: "processing" }, result: { first_name: "Ngozi" } });
    expect(queued).toMatchObject([{ status: "success" }]);
    for (const settlement of queued)
      await settleTransaction(service.ledger, transaction, settlement, deadlineIn(5_000));
    expect(await caller.balance()).toBe(FUNDS - 150);
  });

  test("a result that was neither settled nor queued is not returned: the check is refunded after 5 minutes", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const { answer, transaction } = await checkUnsettled(caller.accountId, () =>
      Promise.reject(new Error("SQS is down")),
    );
    expect(answer.data).toMatchObject({ transaction: { status: "processing" }, result: null });
    expect(answer.message).toBe("The check is being processed");
    const later = { ...service.ledger, clock: () => Date.parse(transaction.created_at) + 5 * 60_000 + 1 };
    await reconcileLedger(later, deadlineIn(20_000));
    expect((await readTransaction(service.ledger, transaction.pk))?.status).toBe("failed");
    expect(await caller.balance()).toBe(FUNDS);
  });
});
