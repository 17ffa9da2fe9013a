import { marshall } from "@aws-sdk/util-dynamodb";
import { expect, test, vi } from "vitest";
import { streamHandler } from "../../../../shared/lambda/stream-handler.ts";
import type { Transaction } from "../../../../shared/ledger/transaction.ts";
import { documentClient } from "../../../../shared/platform/aws-clients.ts";
import type { DeliveryMessage } from "../../../../shared/webhooks/delivery-queue.ts";
import { enqueueWebhook } from "../../../../shared/webhooks/enqueue-webhook.ts";
import { aLambdaContext } from "../../../builders/aws/lambda-context.ts";
import { aTransaction, newTransactionPk } from "../../../builders/ledger/transaction.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { anEndpoint, ENDPOINT } from "../../../builders/webhooks/endpoint.ts";

const endpoint = ENDPOINT;
type Image = Readonly<Record<string, unknown>>;
const image = (item: Image | undefined) => item && marshall(item, { removeUndefinedValues: true });
const change = (sequence: number, before?: Image, after?: Image) => ({
  eventName: "MODIFY",
  dynamodb: { SequenceNumber: String(sequence), OldImage: image(before), NewImage: image(after) },
});
const settled = (sequence: number, changes: Partial<Transaction> = {}) =>
  change(sequence, aTransaction(), { ...aTransaction(changes), open: undefined });

/** Handles the changes as one batch; resolves with the messages that were sent and the response. */
const transactionIn = (message: DeliveryMessage): string =>
  message.event === "transaction.updated" ? message.transaction_pk : "";

const enqueue = async (
  Records: readonly unknown[],
  isSendFailing: (message: DeliveryMessage) => boolean = () => false,
  account: Record<string, unknown> | null = { endpoints: [anEndpoint()] },
) => {
  const sent: [DeliveryMessage, string][] = [];
  const db = documentClient();
  const reads = vi
    .spyOn(db, "get")
    .mockImplementation(async () => ({ ...(account && { Item: account }), $metadata: {} }));
  const handler = streamHandler(
    enqueueWebhook({
      ledger: { db, table: "ledger" },
      queue: {
        send: async (message, accountId) => {
          if (isSendFailing(message)) throw new Error("SQS is unavailable");
          sent.push([message, accountId]);
        },
      },
    }),
  );
  const response = await handler({ Records }, aLambdaContext());
  return { response, sent, reads: reads.mock.calls.length };
};

test.each(["success", "failed"] as const)(
  "a transaction that became %s is enqueued once, without personal data",
  async (status) => {
    const { response, sent } = await enqueue([settled(1, { status })]);
    expect(sent).toEqual([
      [
        { event: "transaction.updated", transaction_pk: "transaction#0123456789ABCDEFGHJKMNPQRS", status, endpoint },
        "acc_1",
      ],
    ]);
    expect(response).toEqual({ batchItemFailures: [] });
  },
);

test("the line of a change says which order ended how, of which network, and why it failed", async () => {
  const log = captureLog();
  const failed = { status: "failed", network: "MTN", failure: { code: "delivery_failed" } } as const;
  await enqueue([settled(1, failed), settled(2, { status: "success", type: "nin_verification", network: undefined })]);
  const id = "0123456789ABCDEFGHJKMNPQRS";
  const line = { level: "info", event: "change.handled", outcome: "enqueued" };
  expect(log.lines()).toEqual([
    { ...line, reference: `DATA_${id}`, status: "failed", network: "MTN", code: "delivery_failed" },
    { ...line, reference: `VERIFY_${id}`, status: "success" },
  ]);
});

test("a transaction that was put as failed without a debit is enqueued once, and not when it is masked", async () => {
  const voided = aTransaction({ status: "failed", debit: "void" });
  expect((await enqueue([change(1, undefined, voided)])).sent).toEqual([
    [{ event: "transaction.updated", transaction_pk: voided.pk, status: "failed", endpoint }, "acc_1"],
  ]);
  expect((await enqueue([change(2, voided, { ...voided, phone_number: "*67" })])).sent).toEqual([]);
});

test("a transaction is enqueued once for each endpoint that gets it; after a failure all are enqueued again", async () => {
  const events = ["transaction.updated"];
  const endpoints = [
    { id: "1", events },
    { id: "2", events: ["wallet.low"] },
    { id: "3", events },
  ];
  const changes = [settled(1, { status: "success" })];
  const endpointsOf = (sent: readonly (readonly [DeliveryMessage, string])[]) => sent.map(([each]) => each.endpoint);
  const failed = await enqueue(changes, (message) => message.endpoint === "1", { endpoints });
  expect(failed.response).toEqual({ batchItemFailures: [{ itemIdentifier: "1" }] });
  expect(endpointsOf(failed.sent)).toEqual(["3"]);
  expect(endpointsOf((await enqueue(changes, () => false, { endpoints })).sent)).toEqual(["1", "3"]);
  expect((await enqueue(changes, () => false, { endpoints: [] })).sent).toEqual([]);
});

test("the account of several changes of a batch is read once", async () => {
  const changes = [1, 2, 3].map((sequence) =>
    change(
      sequence,
      aTransaction({ pk: newTransactionPk() }),
      aTransaction({ pk: newTransactionPk(), status: "failed" }),
    ),
  );
  const { sent, reads } = await enqueue(changes);
  expect([sent.length, reads]).toEqual([3, 1]);
});

test("a change says whether it was enqueued, and the next one reads the account again", async () => {
  const db = documentClient();
  const accounts = [{ endpoints: [anEndpoint()] }, { endpoints: [] }];
  vi.spyOn(db, "get").mockImplementation(async () => ({ Item: accounts.shift() ?? {}, $metadata: {} }));
  const handle = enqueueWebhook({ ledger: { db, table: "ledger" }, queue: { send: async () => {} } });
  const settling = { before: aTransaction(), after: aTransaction({ status: "success" }) };
  const outcomes = [await handle(settling), await handle(settling)].map(({ outcome }) => outcome);
  expect(outcomes).toEqual(["enqueued", "ignored"]);
});

test.each([
  ["does not exist", null],
  ["cannot be read", { endpoints: "none" }],
])(
  "a transaction whose account %s is enqueued, so that it ends as a dead letter and blocks nothing",
  async (_, account) => {
    const { response, sent } = await enqueue([settled(1, { status: "success" })], () => false, account);
    expect(response).toEqual({ batchItemFailures: [] });
    expect(sent).toMatchObject([[{ endpoint: "unknown" }, "acc_1"]]);
  },
);

test("an identity check, which has neither a network nor a phone number, is enqueued", async () => {
  const { network: _network, phone_number: _phone, ...check } = aTransaction({ type: "nin_verification" });
  const { response, sent } = await enqueue([change(1, check, { ...check, status: "success" })]);
  expect(response).toEqual({ batchItemFailures: [] });
  expect(sent).toHaveLength(1);
});

test("changes that do not settle a transaction are ignored", async () => {
  const { response, sent } = await enqueue([
    change(1, undefined, aTransaction()),
    change(2, aTransaction(), aTransaction({ upstream_reference: "up-1" })),
    change(3, aTransaction({ status: "success" }), aTransaction({ status: "success" })),
    change(4, aTransaction({ status: "success" }), undefined),
    change(5, { pk: "wallet#acc_1", balance_kobo: 5 }, { pk: "wallet#acc_1", balance_kobo: 4 }),
    change(6, { pk: "event#1", status: "processing" }, { pk: "event#1", status: "success" }),
    // As a restored ledger is completed.
    change(7, undefined, aTransaction({ status: "failed" })),
  ]);
  expect(sent).toEqual([]);
  expect(response).toEqual({ batchItemFailures: [] });
});

test("a test purchase for 08000000008 is enqueued twice, a live one once", async () => {
  const twice = { status: "success", phone_number: "08000000008" } as const;
  expect((await enqueue([settled(1, { ...twice, mode: "test" })])).sent.map(([{ repeat }]) => repeat)).toEqual([
    undefined,
    "sandbox",
  ]);
  expect((await enqueue([settled(1, twice)])).sent).toHaveLength(1);
  expect((await enqueue([settled(1, { status: "success", mode: "test" })])).sent).toHaveLength(1);
});

test("of 5 changes the 2 that could not be enqueued are reported as failed, and the others are enqueued", async () => {
  const ids = ["A", "B", "C", "D", "E"];
  const records = ids.map((id, index) => settled(index + 1, { status: "success", pk: `transaction#${id}` }));
  const { response, sent } = await enqueue(records, (message) => /[BD]$/.test(transactionIn(message)));
  expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: "2" }, { itemIdentifier: "4" }] });
  expect(sent.map(([message]) => transactionIn(message).at(-1))).toEqual(["A", "C", "E"]);
});

test("a settled item with invalid attributes is enqueued, so that it does not block the stream", async () => {
  const { amount_kobo: _amount, account_id: _account, ...broken } = aTransaction({ status: "failed" });
  const large = change(2, aTransaction(), aTransaction({ status: "success" }));
  // Converting a number of this size would throw until the change leaves the stream.
  const records = [
    change(1, aTransaction(), broken),
    {
      dynamodb: {
        ...large.dynamodb,
        NewImage: { ...large.dynamodb.NewImage, amount_kobo: { N: "90071992547409931" } },
      },
    },
    settled(3, { status: "success" }),
  ];
  const { response, sent } = await enqueue(records);
  expect(response).toEqual({ batchItemFailures: [] });
  expect(sent).toEqual([
    [{ event: "transaction.updated", transaction_pk: broken.pk, status: "failed", endpoint }, "unknown"],
    [{ event: "transaction.updated", transaction_pk: broken.pk, status: "success", endpoint }, "acc_1"],
    [{ event: "transaction.updated", transaction_pk: broken.pk, status: "success", endpoint }, "acc_1"],
  ]);
});
