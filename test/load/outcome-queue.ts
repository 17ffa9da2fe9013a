import { GetQueueAttributesCommand, SendMessageBatchCommand, SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { expect, vi } from "vitest";
import type { EventMessage } from "../../shared/orders/outcome-queue.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { koboSchema } from "../../shared/platform/money.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { eventMac, type UnsignedEvent } from "../../shared/upstream-events/event-mac.ts";
import { deadLettersOf, queueArn } from "../../tools/local/queues.ts";
import type { Order } from "../../tools/simulator/state.ts";
import { seeded } from "../builders/seeded.ts";
import { expectMoneyIsExact, readBooks } from "./books.ts";
import { expectNothingBroke, strainOn } from "./broken.ts";
import { newClient, order } from "./client.ts";
import { inParallel, reportFigures, tally } from "./figures.ts";
import { byReference } from "./purchase-audit.ts";
import { deadLetters, deadLettersUrlOf, urlOf } from "./queue.ts";
import { type LoadAccount, type ServiceProcess, startServiceProcess } from "./service-process.ts";

const ACCOUNTS = 4;
const ORDERS_PER_KEY = 50;
const NAIRA = 50;
/** Taken by the upstream, and open until an event says otherwise. */
const STAYS_OPEN = "08000000004";
const CONCURRENCY = 16;
/** One message in so many cannot be read; of the others, one in so many comes a second time. */
const POISON_EVERY = 100;
const DUPLICATE_EVERY = 5;
const SEND_MAX = 10;
const SHUFFLE_SEED = 20_261_122;

/** Everything that a outcomes queue could hold by mistake. */
const poisons: readonly string[] = [
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
  '{"kind":"settlement","mode":"live","transaction":"transaction#1","attempt":"1","settlement":{"status":"gone"}}',
  `{"kind":"${"x".repeat(100_000)}"}`,
  `${"[".repeat(20_000)}`,
];

/**
 * A outcomes queue with so many messages, unreadable ones and duplicates among them. With the queue's own visibility timeout of 180 s
 * poison would come back for 24 minutes, so that the run brings its own: `visibilityS` for so many `receives`.
 */
export const runOutcomeQueue = async (wish: {
  readonly messages: number;
  readonly visibilityS: number;
  readonly receives: number;
}): Promise<void> => {
  const { messages } = wish;
  const service = await startServiceProcess();
  const { desk, simulator } = service;
  const poison = messages / POISON_EVERY;
  const orders = Math.floor(((messages - poison) * (DUPLICATE_EVERY - 1)) / DUPLICATE_EVERY);
  const duplicates = messages - poison - orders;
  try {
    await placeOpenOrders(service, orders);
    await setPatience(service, wish);
    const before = await readBooks(desk.ledger);
    const keyedHashes = await loadKeyedHashes(secret(desk.secrets, desk.target.environment.REFERENCE_KEY_SECRET_ID))();
    const events = simulator.state.purchases
      .map(eventAbout)
      .map((event): EventMessage => ({ ...event, mac: eventMac(keyedHashes, event) }));
    const bad = Array.from({ length: poison }, (_, index) => poisons[index % poisons.length] ?? "");
    const bodies = shuffled([...[...events, ...events.slice(0, duplicates)].map((one) => JSON.stringify(one)), ...bad]);

    const begun = performance.now();
    await sendAll(service, bodies);
    const backlog = await depth(service, urlOf(desk, "outcomes"));
    await vi.waitFor(async () => expect(await depth(service, urlOf(desk, "outcomes"))).toBeLessThanOrEqual(poison), {
      timeout: 600_000,
      interval: 100,
    });
    const seconds = (performance.now() - begun) / 1_000;
    await vi.waitFor(
      async () => {
        expect(await depth(service, deadLettersUrlOf(desk, "outcomes"))).toBe(poison);
        expect(await depth(service, urlOf(desk, "outcomes"))).toBe(0);
      },
      { timeout: 120_000, interval: 250 },
    );

    const after = await readBooks(desk.ledger);
    expectMoneyIsExact(after);
    const rows = byReference(after.transactions);
    for (const [index, { reference }] of simulator.state.purchases.entries()) {
      expect(rows.get(reference ?? "")?.status).toBe(statusOf(index));
    }
    // Each refund moved its wallet once.
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
    expect(tally(await deadLetters(desk, "outcomes"))).toEqual(tally(bad));
    expectNothingBroke(service, ["message.failed"]);

    reportFigures("outcomes queue", {
      messages,
      orders,
      duplicates,
      poison,
      "waiting when all were sent": backlog,
      "seconds until all good ones were applied": Math.round(seconds * 10) / 10,
      "messages a second": Math.round((messages - poison) / seconds),
      "applied once": outcomes.applied ?? 0,
      "dead letters": poison,
      ...strainOn(service),
    });
  } finally {
    await service.stop();
  }
};

const setPatience = async (
  { desk }: ServiceProcess,
  { visibilityS, receives }: { readonly visibilityS: number; readonly receives: number },
): Promise<void> => {
  const deadLetterTargetArn = queueArn(deadLettersOf("outcomes"));
  const Attributes = {
    VisibilityTimeout: String(visibilityS),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: receives }),
  };
  await desk.sqs.send(new SetQueueAttributesCommand({ QueueUrl: urlOf(desk, "outcomes"), Attributes }));
};

const placeOpenOrders = async (service: ServiceProcess, orders: number): Promise<void> => {
  const accounts: LoadAccount[] = [];
  const each = Math.ceil(orders / ACCOUNTS);
  while (accounts.length < ACCOUNTS) {
    accounts.push(await service.newAccount({ naira: each * NAIRA, keys: Math.ceil(each / ORDERS_PER_KEY) }));
  }
  const client = newClient(service.baseUrl);
  await inParallel(orders, CONCURRENCY, async (index) => {
    const keys = accounts[index % ACCOUNTS]?.keys ?? [];
    const key = keys[Math.floor(index / ACCOUNTS) % keys.length] ?? "";
    const body = { network: "mtn", amount: NAIRA, phone_number: STAYS_OPEN };
    expect(await client.send(order("/vtu/airtime/purchase", key, body))).toMatchObject({ status: 200 });
  });
  client.close();
};

/** Every other order has failed. */
const statusOf = (index: number): EventMessage["status"] => (index % 2 === 0 ? "success" : "failed");

const eventAbout = ({ upstreamReference, amountKobo }: Order, index: number): UnsignedEvent => ({
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

const sendAll = async ({ desk }: ServiceProcess, bodies: readonly string[]): Promise<void> => {
  await inParallel(Math.ceil(bodies.length / SEND_MAX), CONCURRENCY, async (turn) => {
    const Entries = bodies
      .slice(turn * SEND_MAX, (turn + 1) * SEND_MAX)
      .map((MessageBody, position) => ({ Id: String(position), MessageBody }));
    const { Failed = [] } = await desk.sqs.send(
      new SendMessageBatchCommand({ QueueUrl: urlOf(desk, "outcomes"), Entries }),
    );
    expect(Failed).toEqual([]);
  });
};

/** Messages that wait or are at work. */
const depth = async ({ desk }: ServiceProcess, QueueUrl: string): Promise<number> => {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  const { Attributes } = await desk.sqs.send(command);
  const { ApproximateNumberOfMessages: ready, ApproximateNumberOfMessagesNotVisible: atWork } = Attributes ?? {};
  return Number(ready) + Number(atWork);
};
