import { ChangeMessageVisibilityCommand, SQS } from "@aws-sdk/client-sqs";
import { expect, test, vi } from "vitest";
import { createPostpone } from "../../../../shared/lambda/postpone.ts";

test.for([
  [5, 5],
  [0.2, 1],
  [-3, 0],
  [43_200, 43_200],
  [60_000, 43_200],
] as const)("a message that is postponed for %d s is hidden for %i s", async ([afterS, hiddenS]) => {
  const sqs = new SQS({ region: "eu-west-1" });
  const sent = vi.spyOn(sqs, "send").mockImplementation(async () => ({}));
  await createPostpone(sqs, "https://sqs.test/queue")("receipt-1", afterS);
  const [command] = sent.mock.calls.map(([first]) => first);
  expect(command).toBeInstanceOf(ChangeMessageVisibilityCommand);
  expect(command?.input).toEqual({
    QueueUrl: "https://sqs.test/queue",
    ReceiptHandle: "receipt-1",
    VisibilityTimeout: hiddenS,
  });
});
