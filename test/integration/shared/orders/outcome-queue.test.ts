import { createServer } from "node:net";
import { GetQueueAttributesCommand, ReceiveMessageCommand, SQS } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { queues } from "../../../../infra/queues.ts";
import { koboSchema } from "../../../../shared/contract/values/money.ts";
import { type OutcomeMessage, outcomeMessage } from "../../../../shared/orders/outcome-message.ts";
import { outcomeQueue } from "../../../../shared/orders/outcome-queue.ts";
import type { QueueClient } from "../../../../shared/platform/aws-clients.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { sleep } from "../../../../shared/platform/time.ts";
import { localClient } from "../../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";
import { type LocalQueues, startQueues } from "../../../../tools/local/queues.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

/** Goal: a settlement or an event is in the queue once `send` resolves, and `send` ends before its request has to. */
const settlement: OutcomeMessage = {
  kind: "settlement",
  mode: "live",
  transaction_pk: "transaction#0123456789ABCDEFGHJKMNPQRS",
  write_token: "9b2f2a52-9f0c-4b0e-8b3a-3f0a4f1f7f10",
  settlement: { status: "failed", failure: { code: "delivery_failed" } },
};
const event: OutcomeMessage = {
  kind: "event",
  mode: "live",
  received_at: "2026-11-21T12:00:00.000Z",
  mac: "m".repeat(43),
  reference: "U-1",
  status: "success",
  amount_kobo: koboSchema.parse(500_00),
  type: "data",
  phone: { key: "h", masked: "0803****567" },
};

const unreadable: OutcomeMessage = {
  kind: "unreadable_event",
  mode: "live",
  digest: "d".repeat(43),
  reference: "U-1",
  problem: "status reversed",
};

const voided: OutcomeMessage = { kind: "void", item: aTransaction({ phone_number: "*********67" }) };

let sqs: LocalQueues;
beforeAll(async () => {
  sqs = await startQueues(queues);
});
afterAll(() => sqs.stop());

describe("the outcomes queue", () => {
  test("a message of the outcomes queue is received and parsed as it was sent", async () => {
    const odd: OutcomeMessage = { ...event, reference: "U-\ufffe\uffff\u{1f600}" };
    for (const message of [settlement, voided, event, unreadable, odd]) {
      await outcomeQueue(sqs.client, sqs.url("outcomes")).send(message, 0, deadlineIn(5_000));
      const { Messages = [] } = await sqs.client.send(new ReceiveMessageCommand({ QueueUrl: sqs.url("outcomes") }));
      expect(Messages.map(({ Body = "" }) => outcomeMessage.parse(JSON.parse(Body)))).toEqual([message]);
    }
  });

  test("a message is delayed by the requested seconds", async () => {
    await outcomeQueue(sqs.client, sqs.url("outcomes")).send(settlement, 900, deadlineIn(5_000));
    const { Attributes } = await sqs.client.send(
      new GetQueueAttributesCommand({
        QueueUrl: sqs.url("outcomes"),
        AttributeNames: ["ApproximateNumberOfMessagesDelayed"],
      }),
    );
    expect(Attributes).toMatchObject({ ApproximateNumberOfMessagesDelayed: "1" });
  });

  test.for([
    ["of an unknown kind", { ...settlement, kind: "rumour" }],
    ["that is an event of test mode", { ...event, mode: "test" }],
    ["that is an event whose status is neither success nor failed", { ...event, status: "processing" }],
    ["with half a kobo", { ...event, amount_kobo: 0.5 }],
    ["with a phone number that has no masked form", { ...event, phone: { key: "h" } }],
    ["with control characters in its problem", { ...unreadable, problem: "status \u001b[2J" }],
    ["with a problem of 201 characters", { ...unreadable, problem: "x".repeat(201) }],
    ["with a digest of another length", { ...unreadable, digest: "d" }],
    ["without the write token", { ...settlement, write_token: undefined }],
  ] as const)("a message %s is not parsed", ([, message]) => {
    expect(outcomeMessage.safeParse(message).success).toBe(false);
  });
});

test.for([
  ["with 900 ms left, after 400 ms", 900, 400],
  ["with nothing left, at once", 0, 0],
] as const)(
  "a send that gets no answer is aborted half a second before the deadline: %s",
  async ([, leftMs, expectedMs]) => {
    const silent = createServer();
    const url = `http://127.0.0.1:${await listenOnLoopback(silent)}`;
    const client = new SQS(localClient(url));
    try {
      const begunMs = performance.now();
      await expect(outcomeQueue(client, `${url}/outcomes`).send(settlement, 0, deadlineIn(leftMs))).rejects.toThrow(
        "abort",
      );
      const tookMs = performance.now() - begunMs;
      expect(tookMs).toBeGreaterThanOrEqual(expectedMs - 10);
    } finally {
      client.destroy();
      silent.close();
    }
  },
);

test("a send with less than half a second left begins aborted", async () => {
  const aborted: (boolean | undefined)[] = [];
  const sendMessage: QueueClient["sendMessage"] = async (_message, options) => {
    await sleep(20);
    aborted.push(options?.abortSignal?.aborted);
    return { $metadata: {} };
  };
  await outcomeQueue({ sendMessage }, "http://127.0.0.1/outcomes").send(settlement, 0, deadlineIn(499));
  expect(aborted).toEqual([true]);
});
