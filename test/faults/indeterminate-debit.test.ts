import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { routes } from "../../shared/contract/routes.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { consentPk } from "../../shared/ledger/schema.ts";
import { readWallet } from "../../shared/ledger/wallet.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { GATE_CACHE_MS } from "../../shared/queued-orders/order-gate.ts";
import { NO_ORDERS_QUEUED, noteQueue } from "../../shared/queued-orders/upstream-pace.ts";
import { anOrder } from "../builders/service/service.ts";
import { transactionsOf, violations } from "./invariants.ts";
import { closeTestAccount, deliverUntilIdle } from "./recovery.ts";
import { advance } from "./system/clock.ts";
import type { Fault } from "./system/effects.ts";
import { type System, startSystem } from "./system/system.ts";
import { type AppEndpoint, openAppEndpoint, openTestAccount, type TestAccount } from "./test-account.ts";

/** Goal: a debit whose answer was lost charges nobody whose order was answered as failed, however late it lands. */
let system: System;
let endpoint: AppEndpoint;
let account: TestAccount;
beforeAll(async () => {
  system = await startSystem();
  endpoint = await openAppEndpoint();
  await system.runSchedule("refresh-catalog");
});
beforeEach(async () => {
  account = await openTestAccount(system, endpoint, 1_000);
  return async () => {
    system.plan = () => undefined;
    await closeTestAccount(account);
  };
});
afterAll(async () => {
  await endpoint.stop();
  await system.stop();
});

/** The queue hides the refund for this long. */
const REFUND_DELAY_MS = 60_000;
const LANDS_AFTER_MS = { "75 s": 75_000, "10 minutes": 600_000 };

/** What happens to the debit, and then to each call of the ledger until the answer. */
const meet = (debit: Fault, afterwards: (name: string) => Fault | undefined): void => {
  let isDebitSent = false;
  system.plan = ({ place, name }) => {
    if (place !== "dynamodb") return undefined;
    if (name === "TransactWriteItems") isDebitSent = true;
    if (!isDebitSent) return undefined;
    return name === "TransactWriteItems" ? debit : afterwards(name);
  };
};
const NOTHING_ARRIVES = (): Fault => "never_arrives";

const order = { ...anOrder(), reference: "order-1" };
const balance = async (): Promise<number> => (await readWallet(system.ledger, account.accountId)).balance_kobo;
const webhookBodies = (): readonly unknown[] => endpoint.received.map(({ body }): unknown => JSON.parse(body));
const REFUSED = { statusCode: 502, headers: { "x-error-code": "delivery_failed" } };

test("a debit that was made although its purchase was answered 502 is refunded 60 s later, and nothing goes upstream", async () => {
  meet("answer_lost", NOTHING_ARRIVES);
  const answer = await system.call(routes.buyData, account.keys.live, anOrder());
  system.plan = () => undefined;
  expect(answer).toMatchObject(REFUSED);

  advance(REFUND_DELAY_MS - 5_000);
  await system.eventSources.deliver();
  expect(await transactionsOf(account)).toMatchObject([{ status: "processing" }]);
  expect(await balance()).toBe(koboFromNaira(500));

  advance(10_000);
  await system.eventSources.deliver();
  const [transaction] = await transactionsOf(account);
  expect(transaction).toMatchObject({ status: "failed" });
  expect(transaction).not.toHaveProperty("debit");
  expect(await balance()).toBe(koboFromNaira(1_000));
  expect(system.upstream.requests).toEqual([]);
});

describe.each(Object.entries(LANDS_AFTER_MS))("a debit that lands %s later", (_name, landsAfterMs) => {
  const land = async (): Promise<void> => {
    advance(landsAfterMs);
    await system.eventSources.deliver();
    expect(await system.landLateWrites()).toBeGreaterThan(0);
    await deliverUntilIdle(system);
  };
  const expectNothingCharged = async (): Promise<void> => {
    expect(await transactionsOf(account)).toMatchObject([{ status: "failed", debit: "void" }]);
    expect(await balance()).toBe(koboFromNaira(1_000));
    expect(await readWallet(system.ledger, account.accountId)).toMatchObject({ version: 1 });
    expect(webhookBodies()).toMatchObject([{ event: "transaction.updated", data: { status: "failed", amount: 500 } }]);
    expect(system.upstream.requests).toEqual([]);
    expect(await violations(account)).toEqual([]);
  };

  test("changes nothing after a 502, which a replay gets too, and another order with its reference is a conflict", async () => {
    meet("lands_late", () => undefined);
    const request = await account.send(routes.buyData, order);
    system.plan = () => undefined;
    expect(request.answers).toMatchObject([REFUSED]);
    await account.resend(request);
    await land();
    await account.resend(request);
    const reference = request.answers[0]?.headers["x-transaction-reference"];
    const headers = { ...REFUSED.headers, "x-transaction-reference": reference, "idempotent-replayed": "true" };
    const replay = { ...REFUSED, headers, body: request.answers[0]?.body };
    expect(request.answers.slice(1)).toMatchObject([replay, replay]);
    const conflict = await system.call(routes.buyData, account.keys.live, { ...order, phone_number: "08031234568" });
    expect(conflict).toMatchObject({ statusCode: 422, headers: { "x-error-code": "reference_reused" } });
    await expectNothingCharged();
  });

  test("changes nothing where the ledger did not answer either: its caller gets no error code, and then the webhook", async () => {
    meet("lands_late", NOTHING_ARRIVES);
    const request = await account.send(routes.buyData, order);
    system.plan = () => undefined;
    expect(request.answers).toEqual([undefined]);
    await land();
    await account.resend(request);
    expect(request.answers[1]).toMatchObject({ ...REFUSED, headers: { "idempotent-replayed": "true" } });
    await expectNothingCharged();
  });

  test("changes nothing for an order without a reference that was answered 502", async () => {
    meet("lands_late", NOTHING_ARRIVES);
    const answer = await system.call(routes.buyAirtime, account.keys.live, {
      network: "mtn",
      phone_number: "08031234567",
      amount: 500,
    });
    system.plan = () => undefined;
    expect(answer).toMatchObject(REFUSED);
    await land();
    await expectNothingCharged();
  });

  test("changes nothing where its reference was used again before the refund was due", async () => {
    meet("lands_late", NOTHING_ARRIVES);
    const request = await account.send(routes.buyData, order);
    system.plan = () => undefined;
    await account.resend(request);
    expect(request.answers[1]).toMatchObject({
      statusCode: 200,
      body: { data: { transaction: { status: "success" } } },
    });
    await land();
    expect(await transactionsOf(account)).toMatchObject([{ status: "success" }]);
    expect(await balance()).toBe(koboFromNaira(500));
    expect(webhookBodies()).toMatchObject([{ data: { status: "success" } }]);
    expect(system.upstream.requests).toHaveLength(1);
    expect(await violations(account)).toEqual([]);
  });

  test("leaves no consent of an identity check", async () => {
    meet("lands_late", NOTHING_ARRIVES);
    const check = { nin: "12345678900", is_consent: true, mode: "basic" };
    expect(await system.call(routes.verifyNin, account.keys.live, check)).toMatchObject(REFUSED);
    system.plan = () => undefined;
    await land();
    const [transaction] = await transactionsOf(account);
    expect(transaction).toMatchObject({ type: "nin_verification", status: "failed", debit: "void" });
    const consent = new GetCommand({
      TableName: system.ledger.table,
      Key: { pk: consentPk({ pk: transaction?.pk ?? "" }) },
    });
    expect(await system.db.send(consent)).not.toHaveProperty("Item");
    expect(await balance()).toBe(koboFromNaira(1_000));
  });

  test("counts no queued order where it would have waited for the upstream's limit", async () => {
    const cache = { db: system.db, table: system.cacheTable };
    const { limit_until: _limit, unrecognized_until: _unrecognized, ...pace } = NO_ORDERS_QUEUED;
    await noteQueue(cache, { ...pace, queue_until: isoTime(Date.now() + 120_000) });
    advance(GATE_CACHE_MS);
    meet("lands_late", NOTHING_ARRIVES);
    const request = await account.send(routes.buyData, order);
    system.plan = () => undefined;
    expect(request.answers).toEqual([undefined]);
    await land();
    await noteQueue(cache, pace);
    advance(GATE_CACHE_MS);
    expect(await readWallet(system.ledger, account.accountId)).not.toHaveProperty("open");
    await expectNothingCharged();
  });
});
