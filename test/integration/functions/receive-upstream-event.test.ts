import { createHmac, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { createAccount } from "../../../shared/access/accounts.ts";
import type { MessageResult } from "../../../shared/lambda/queue-handler.ts";
import { queueHandler } from "../../../shared/lambda/queue-handler.ts";
import { readTransaction } from "../../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../../shared/ledger/open-transaction.ts";
import { ownedKeys } from "../../../shared/ledger/query-index.ts";
import { EVENTS_OWNER, transactionPk } from "../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../shared/ledger/settle-transaction.ts";
import { referenceOf, type Transaction } from "../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { type EventMessage, type OutcomeMessage, outcomeMessage } from "../../../shared/orders/outcome-queue.ts";
import { secretsClient, sqsClient } from "../../../shared/platform/aws-clients.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { loadKeyedHashes } from "../../../shared/platform/keyed-hashes.ts";
import { koboFromNaira, nairaFromKobo } from "../../../shared/platform/money.ts";
import { secret } from "../../../shared/platform/secrets.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { applyOutcome } from "../../../shared/upstream-events/apply-upstream-event.ts";
import { eventMac, type UnsignedEvent } from "../../../shared/upstream-events/event-mac.ts";
import {
  eventSummary,
  listEvents,
  type StoredEvent,
  storedEventSchema,
} from "../../../shared/upstream-events/stored-event.ts";
import { consumeQueue } from "../../../tools/local/queue-consumer.ts";
import { deadLettersOf, startQueues } from "../../../tools/local/queues.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "../../builders/dynamodb-proxy.ts";
import { aLambdaContext } from "../../builders/lambda-context.ts";
import { anOrder, BUY_DATA, startTestService, type TestService, transactionOf } from "../../builders/service.ts";
import { emulatorClient, freshTables } from "../../builders/tables.ts";
import { aTransactionRow } from "../../builders/transaction.ts";

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
    ["without data", JSON.stringify({ event: "transaction.updated" }), "data absent"],
    ["of status junk", event({ ...data, status: 7 }), "status number"],
    ["without a reference", event({ ...data, reference: undefined }), "reference absent, status success"],
    ["whose data is a list", JSON.stringify({ event: "transaction.updated", data: [] }), "data list of 0"],
    ["without a name", JSON.stringify({ data }), "event absent, status success"],
  ])("accepts an event %s, and keeps it for the operator", async (_name, body, problem) => {
    expect(await post(body)).toMatchObject({ status: 200, body: { data: { outcome: "accepted" } } });
    await vi.waitFor(async () => {
      const kept = (await listEvents(service.ledger, "0000")).filter((each) => eventSummary(each) === problem);
      expect(kept).toMatchObject([{ reason: "unreadable", state: "open" }]);
    }, 5_000);
  });

  test("refuses an event that cannot be read where its token or its signature is wrong", async () => {
    const reversed = event({ ...data, status: "reversed", reference: "U-refused" });
    expect((await post(reversed, { url: webhook().url.replace(/[^/]+$/, "x".repeat(43)) })).status).toBe(404);
    expect((await post(reversed, { signature: null })).status).toBe(401);
    expect((await listEvents(service.ledger, "0000")).map(({ reference }) => reference)).not.toContain("U-refused");
  });

  test("lets an event with its amount in text and its reference as a number end the order that it is about", async () => {
    const { key } = await service.newCaller();
    const transaction = { reference: 90_210, status: "processing", amount: "500.00" };
    const body = JSON.stringify({ status: true, message: "", data: { transaction } });
    service.simulator.state.faults.add({ kind: "custom", path: BUY_DATA, status: 200, body });
    const bought = await service.call("POST", BUY_DATA, { key, body: anOrder() });
    service.simulator.state.faults.clear();
    const { reference, status } = transactionOf(bought);
    expect(status).toBe("processing");
    const told = { ...data, reference: 90_210, status: "Success", amount: "500.00", type: null };
    expect((await post(event(told))).status).toBe(200);
    await vi.waitFor(async () => {
      const found = await service.call("GET", `/transactions/${reference}`, { key });
      expect(transactionOf(found).status).toBe("success");
    }, 5_000);
  });

  test("keeps an event that says reversed with the order that stands as success, and leaves the order", async () => {
    const { key, balance } = await service.newCaller();
    const { reference } = transactionOf(await service.call("POST", BUY_DATA, { key, body: anOrder() }));
    const upstream = service.simulator.state.purchases.at(-1)?.upstreamReference ?? "";
    for (let copy = 0; copy < 2; copy += 1) {
      expect((await post(event({ ...data, reference: upstream, status: "reversed" }))).status).toBe(200);
    }
    const aboutIt = async () =>
      (await listEvents(service.ledger, "0000")).filter((each) => each.reference === upstream);
    const transaction = transactionPk(reference.replace(/^DATA_/, ""));
    await vi.waitFor(
      async () =>
        expect(await aboutIt()).toMatchObject([{ reason: "unreadable", problem: "status reversed", transaction }]),
      5_000,
    );
    expect(await balance()).toBe(9_500);
    expect(await readTransaction(service.ledger, transaction)).toMatchObject({ status: "success" });
  });

  test.each([
    ["300 KB", "x".repeat(300 * 1_024)],
    ["half a JSON text", "{"],
    ["a form", "event=transaction.updated&reference=U-1"],
    ["a list", "[]"],
  ])("refuses %s with 400, and raises an alarm", async (_name, body) => {
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    onTestFinished(() => said.mockRestore());
    expect(await post(body)).toMatchObject({ status: 400, code: "invalid_json" });
    expect(said.mock.calls.filter(([line]) => String(line).includes("upstream_event.refused"))).toHaveLength(1);
  });

  test("refuses half a JSON text under another token without an alarm", async () => {
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    onTestFinished(() => said.mockRestore());
    expect((await post("{", { url: webhook().url.replace(/[^/]+$/, "x".repeat(43)) })).status).toBe(404);
    expect(said.mock.calls.flat().join()).not.toContain("upstream_event.refused");
  });

  test("is the only way to a refund: a failed that somebody else put on the queue waits for the operator", async () => {
    const { key, balance } = await service.newCaller();
    const order = { key, body: anOrder({ phone_number: "08000000004" }) };
    const { reference } = transactionOf(await service.call("POST", BUY_DATA, order));
    const upstreamReference = service.simulator.state.purchases.at(-1)?.upstreamReference ?? "";
    const keyedHashes = await loadKeyedHashes(secret(secretsClient(), "reference-key"))();
    const message: UnsignedEvent = {
      kind: "event",
      mode: "live",
      received_at: isoTime(Date.now()),
      reference: upstreamReference,
      status: "failed",
      amount_kobo: koboFromNaira(500),
      type: "data",
    };
    const otherMac = eventMac(keyedHashes, { ...message, reference: "U-another" });
    const sqs = sqsClient();
    onTestFinished(() => sqs.destroy());
    for (const forged of [
      { ...message, trusted: true },
      { ...message, trusted: true, type: "airtime", mac: otherMac },
    ]) {
      const MessageBody = JSON.stringify(forged);
      await sqs.send(new SendMessageCommand({ QueueUrl: process.env.OUTCOMES_QUEUE_URL, MessageBody }));
    }
    const waiting = async () => {
      const events = (await listEvents(service.ledger, "0000")).filter((each) => each.reference === upstreamReference);
      return events.map(({ reason }) => reason);
    };
    await vi.waitFor(async () => expect(await waiting()).toEqual(["unauthenticated", "unauthenticated"]), 5_000);
    expect(await balance()).toBe(9_500);

    // The upstream's own event ends it.
    expect((await post(event({ ...data, reference: upstreamReference, status: "failed" }))).status).toBe(200);
    await vi.waitFor(async () => expect(await balance()).toBe(10_000), 5_000);
    const found = await service.call("GET", `/transactions/${reference}`, { key });
    expect(transactionOf(found).status).toBe("failed");
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
  const keyedHashes = loadKeyedHashes(key);
  let proxy: DynamoDbProxy;
  let tables: Awaited<ReturnType<typeof freshTables>>;
  beforeAll(async () => {
    proxy = await startDynamoDbProxy(inject("dynamodbEndpoint"));
    tables = await freshTables();
  });
  afterAll(() => proxy.stop());

  const ledgerAt = (nowMs: number): Ledger => ({
    db: emulatorClient(proxy.endpoint),
    table: tables.ledgerTable,
    clock: () => nowMs,
  });
  const apply = (message: OutcomeMessage, nowMs = NOON_MS): Promise<MessageResult> =>
    applyOutcome({ ledger: ledgerAt(nowMs), keyedHashes })(message, deadlineIn(29_000));

  /** An account of 2,000 NGN with one open order of 500 NGN; `upstream` is what the upstream calls it. */
  const anOpenOrder = async (changes: Partial<Transaction> & { upstream?: string } = {}) => {
    const { upstream, ...rowChanges } = changes;
    const store = { ...tables, clock: () => NOON_MS };
    const { account_id } = await createAccount(store, { name: "test", whitelist: [] });
    await fundWallet(ledgerAt(NOON_MS), {
      accountId: account_id,
      fundingId: account_id,
      amountKobo: koboFromNaira(2_000),
    });
    const transaction = await openFor(account_id, rowChanges);
    if (upstream !== undefined) {
      await settleTransaction(
        ledgerAt(NOON_MS),
        transaction,
        { status: "processing", upstream_reference: upstream },
        deadlineIn(9_000),
      );
    }
    return {
      transaction,
      balance: () => balanceOf(account_id),
      stands: () => readTransaction(ledgerAt(NOON_MS), transaction.pk),
    };
  };
  const openFor = async (account_id: string, changes: Partial<Transaction> = {}): Promise<Transaction> => {
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

  type EventChanges = Partial<UnsignedEvent> & { phoneNumber?: string };
  /** An event that an address list or a signature vouches for. */
  const anEvent = async (changes: EventChanges = {}): Promise<EventMessage> =>
    vouchedFor(await anUnsignedEvent(changes));
  const vouchedFor = async (event: UnsignedEvent): Promise<EventMessage> => ({
    ...event,
    mac: eventMac(await keyedHashes(), event),
  });
  const anUnsignedEvent = async (changes: EventChanges = {}): Promise<UnsignedEvent> => {
    const { phoneNumber = "08031234567", ...rest } = changes;
    const { hashSubject } = await keyedHashes();
    return {
      kind: "event",
      mode: "live",
      received_at: isoTime(NOON_MS),
      reference: `U-${randomUUID()}`,
      status: "success",
      amount_kobo: koboFromNaira(500),
      type: "data",
      phone: { hmac: hashSubject("phone_number", phoneNumber), masked: "0803****567" },
      ...rest,
    };
  };
  const recordsOf = async (reference: string): Promise<readonly StoredEvent[]> => {
    const keys = await ownedKeys(ledgerAt(NOON_MS), EVENTS_OWNER, { from: "0000", to: "9999" });
    const rows: StoredEvent[] = [];
    for (const { pk } of keys) {
      const { Item } = await tables.db.send(new GetCommand({ TableName: tables.ledgerTable, Key: { pk } }));
      const row = storedEventSchema.parse(Item);
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
    const failed = await anEvent({ reference: success.reference, status: "failed" });
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
    const event = await anUnsignedEvent({ status: "failed" });
    const order = await anOpenOrder({ upstream: event.reference });
    await apply(event);
    expect(await order.stands()).toMatchObject({ status: "processing" });
    expect(await recordsOf(event.reference)).toMatchObject([{ reason: "unauthenticated" }]);
  });

  test("that says failed changes no money where its MAC is absent, another event's, or of changed fields", async () => {
    const { mac } = await anEvent({ status: "failed" });
    const event = await anUnsignedEvent({ status: "failed" });
    const order = await anOpenOrder({ upstream: event.reference });
    const own = await vouchedFor(event);
    const forged: readonly EventMessage[] = [
      event,
      { ...event, mac: "" },
      { ...event, mac },
      { ...own, mac: `${own.mac}A` },
      { ...own, amount_kobo: koboFromNaira(1) },
      { ...own, received_at: isoTime(NOON_MS - 1) },
      { ...own, phone: undefined },
      { ...own, type: undefined },
      { ...own, amount_kobo: undefined },
      await vouchedFor({ ...event, status: "success" }).then((success) => ({ ...success, status: "failed" as const })),
    ];
    for (const message of forged) {
      expect(await apply(message)).toEqual({ kind: "done", outcome: "unauthenticated" });
    }
    expect(await order.stands()).toMatchObject({ status: "processing" });
    expect(await order.balance()).toBe(1_500);
    expect(await apply(own)).toEqual({ kind: "done", outcome: "applied" });
    expect(await order.balance()).toBe(2_000);
  });

  test("with another amount about a known reference is applied, and the amount is on record as our cost", async () => {
    const event = await anEvent({ amount_kobo: koboFromNaira(480) });
    const order = await anOpenOrder({ upstream: event.reference });
    const alarms = vi.spyOn(console, "log");
    await apply(event);
    expect(alarms.mock.calls.flat().join()).toContain("transaction.amount_differs");
    alarms.mockRestore();
    expect(await order.stands()).toMatchObject({
      status: "success",
      upstream_amount_kobo: 48_000,
      amount_kobo: 50_000,
    });
  });

  /** The amounts that alarms named while the messages were applied, one after another. */
  const amountsAlerted = async (...messages: readonly EventMessage[]): Promise<readonly unknown[]> => {
    const said = vi.spyOn(console, "log").mockImplementation(() => undefined);
    onTestFinished(() => said.mockRestore());
    for (const message of messages) await apply(message);
    const line = z.object({ event: z.string(), ours: z.number(), theirs: z.number().optional() });
    const lines = said.mock.calls.map(([text]) => line.safeParse(JSON.parse(String(text))).data);
    said.mockRestore();
    return lines.flatMap((found) => (found?.event === "transaction.amount_differs" ? [found.theirs] : []));
  };

  test("with another amount raises the alarm for an order that has ended by its request too", async () => {
    for (const [status, settled] of [
      ["success", { status: "success", upstream_amount_kobo: koboFromNaira(500) }],
      ["failed", { status: "failed", failure: { code: "delivery_failed" } }],
    ] as const) {
      const event = await anEvent({ status, amount_kobo: koboFromNaira(520) });
      const { transaction } = await anOpenOrder({ upstream: event.reference });
      await settleTransaction(ledgerAt(NOON_MS), transaction, settled, deadlineIn(9_000));
      expect(await amountsAlerted(event), status).toEqual([52_000]);
      expect(await amountsAlerted(await anEvent({ reference: event.reference, status }))).toEqual([]);
    }
  });

  test("with another amount raises one alarm, however often it comes", async () => {
    const event = await anEvent({ amount_kobo: koboFromNaira(520) });
    await anOpenOrder({ upstream: event.reference });
    expect(await amountsAlerted(event, event, event)).toEqual([52_000]);
  });

  test("with the amount that its request was answered with already raises no second alarm", async () => {
    const event = await anEvent({ amount_kobo: koboFromNaira(520) });
    const { transaction } = await anOpenOrder({ upstream: event.reference });
    const answered = { status: "processing", upstream_amount_kobo: koboFromNaira(520) } as const;
    await settleTransaction(ledgerAt(NOON_MS), transaction, answered, deadlineIn(9_000));
    expect(await amountsAlerted(event)).toEqual([]);
    expect(
      await amountsAlerted(await anEvent({ reference: event.reference, amount_kobo: koboFromNaira(530) })),
    ).toEqual([53_000]);
  });

  test("with another amount, and a failed that nobody vouches for, raises the alarm", async () => {
    const event = await anUnsignedEvent({ status: "failed", amount_kobo: koboFromNaira(520) });
    await anOpenOrder({ upstream: event.reference });
    expect(await amountsAlerted(event)).toEqual([52_000]);
  });

  test("without an amount and a type is applied to the order that it names, and raises no alarm", async () => {
    const event = await anEvent({ amount_kobo: undefined, type: undefined });
    const order = await anOpenOrder({ upstream: event.reference });
    expect(await amountsAlerted(event, event)).toEqual([]);
    const settled = await order.stands();
    expect(settled).toMatchObject({ status: "success" });
    expect(settled?.upstream_amount_kobo).toBeUndefined();
  });

  test.each(["amount_kobo", "type", "phone"])("without its %s fits no order that it does not name", async (field) => {
    const phoneNumber = aPhoneNumber();
    const order = await anOpenOrder({ phone_number: phoneNumber });
    const event = await anEvent({ phoneNumber, [field]: undefined });
    expect(await apply(event, AT_3_MINUTES)).toEqual({ kind: "done", outcome: "no_candidate" });
    expect(await order.stands()).toMatchObject({ status: "processing" });
  });

  test("that is faster than our own write is looked at again after 5 s, and then applied", async () => {
    const event = await anEvent();
    expect(await apply(event)).toMatchObject({ kind: "retry", afterS: 5 });
    const order = await anOpenOrder({ upstream: event.reference });
    expect(await apply(event, NOON_MS + 5_000)).toEqual({ kind: "done", outcome: "applied" });
    expect(await order.stands()).toMatchObject({ status: "success" });
  });

  const AT_3_MINUTES = NOON_MS + 180_000;
  /** Each case has a phone number of its own, so that it meets no other case's orders. */
  const aPhoneNumber = (): string => `0803${String(Math.floor(Math.random() * 10_000_000)).padStart(7, "0")}`;

  describe("that carries our own reference, which we sent upstream,", () => {
    /** An open order of ours, and how an event calls it that uses our reference. */
    const anOwnOrder = async (changes: Partial<Transaction> & { upstream?: string } = {}) => {
      const { transactionId } = await keyedHashes();
      const order = await anOpenOrder({
        pk: transactionPk(transactionId({ accountId: "any", mode: "live" })),
        ...changes,
      });
      return { ...order, reference: referenceOf(order.transaction) };
    };

    test("ends its transaction in 3 calls, and the upstream's own reference stays unknown", async () => {
      const order = await anOwnOrder();
      const event = await anEvent({ reference: order.reference });
      proxy.calls.length = 0;
      expect(await apply(event)).toEqual({ kind: "done", outcome: "applied" });
      expect(proxy.calls.map(({ operation }) => operation)).toEqual(["Query", "GetItem", "UpdateItem"]);
      const settled = await order.stands();
      expect(settled).toMatchObject({ status: "success", upstream_amount_kobo: 50_000 });
      expect(settled?.upstream_reference).toBeUndefined();
      expect(await apply(event)).toEqual({ kind: "done", outcome: "duplicate" });
    });

    test("leaves an upstream reference that is on record as it is", async () => {
      const upstream = `U-${randomUUID()}`;
      const order = await anOwnOrder({ upstream });
      expect(await apply(await anEvent({ reference: order.reference }))).toMatchObject({ outcome: "applied" });
      expect(await order.stands()).toMatchObject({ status: "success", upstream_reference: upstream });
    });

    test("and says failed, gives the money back once where it is vouched for, and waits where it is not", async () => {
      const order = await anOwnOrder();
      const event = await anUnsignedEvent({ reference: order.reference, status: "failed" });
      expect(await apply(event)).toEqual({ kind: "done", outcome: "unauthenticated" });
      expect(await order.balance()).toBe(1_500);
      const own = await vouchedFor(event);
      expect(await apply(own)).toEqual({ kind: "done", outcome: "applied" });
      expect(await apply(own)).toEqual({ kind: "done", outcome: "duplicate" });
      expect(await order.balance()).toBe(2_000);
    });

    test("and another amount, raises the alarm; and its contradiction is left to the operator", async () => {
      const order = await anOwnOrder();
      const event = await anEvent({ reference: order.reference, amount_kobo: koboFromNaira(520) });
      expect(await amountsAlerted(event)).toEqual([52_000]);
      expect(await order.stands()).toMatchObject({ status: "success", upstream_amount_kobo: 52_000 });
      const contrary = await anEvent({ reference: order.reference, status: "failed" });
      expect(await apply(contrary)).toEqual({ kind: "done", outcome: "contradiction" });
    });

    test("is not about a transaction of the sandbox", async () => {
      const { transactionId } = await keyedHashes();
      const { account_id } = await createAccount({ ...tables, clock: () => NOON_MS }, { name: "test", whitelist: [] });
      const pk = transactionPk(transactionId({ accountId: account_id, mode: "test" }));
      const row = await openFor(account_id, { pk, mode: "test", owner: `${account_id}#test`, open: undefined });
      const event = await anEvent({ reference: referenceOf(row) });
      expect(await apply(event)).toEqual({ kind: "done", outcome: "no_candidate" });
      expect(await readTransaction(ledgerAt(NOON_MS), pk)).toMatchObject({ status: "processing" });
    });

    test("under the prefix of another type, is not taken for it", async () => {
      const order = await anOwnOrder({ phone_number: aPhoneNumber() });
      const reference = order.reference.replace("DATA_", "AIRTIME_");
      expect(await apply(await anEvent({ reference }))).toMatchObject({ kind: "retry", reason: "reference_unknown" });
      expect(await order.stands()).toMatchObject({ status: "processing" });
    });

    test("or only one that looks like ours, is matched as any reference that nobody knows", async () => {
      const { transactionId } = await keyedHashes();
      const phoneNumber = aPhoneNumber();
      const order = await anOpenOrder({ phone_number: phoneNumber });
      const reference = `DATA_${transactionId({ accountId: "upstream", mode: "live" })}`;
      const event = await anEvent({ reference, phoneNumber });
      expect(await apply(event)).toMatchObject({ kind: "retry", reason: "reference_unknown" });
      expect(await apply(event, AT_3_MINUTES)).toEqual({ kind: "done", outcome: "matched" });
      expect(await order.stands()).toMatchObject({ status: "success", upstream_reference: reference });
    });
  });

  test("comes in any order with others about its order, each twice and late: one end, and money to match", async () => {
    for (const order of permutations([0, 1, 2, 3])) {
      const { transactionId } = await keyedHashes();
      const pk = transactionPk(transactionId({ accountId: "any", mode: "live" }));
      const { transaction, balance, stands } = await anOpenOrder({ pk, phone_number: aPhoneNumber() });
      const upstreamReference = `U-${randomUUID()}`;
      const messages: readonly OutcomeMessage[] = [
        {
          kind: "settlement",
          mode: "live",
          transaction: pk,
          attempt: transaction.attempt,
          settlement: { status: "processing", upstream_reference: upstreamReference },
        },
        await anEvent({ reference: upstreamReference }),
        await anEvent({ reference: referenceOf(transaction) }),
        await anEvent({ reference: upstreamReference, status: "failed" }),
      ];
      const deliveries = order.flatMap((position) => [messages[position], messages[position]]);
      const ends: (string | undefined)[] = [];
      // What asks for a retry comes again at the end, when it is old enough to be decided.
      for (const nowMs of [NOON_MS, AT_3_MINUTES]) {
        for (const message of deliveries.splice(0)) {
          if (message === undefined) continue;
          if ((await apply(message, nowMs)).kind === "retry") deliveries.push(message);
          ends.push((await stands())?.status);
        }
      }
      expect(deliveries, String(order)).toEqual([]);
      const [end, ...changes] = [...new Set(ends)].filter((status) => status !== "processing");
      expect(changes, String(order)).toEqual([]);
      expect(await balance(), String(order)).toBe(end === "success" ? 1_500 : 2_000);
      expect(end === "success" || end === "failed", String(order)).toBe(true);
    }
  });

  test("about a reference never seen waits until it is 3 minutes old, and not a second less", async () => {
    const event = await anEvent();
    expect(await apply(event, NOON_MS + 30_000)).toMatchObject({ kind: "retry", afterS: 150 });
    expect(await apply(event, NOON_MS + 179_000)).toMatchObject({ kind: "retry", afterS: 1 });
    expect(await apply(event, NOON_MS + 180_000)).toMatchObject({ kind: "done", outcome: "no_candidate" });
  });

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

  const misfits: readonly (readonly [string, Partial<Transaction>, EventChanges])[] = [
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
    const shape = { consumer: "apply-upstream-event", batchSize: 10, visibilityTimeoutS: 1, receivesMax: 2 };
    const queues = await startQueues({ status: shape }, folder);
    const events = await Promise.all(Array.from({ length: 9 }, () => anEvent()));
    const orders = await Promise.all(events.map(({ reference }) => anOpenOrder({ upstream: reference })));
    const bodies = [...events.map((event) => JSON.stringify(event)), '{"kind":"event","status":"junk"}'];
    for (const MessageBody of bodies) {
      await queues.client.send(new SendMessageCommand({ QueueUrl: queues.url("status"), MessageBody }));
    }
    const handler = queueHandler(outcomeMessage, applyOutcome({ ledger: ledgerAt(NOON_MS), keyedHashes }));
    const consumer = consumeQueue({
      client: queues.client,
      queueName: "status",
      queueUrl: queues.url("status"),
      batchSize: 10,
      functionName: "apply-upstream-event",
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

/** Every order of some values. */
const permutations = <Value>(values: readonly Value[]): readonly (readonly Value[])[] =>
  values.length === 0
    ? [[]]
    : values.flatMap((value, index) => permutations(values.toSpliced(index, 1)).map((rest) => [value, ...rest]));
