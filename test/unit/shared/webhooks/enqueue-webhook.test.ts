import { marshall } from "@aws-sdk/util-dynamodb";
import { expect, test } from "vitest";
import { streamHandler } from "../../../../shared/lambda/stream-handler.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import type { DeliveryMessage } from "../../../../shared/webhooks/delivery-queue.ts";
import { enqueueWebhook } from "../../../../shared/webhooks/enqueue-webhook.ts";
import { aLambdaContext } from "../../../builders/lambda-context.ts";
import { aTransaction } from "../../../builders/transaction.ts";

type Image = Readonly<Record<string, unknown>>;
const image = (item: Image | undefined) => item && marshall(item, { removeUndefinedValues: true });
const change = (sequence: number, before?: Image, after?: Image) => ({
  eventName: "MODIFY",
  dynamodb: { SequenceNumber: String(sequence), OldImage: image(before), NewImage: image(after) },
});
const ended = (sequence: number, changes: Partial<Transaction> = {}) =>
  change(sequence, aTransaction(), { ...aTransaction(changes), open: undefined });

/** Hands these changes over as one batch; resolves with what was put on the queue and with the answer. */
const announced = async (
  Records: readonly unknown[],
  isQueueAway: (message: DeliveryMessage) => boolean = () => false,
) => {
  const sent: [DeliveryMessage, string][] = [];
  const handler = streamHandler(
    enqueueWebhook({
      send: async (message, accountId) => {
        if (isQueueAway(message)) throw new Error("SQS is away");
        sent.push([message, accountId]);
      },
    }),
  );
  return { answer: await handler({ Records }, aLambdaContext()), sent };
};

test.each(["success", "failed"] as const)(
  "a transaction that became %s is put on the queue once, without personal data",
  async (status) => {
    const { answer, sent } = await announced([ended(1, { status })]);
    expect(sent).toEqual([[{ transaction: "transaction#0123456789ABCDEFGHJKMNPQRS", status }, "acc_1"]]);
    expect(answer).toEqual({ batchItemFailures: [] });
  },
);

test("an identity check, which has neither a network nor a phone number, is put on the queue", async () => {
  const { network: _network, phone_number: _phone, ...check } = aTransaction({ type: "nin_verification" });
  const { answer, sent } = await announced([change(1, check, { ...check, status: "success" })]);
  expect(answer).toEqual({ batchItemFailures: [] });
  expect(sent).toHaveLength(1);
});

test("what is no end of a transaction is passed over", async () => {
  const { answer, sent } = await announced([
    change(1, undefined, aTransaction()),
    change(2, aTransaction(), aTransaction({ upstream_reference: "up-1" })),
    change(3, aTransaction({ status: "success" }), aTransaction({ status: "success" })),
    change(4, aTransaction({ status: "success" }), undefined),
    change(5, { pk: "wallet#acc_1", balance_kobo: 5 }, { pk: "wallet#acc_1", balance_kobo: 4 }),
    change(6, { pk: "event#1", status: "processing" }, { pk: "event#1", status: "success" }),
  ]);
  expect(sent).toEqual([]);
  expect(answer).toEqual({ batchItemFailures: [] });
});

test("a test purchase for 08000000008 is put on the queue twice, a live one once", async () => {
  const twice = { status: "success", phone_number: "08000000008" } as const;
  expect((await announced([ended(1, { ...twice, mode: "test" })])).sent.map(([{ repeat }]) => repeat)).toEqual([
    undefined,
    "sandbox",
  ]);
  expect((await announced([ended(1, twice)])).sent).toHaveLength(1);
});

test("of 5 changes the 2 that could not be put on the queue are reported, the others are announced", async () => {
  const ids = ["A", "B", "C", "D", "E"];
  const records = ids.map((id, index) => ended(index + 1, { status: "success", pk: `transaction#${id}` }));
  const { answer, sent } = await announced(records, ({ transaction }) => /[BD]$/.test(transaction));
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "2" }, { itemIdentifier: "4" }] });
  expect(sent.map(([{ transaction }]) => transaction.at(-1))).toEqual(["A", "C", "E"]);
});

test("an end that cannot be read completely holds nothing back: it is put on the queue, which has dead letters", async () => {
  const { amount_kobo: _amount, account_id: _account, ...broken } = aTransaction({ status: "failed" });
  const large = change(2, aTransaction(), aTransaction({ status: "success" }));
  // A number beyond JavaScript's: reading it would throw for as long as the change exists.
  const records = [
    change(1, aTransaction(), broken),
    {
      dynamodb: {
        ...large.dynamodb,
        NewImage: { ...large.dynamodb.NewImage, amount_kobo: { N: "90071992547409931" } },
      },
    },
    ended(3, { status: "success" }),
  ];
  const { answer, sent } = await announced(records);
  expect(answer).toEqual({ batchItemFailures: [] });
  expect(sent).toEqual([
    [{ transaction: broken.pk, status: "failed" }, "unknown"],
    [{ transaction: broken.pk, status: "success" }, "acc_1"],
    [{ transaction: broken.pk, status: "success" }, "acc_1"],
  ]);
});
