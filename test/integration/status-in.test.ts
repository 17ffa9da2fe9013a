import { createHmac, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import * as z from "zod";
import { consumeQueue } from "../../infra/local/queue-consumer.ts";
import { deadLettersOf, startQueues } from "../../infra/local/queues.ts";
import { createAccount } from "../../shared/access/accounts.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { koboFromNaira, nairaFromKobo } from "../../shared/platform/money.ts";
import type { MessageResult } from "../../shared/platform/queue-handler.ts";
import { queueHandler } from "../../shared/platform/queue-handler.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { applyStatus } from "../../shared/status/apply-status.ts";
import { EVENTS_OWNER, type EventRow, eventRow } from "../../shared/status/event-records.ts";
import { type EventMessage, statusMessage } from "../../shared/status/status-queue.ts";
import { fundWallet } from "../../shared/wallet/funding.ts";
import { ownedKeys } from "../../shared/wallet/index-pages.ts";
import type { Ledger } from "../../shared/wallet/ledger.ts";
import { readTransaction } from "../../shared/wallet/lookup.ts";
import { namingFrom } from "../../shared/wallet/naming.ts";
import { openTransaction } from "../../shared/wallet/open.ts";
import { settleTransaction } from "../../shared/wallet/settle.ts";
import { type TransactionRow, transactionPk } from "../../shared/wallet/transaction.ts";
import { readWallet } from "../../shared/wallet/wallet.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "../builders/dynamodb-proxy.ts";
import { aLambdaContext } from "../builders/lambda-context.ts";
import { startTestService, type TestService } from "../builders/service.ts";
import { emulatorClient, freshTables } from "../builders/tables.ts";
import { aTransactionRow } from "../builders/transaction-row.ts";

describe("the entrance", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  const webhook = () => {
    const { webhook: given } = service.simulator.state;
    if (given === undefined) throw new Error("The simulator has no webhook");
    return given;
  };
  const post = async (
    body: string,
    { url = webhook().url, signature = sign(body) }: { url?: string; signature?: string | null } = {},
  ) => {
    const headers = {
      "content-type": "application/json",
      ...(signature !== null && { "x-webhook-signature": signature }),
    };
    const response = await fetch(url, { method: "POST", headers, body });
    const answer = z
      .object({ data: z.unknown().optional(), errors: z.record(z.string(), z.array(z.string())).optional() })
      .parse(await response.json());
    return { status: response.status, code: response.headers.get("x-error-code"), body: answer };
  };
  const sign = (body: string): string => createHmac("sha256", webhook().secret).update(body).digest("hex");
  const event = (data: unknown, name = "transaction.updated"): string => JSON.stringify({ event: name, data });
  const data = { reference: "U-1", status: "success", amount: 500, type: "data", phone_number: "08031234567" };

  test("answers 200 to a signed event from loopback within a second", async () => {
    const begun = Date.now();
    expect(await post(event(data))).toMatchObject({ status: 200, body: { data: { outcome: "accepted" } } });
    expect(Date.now() - begun).toBeLessThan(1_000);
  });

  test("does not exist under another token", async () => {
    const url = webhook().url.replace(/[^/]+$/, "x".repeat(43));
    expect(await post(event(data), { url })).toMatchObject({ status: 404, code: "not_found" });
  });

  test.each([
    ["a wrong signature", "0".repeat(64)],
    ["no signature", null],
  ])("refuses %s with 401", async (_name, signature) => {
    expect(await post(event(data), { signature })).toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  test("refuses a signature over other bytes", async () => {
    expect((await post(event(data), { signature: sign(event({ ...data, amount: 501 })) })).status).toBe(401);
  });

  test.each([
    ["an event without data", JSON.stringify({ event: "transaction.updated" }), 400, "data"],
    ["status processing", event({ ...data, status: "processing" }), 422, "data.status"],
    ["status junk", event({ ...data, status: 7 }), 422, "data.status"],
    ["an amount as text", event({ ...data, amount: "500" }), 422, "data.amount"],
    ["no reference", event({ ...data, reference: undefined }), 422, "data.reference"],
    ["data as a list", JSON.stringify({ event: "transaction.updated", data: [] }), 422, "data"],
  ])("refuses %s, and says which field", async (_name, body, status, field) => {
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body.errors ?? {})).toEqual([field]);
  });

  test.each([
    ["300 KB", "x".repeat(300 * 1_024)],
    ["half a JSON text", "{"],
  ])("refuses %s with 400", async (_name, body) => {
    expect(await post(body)).toMatchObject({ status: 400, code: "invalid_json" });
  });

  test("accepts and ignores an event that it does not know", async () => {
    expect(await post(event({}, "account.updated"))).toMatchObject({
      status: 200,
      body: { data: { outcome: "ignored" } },
    });
  });
});

describe("an event", () => {
  const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");
  const key = { value: async () => "k".repeat(43), refetch: async () => "k".repeat(43) };
  const naming = namingFrom(key);
  let proxy: DynamoDbProxy;
  let tables: Awaited<ReturnType<typeof freshTables>>;
  beforeAll(async () => {
    proxy = await startDynamoDbProxy(inject("dynamodbEndpoint"));
    tables = await freshTables();
  });
  afterAll(() => proxy.stop());

  const ledgerAt = (now_ms: number): Ledger => ({
    db: emulatorClient(proxy.endpoint),
    table: tables.ledgerTable,
    clock: () => now_ms,
  });
  const apply = (message: EventMessage, now_ms = NOON_MS): Promise<MessageResult> =>
    applyStatus({ ledger: ledgerAt(now_ms), naming })(message, deadlineIn(29_000));

  /** An account of 2,000 NGN with one open order of 500 NGN; `upstream` is what the upstream calls it. */
  const anOpenOrder = async (changes: Partial<TransactionRow> & { upstream?: string } = {}) => {
    const { upstream, ...rowChanges } = changes;
    const store = { ...tables, clock: () => NOON_MS };
    const { account_id } = await createAccount(store, { name: "test", whitelist: [] });
    await fundWallet(ledgerAt(NOON_MS), { accountId: account_id, fundingId: "1", amountKobo: koboFromNaira(2_000) });
    const row = await openFor(account_id, rowChanges);
    if (upstream !== undefined) {
      await settleTransaction(
        ledgerAt(NOON_MS),
        row,
        { status: "processing", upstream_reference: upstream },
        deadlineIn(9_000),
      );
    }
    return { row, balance: () => balanceOf(account_id), stands: () => readTransaction(ledgerAt(NOON_MS), row.pk) };
  };
  const openFor = async (account_id: string, changes: Partial<TransactionRow> = {}): Promise<TransactionRow> => {
    const row = aTransactionRow({
      pk: transactionPk(randomUUID()),
      owner: `${account_id}#live`,
      account_id,
      attempt: randomUUID(),
      created_at: isoTime(NOON_MS - 30_000),
      ...changes,
    });
    await openTransaction(ledgerAt(NOON_MS), row, [], deadlineIn(29_000));
    return row;
  };
  const balanceOf = async (accountId: string): Promise<number> =>
    nairaFromKobo((await readWallet(ledgerAt(NOON_MS), accountId)).balance_kobo);

  const anEvent = async (changes: Partial<EventMessage> & { phoneNumber?: string } = {}): Promise<EventMessage> => {
    const { phoneNumber = "08031234567", ...rest } = changes;
    const { subject } = await naming();
    return {
      kind: "event",
      mode: "live",
      received_at: isoTime(NOON_MS),
      trusted: true,
      reference: `U-${randomUUID()}`,
      status: "success",
      amount_kobo: koboFromNaira(500),
      type: "data",
      phone: { hmac: subject("phone_number", phoneNumber), masked: "0803****567" },
      ...rest,
    };
  };
  const recordsOf = async (reference: string): Promise<readonly EventRow[]> => {
    const keys = await ownedKeys(ledgerAt(NOON_MS), EVENTS_OWNER, { from: "0000", to: "9999" });
    const rows: EventRow[] = [];
    for (const { pk } of keys) {
      const { Item } = await tables.db.send(new GetCommand({ TableName: tables.ledgerTable, Key: { pk } }));
      const row = eventRow.parse(Item);
      if (row.reference === reference) rows.push(row);
    }
    return rows;
  };

  test("about a known reference ends its transaction in 2 calls, and its duplicate costs 1", async () => {
    const event = await anEvent();
    const order = await anOpenOrder({ upstream: event.reference });
    proxy.calls.length = 0;
    expect(await apply(event)).toEqual({ kind: "done", outcome: "applied" });
    expect(proxy.calls.map(({ operation }) => operation)).toEqual(["Query", "UpdateItem"]);
    expect(await order.stands()).toMatchObject({ status: "success", upstream_amount_kobo: 50_000 });
    proxy.calls.length = 0;
    expect(await apply(event)).toEqual({ kind: "done", outcome: "duplicate" });
    expect(proxy.calls.map(({ operation }) => operation)).toEqual(["Query"]);
  });

  test("that says failed gives the money back once, in 2 calls", async () => {
    const event = await anEvent({ status: "failed" });
    const order = await anOpenOrder({ upstream: event.reference });
    expect(await order.balance()).toBe(1_500);
    proxy.calls.length = 0;
    await apply(event);
    expect(proxy.calls.map(({ operation }) => operation)).toEqual(["Query", "TransactWriteItems"]);
    await apply(event);
    expect(await order.balance()).toBe(2_000);
  });

  test("sent 20 times in parallel with its contradiction: one change, and what lost is on record once", async () => {
    const success = await anEvent();
    const failed: EventMessage = { ...success, status: "failed" };
    const order = await anOpenOrder({ upstream: success.reference });
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) => apply(index % 2 === 0 ? success : failed)),
    );
    expect(results.filter((result) => result.kind === "done" && result.outcome === "applied")).toHaveLength(1);
    const status = (await order.stands())?.status;
    expect(await order.balance()).toBe(status === "success" ? 1_500 : 2_000);
    expect(await recordsOf(success.reference)).toMatchObject([
      { reason: "contradiction", says: status === "success" ? "failed" : "success", state: "open" },
    ]);
  });

  test("that says failed, and that nothing but the path vouches for, waits for the operator", async () => {
    const event = await anEvent({ status: "failed", trusted: false });
    const order = await anOpenOrder({ upstream: event.reference });
    await apply(event);
    expect(await order.stands()).toMatchObject({ status: "processing" });
    expect(await recordsOf(event.reference)).toMatchObject([{ reason: "not_vouched_for" }]);
  });

  test("with another amount about a known reference is applied, and the amount is on record as our cost", async () => {
    const event = await anEvent({ amount_kobo: koboFromNaira(480) });
    const order = await anOpenOrder({ upstream: event.reference });
    const alarms = vi.spyOn(console, "log");
    await apply(event);
    expect(alarms.mock.calls.flat().join()).toContain("status.amount_differs");
    alarms.mockRestore();
    expect(await order.stands()).toMatchObject({
      status: "success",
      upstream_amount_kobo: 48_000,
      amount_kobo: 50_000,
    });
  });

  test("that is faster than our own write is looked at again after 5 s, and then applied", async () => {
    const event = await anEvent();
    expect(await apply(event)).toMatchObject({ kind: "retry", after_s: 5 });
    const order = await anOpenOrder({ upstream: event.reference });
    expect(await apply(event, NOON_MS + 5_000)).toEqual({ kind: "done", outcome: "applied" });
    expect(await order.stands()).toMatchObject({ status: "success" });
  });

  test("about a reference never seen waits until it is 3 minutes old, and not a second less", async () => {
    const event = await anEvent();
    expect(await apply(event, NOON_MS + 30_000)).toMatchObject({ kind: "retry", after_s: 150 });
    expect(await apply(event, NOON_MS + 179_000)).toMatchObject({ kind: "retry", after_s: 1 });
    expect(await apply(event, NOON_MS + 180_000)).toMatchObject({ kind: "done", outcome: "no_candidate" });
  });

  const AT_3_MINUTES = NOON_MS + 180_000;
  /** Each case has a phone number of its own, so that it meets no other case's orders. */
  const aPhoneNumber = (): string => `0803${String(Math.floor(Math.random() * 10_000_000)).padStart(7, "0")}`;

  test("about a timed-out order is matched when exactly one fits", async () => {
    const phoneNumber = aPhoneNumber();
    const order = await anOpenOrder({ phone_number: phoneNumber });
    const event = await anEvent({ phoneNumber });
    expect(await apply(event, AT_3_MINUTES)).toEqual({ kind: "done", outcome: "matched" });
    expect(await order.stands()).toMatchObject({ status: "success", upstream_reference: event.reference });
    expect(await order.balance()).toBe(1_500);
  });

  test("with two fitting orders is left to the operator, and neither changes", async () => {
    const phoneNumber = aPhoneNumber();
    const order = await anOpenOrder({ phone_number: phoneNumber });
    const other = await anOpenOrder({ phone_number: phoneNumber });
    const event = await anEvent({ phoneNumber });
    expect(await apply(event, AT_3_MINUTES)).toEqual({ kind: "done", outcome: "several_candidates" });
    expect(await order.stands()).toMatchObject({ status: "processing" });
    expect(await other.stands()).toMatchObject({ status: "processing" });
    expect(await recordsOf(event.reference)).toMatchObject([
      { reason: "several_candidates", phone_masked: "0803****567" },
    ]);
  });

  test("that fits a young order and an old one may be about either, and is left to the operator", async () => {
    const phoneNumber = aPhoneNumber();
    await anOpenOrder({ phone_number: phoneNumber, created_at: isoTime(NOON_MS - 31 * 60_000) });
    const young = await anOpenOrder({ phone_number: phoneNumber });
    const event = await anEvent({ phoneNumber });
    expect(await apply(event, AT_3_MINUTES)).toEqual({ kind: "done", outcome: "several_candidates" });
    expect(await young.stands()).toMatchObject({ status: "processing" });
  });

  const misfits: readonly (readonly [
    string,
    Partial<TransactionRow>,
    Partial<EventMessage> & { phoneNumber?: string },
  ])[] = [
    ["another phone number", {}, { phoneNumber: "08030000000" }],
    ["another amount", {}, { amount_kobo: koboFromNaira(500.01) }],
    ["another type", {}, { type: "airtime" }],
    ["an order of 31 minutes before", { created_at: isoTime(NOON_MS - 31 * 60_000) }, {}],
    ["an order made after the event", { created_at: isoTime(NOON_MS + 1_000) }, {}],
  ];
  test.each(misfits)("with %s matches nothing", async (_name, rowChanges, eventChanges) => {
    const phoneNumber = aPhoneNumber();
    const order = await anOpenOrder({ phone_number: phoneNumber, ...rowChanges });
    const event = await anEvent({ phoneNumber, ...eventChanges });
    expect(await apply(event, AT_3_MINUTES)).toEqual({ kind: "done", outcome: "no_candidate" });
    expect(await order.stands()).toMatchObject({ status: "processing" });
  });

  test("matches no order that has an upstream reference of its own", async () => {
    const phoneNumber = aPhoneNumber();
    await anOpenOrder({ phone_number: phoneNumber, upstream: `U-${randomUUID()}` });
    expect(await apply(await anEvent({ phoneNumber }), AT_3_MINUTES)).toMatchObject({ outcome: "no_candidate" });
  });

  test("that says failed about a reference never seen is never matched by guess", async () => {
    const phoneNumber = aPhoneNumber();
    const order = await anOpenOrder({ phone_number: phoneNumber });
    const event = await anEvent({ phoneNumber, status: "failed" });
    expect(await apply(event, AT_3_MINUTES)).toEqual({ kind: "done", outcome: "unknown_failure" });
    expect(await order.balance()).toBe(1_500);
    await apply(event, AT_3_MINUTES);
    expect(await recordsOf(event.reference)).toHaveLength(1);
  });

  test("that is poison among ten: nine are applied, and one lands in the dead letters", {
    timeout: 20_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "status-in-"));
    const shape = { consumer: "apply-status", batchSize: 10, visibilityTimeoutS: 1, receivesMax: 2 };
    const queues = await startQueues({ status: shape }, folder);
    const events = await Promise.all(Array.from({ length: 9 }, () => anEvent()));
    const orders = await Promise.all(events.map(({ reference }) => anOpenOrder({ upstream: reference })));
    const bodies = [...events.map((event) => JSON.stringify(event)), '{"kind":"event","status":"junk"}'];
    for (const MessageBody of bodies) {
      await queues.client.send(new SendMessageCommand({ QueueUrl: queues.url("status"), MessageBody }));
    }
    const handler = queueHandler(statusMessage, applyStatus({ ledger: ledgerAt(NOON_MS), naming }));
    const consumer = consumeQueue({
      client: queues.client,
      queueName: "status",
      queueUrl: queues.url("status"),
      batchSize: 10,
      functionName: "apply-status",
      invoke: (_name, batch) => handler(batch, aLambdaContext()),
    });
    const depth = async (name: string) => {
      const { Attributes } = await queues.client.send(
        new GetQueueAttributesCommand({ QueueUrl: queues.url(name), AttributeNames: ["ApproximateNumberOfMessages"] }),
      );
      return Number(Attributes?.ApproximateNumberOfMessages);
    };
    await vi.waitFor(async () => expect(await depth(deadLettersOf("status"))).toBe(1), {
      timeout: 15_000,
      interval: 200,
    });
    for (const order of orders) expect(await order.stands()).toMatchObject({ status: "success" });
    await consumer.stop();
    await queues.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});
