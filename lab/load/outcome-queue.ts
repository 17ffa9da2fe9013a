import { GetQueueAttributesCommand, SendMessageBatchCommand, SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { expect, vi } from "vitest";
import { koboSchema } from "../../shared/contract/values/money.ts";
import type { EventMessage } from "../../shared/orders/outcome-message.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { deadLettersOf } from "../../shared/platform/queue-names.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { eventMac, type UnsignedEvent } from "../../shared/upstream-events/event-mac.ts";
import { seeded } from "../../test/builders/run/seeded.ts";
import { queueArn } from "../../tools/local/queues.ts";
import type { Order } from "../../tools/simulator/state.ts";
import { createClient, orderRequest } from "./client.ts";
import { expectBalancesMatchEntries, readLedgerState } from "./ledger-state.ts";
import { byReference } from "./purchase-assertions.ts";
import { deadLettersUrlOf, takeDeadLetters, urlOf } from "./queues.ts";
import { inParallel, reportResults, tally } from "./results.ts";
import { type LoadAccount, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { expectNoUnexpectedErrors, strainOf } from "./unexpected-errors.ts";

const ACCOUNTS = 4;
const ORDERS_PER_KEY = 50;
const NAIRA = 50;
/** Orders for it stay `processing` until an event settles them. */
const OPEN_PHONE_NUMBER = "08000000004";
const CONCURRENCY = 16;
/** One message in this many is invalid; of the others, one in this many is a duplicate. */
const INVALID_EVERY = 100;
const DUPLICATE_EVERY = 5;
const SEND_MAX = 10;
const SHUFFLE_SEED = 20_261_122;

/** Bodies that are no message of the outcomes queue. */
const invalidBodies: readonly string[] = [
  "not JSON",
  "{",
  "null",
  "[]",
  '"event"',
  "{}",
  '{"kind":"event"}',
  '{"kind":"event","mode":"test","reference":"U-1","status":"success","type":"data"}',
  '{"kind":"event","mode":"live","received_at":"yesterday","reference":"U-1","status":"success","type":"data"}',
  '{"kind":"event","mode":"live","received_at":"2026-11-21T09:30:00.000Z","reference":"U-1","status":"reversed","type":"data"}',
  '{"kind":"settlement","mode":"live","transaction_pk":"transaction#1","write_token":"1","settlement":{"status":"gone"}}',
  `{"kind":"${"x".repeat(100_000)}"}`,
  `${"[".repeat(20_000)}`,
];

/**
 * Fills the outcomes queue with valid, duplicate and invalid messages. The run has its own visibility timeout and
 * number of receives, because with those of the service an invalid message would be retried for 24 minutes.
 */
export const runOutcomeQueue = async (options: {
  readonly messages: number;
  readonly visibilityS: number;
  readonly receives: number;
}): Promise<void> => {
  const { messages } = options;
  const service = await startServiceProcess();
  const { admin, simulator } = service;
  const invalid = messages / INVALID_EVERY;
  const orders = Math.floor(((messages - invalid) * (DUPLICATE_EVERY - 1)) / DUPLICATE_EVERY);
  const duplicates = messages - invalid - orders;
  try {
    await placeOpenOrders(service, orders);
    await setRetries(service, options);
    const before = await readLedgerState(admin.ledger);
    const keyedHashes = await loadKeyedHashes(
      secret(admin.secrets, admin.target.environment.REFERENCE_KEY_SECRET_ID),
    )();
    const events = simulator.state.purchases
      .map(eventOfOrder)
      .map((event): EventMessage => ({ ...event, mac: eventMac(keyedHashes, event) }));
    const invalidMessages = Array.from(
      { length: invalid },
      (_, index) => invalidBodies[index % invalidBodies.length] ?? "",
    );
    const bodies = shuffled([
      ...[...events, ...events.slice(0, duplicates)].map((one) => JSON.stringify(one)),
      ...invalidMessages,
    ]);

    const begun = performance.now();
    await sendAll(service, bodies);
    const backlog = await depth(service, urlOf(admin, "outcomes"));
    await vi.waitFor(async () => expect(await depth(service, urlOf(admin, "outcomes"))).toBeLessThanOrEqual(invalid), {
      timeout: 600_000,
      interval: 100,
    });
    const seconds = (performance.now() - begun) / 1_000;
    await vi.waitFor(
      async () => {
        expect(await depth(service, deadLettersUrlOf(admin, "outcomes"))).toBe(invalid);
        expect(await depth(service, urlOf(admin, "outcomes"))).toBe(0);
      },
      { timeout: 300_000, interval: 250 },
    );

    const after = await readLedgerState(admin.ledger);
    expectBalancesMatchEntries(after);
    const transactionsByReference = byReference(after.transactions);
    for (const [index, { reference }] of simulator.state.purchases.entries()) {
      expect(transactionsByReference.get(reference ?? "")?.status).toBe(statusOf(index));
    }
    // Each refund changed its wallet once.
    for (const { account_id, version } of after.wallets) {
      const failed = after.transactions.filter(
        (transaction) => transaction.account_id === account_id && transaction.status === "failed",
      ).length;
      expect(version - (before.wallets.find((wallet) => wallet.account_id === account_id)?.version ?? 0)).toBe(failed);
    }
    const outcomes = tally(
      service.logLines().flatMap((line) => /"outcome":"(applied|duplicate)"/.exec(line)?.[1] ?? []),
    );
    expect(outcomes.applied).toBe(orders);
    expect(outcomes.duplicate).toBeGreaterThanOrEqual(duplicates);
    expect(tally(await takeDeadLetters(admin, "outcomes"))).toEqual(tally(invalidMessages));
    expectNoUnexpectedErrors(service, ["message.failed"]);

    reportResults("outcomes queue", {
      messages,
      orders,
      duplicates,
      invalid,
      "waiting once all were sent": backlog,
      "seconds until all valid ones were applied": Math.round(seconds * 10) / 10,
      "messages per second": Math.round((messages - invalid) / seconds),
      "applied once": outcomes.applied ?? 0,
      "dead letters": invalid,
      ...strainOf(service),
    });
  } finally {
    await service.stop();
  }
};

const setRetries = async (
  { admin }: ServiceProcess,
  { visibilityS, receives }: { readonly visibilityS: number; readonly receives: number },
): Promise<void> => {
  const deadLetterTargetArn = queueArn(deadLettersOf("outcomes"));
  const Attributes = {
    VisibilityTimeout: String(visibilityS),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: receives }),
  };
  await admin.sqs.send(new SetQueueAttributesCommand({ QueueUrl: urlOf(admin, "outcomes"), Attributes }));
};

const placeOpenOrders = async (service: ServiceProcess, orders: number): Promise<void> => {
  const accounts: LoadAccount[] = [];
  const each = Math.ceil(orders / ACCOUNTS);
  while (accounts.length < ACCOUNTS) {
    accounts.push(await service.newAccount({ naira: each * NAIRA, keys: Math.ceil(each / ORDERS_PER_KEY) }));
  }
  const client = createClient(service.baseUrl);
  await inParallel(orders, CONCURRENCY, async (index) => {
    const keys = accounts[index % ACCOUNTS]?.keys ?? [];
    const key = keys[Math.floor(index / ACCOUNTS) % keys.length] ?? "";
    const body = { network: "mtn", amount: NAIRA, phone_number: OPEN_PHONE_NUMBER };
    expect(await client.send(orderRequest("/vtu/airtime/purchase", key, body))).toMatchObject({ status: 200 });
  });
  client.close();
};

/** Orders succeed and fail in turn. */
const statusOf = (index: number): EventMessage["status"] => (index % 2 === 0 ? "success" : "failed");

const eventOfOrder = ({ upstreamReference, amountKobo }: Order, index: number): UnsignedEvent => ({
  kind: "event",
  mode: "live",
  received_at: isoTime(Date.now()),
  reference: upstreamReference,
  status: statusOf(index),
  amount_kobo: koboSchema.parse(amountKobo),
  type: "airtime",
});

const shuffled = <Value>(values: readonly Value[]): Value[] => {
  const random = seeded(SHUFFLE_SEED);
  return values
    .map((value) => ({ value, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ value }) => value);
};

const sendAll = async ({ admin }: ServiceProcess, bodies: readonly string[]): Promise<void> => {
  await inParallel(Math.ceil(bodies.length / SEND_MAX), CONCURRENCY, async (turn) => {
    const Entries = bodies
      .slice(turn * SEND_MAX, (turn + 1) * SEND_MAX)
      .map((MessageBody, position) => ({ Id: String(position), MessageBody }));
    const { Failed = [] } = await admin.sqs.send(
      new SendMessageBatchCommand({ QueueUrl: urlOf(admin, "outcomes"), Entries }),
    );
    expect(Failed).toEqual([]);
  });
};

/** The messages that are visible or in flight. */
const depth = async ({ admin }: ServiceProcess, QueueUrl: string): Promise<number> => {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  const { Attributes } = await admin.sqs.send(command);
  const { ApproximateNumberOfMessages: ready, ApproximateNumberOfMessagesNotVisible: inFlight } = Attributes ?? {};
  return Number(ready) + Number(inFlight);
};
