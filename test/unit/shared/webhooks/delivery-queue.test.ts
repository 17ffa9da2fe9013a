import { SendMessageBatchCommand, SQS } from "@aws-sdk/client-sqs";
import { expect, test, vi } from "vitest";
import { isTransient } from "../../../../shared/platform/transient-error.ts";
import { type DeliveryMessage, deliveryQueue, sendAll } from "../../../../shared/webhooks/delivery-queue.ts";

const aMessage = (number: number, body = "{}"): DeliveryMessage => ({
  event: "wallet.low",
  account_id: `acc_${number}`,
  endpoint: "2",
  occurrence: String(number),
  body,
});

/** A queue that does not take the messages of some accounts, and the accounts of each request to it. */
const aQueue = ({ refused = [], SenderFault = false }: { readonly refused?: string[]; SenderFault?: boolean } = {}) => {
  const sqs = new SQS({ region: "eu-west-1" });
  const requests: (string | undefined)[][] = [];
  vi.spyOn(sqs, "send").mockImplementation(async (command: unknown) => {
    const Entries = (command instanceof SendMessageBatchCommand && command.input.Entries) || [];
    requests.push(Entries.map(({ MessageGroupId }) => MessageGroupId));
    const failed = Entries.filter(({ MessageGroupId = "" }) => refused.includes(MessageGroupId));
    return { Failed: failed.map(({ Id }) => ({ Id, Code: "InternalError", SenderFault })) };
  });
  return { queue: deliveryQueue(sqs, "https://sqs/delivery"), requests };
};

const sendAtOnce = (queue: ReturnType<typeof aQueue>["queue"], count: number, body?: string) =>
  Promise.allSettled(Array.from({ length: count }, (_, number) => queue.send(aMessage(number, body), `acc_${number}`)));

test("23 messages of one turn go in requests of 10, 10 and 3, each with its endpoint as its group, and a later one alone", async () => {
  const { queue, requests } = aQueue();
  expect((await sendAtOnce(queue, 23)).every(({ status }) => status === "fulfilled")).toBe(true);
  await queue.send(aMessage(23), "acc_23");
  expect(requests.map((accounts) => accounts.length)).toEqual([10, 10, 3, 1]);
  expect(requests.flat()).toEqual(Array.from({ length: 24 }, (_, number) => `acc_${number}#2`));
});

test("a message that SQS did not take rejects as a fault that may pass, and the others of its batch resolve", async () => {
  const { queue } = aQueue({ refused: ["acc_1#2"] });
  const [first, second, third] = await sendAtOnce(queue, 3);
  expect([first?.status, second?.status, third?.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(isTransient(second?.status === "rejected" && second.reason)).toBe(true);
});

test("a message that SQS refuses for a fault of ours rejects as one that does not pass", async () => {
  const { queue } = aQueue({ refused: ["acc_0#2"], SenderFault: true });
  const [first] = await sendAtOnce(queue, 1);
  expect(isTransient(first?.status === "rejected" && first.reason)).toBe(false);
});

test("bodies of together more than 1 MiB, the limit of a request, go in several requests", async () => {
  const { queue, requests } = aQueue();
  await sendAtOnce(queue, 10, "x".repeat(200_000));
  expect(requests.map((accounts) => accounts.length)).toEqual([5, 5]);
});

test("bodies of together 1 MiB go in one request", async () => {
  const { queue, requests } = aQueue();
  const empty = Buffer.byteLength(JSON.stringify(aMessage(0, "")));
  await sendAtOnce(queue, 8, "x".repeat(2 ** 17 - empty));
  expect(requests.map((accounts) => accounts.length)).toEqual([8]);
});

test("of 250 messages each is sent once, and at most 100 at a time", async () => {
  const sent: string[] = [];
  let [open, mostOpen] = [0, 0];
  const send = async (_message: DeliveryMessage, accountId: string): Promise<void> => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    await Promise.resolve();
    open -= 1;
    sent.push(accountId);
  };
  const accounts = Array.from({ length: 250 }, (_, number) => `acc_${number}`);
  await sendAll(
    { send },
    accounts.map((accountId, number) => ({ accountId, message: aMessage(number) })),
  );
  expect([sent, mostOpen]).toEqual([accounts, 100]);
});
