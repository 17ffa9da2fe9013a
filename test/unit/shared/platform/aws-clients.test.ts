import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { openDynamoDb } from "../../../../shared/platform/aws/sdk.ts";
import { documentClient, queueClient, secretsClient } from "../../../../shared/platform/aws-clients.ts";
import { localAwsEnvironment, setEnvironment } from "../../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";

let restore = (): void => {};
beforeEach(() => {
  restore = setEnvironment({ AWS_CALLS: undefined });
});
afterEach(() => restore());

/** Answers all services by `answer`. Resolves with the headers of the requests. */
const serve = async (
  answer: (response: ServerResponse, headers: IncomingHttpHeaders) => void,
): Promise<readonly IncomingHttpHeaders[]> => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    seen.push(headers);
    answer(response, headers);
  });
  const port = await listenOnLoopback(server);
  const at = `http://127.0.0.1:${port}`;
  const back = setEnvironment(localAwsEnvironment({ dynamodb: at, sqs: at, secretsManager: at }));
  onTestFinished(() => {
    back();
    server.closeAllConnections();
    server.close();
  });
  return seen;
};

test.each([
  ["by default", undefined, false],
  ["with AWS_CALLS=short", "short", false],
  ["with AWS_CALLS=sdk", "sdk", true],
  ["in an environment with a variable of AWS that is not known", "short", true],
] as const)("a call %s is the SDK's as expected", async (when, calls, bySdk) => {
  const seen = await serve((response) => response.end("{}"));
  const back = setEnvironment({
    AWS_CALLS: calls,
    ...(when.includes("not known") && { AWS_USE_FIPS_ENDPOINT: "false" }),
  });
  onTestFinished(back);
  await documentClient().update({ TableName: "ledger", Key: { pk: "a" } });
  expect(seen.map((headers) => "user-agent" in headers)).toEqual([bySdk]);
});

test("another value of AWS_CALLS is refused by its name", () => {
  process.env.AWS_CALLS = "fast";
  expect(documentClient).toThrow("AWS_CALLS");
});

test("an answer of AWS that stops within its body is given up, and the call is sent again", async () => {
  const requests: Record<string, number> = {};
  await serve((response, headers) => {
    const operation = String(headers["x-amz-target"]);
    const count = (requests[operation] ?? 0) + 1;
    requests[operation] = count;
    response.writeHead(200, { "content-length": "2" }).write("{");
    // The first call has been answered; the first attempt of the second is not.
    if (count !== 2) response.end("}");
  });
  const [byShortPath, bySdk, sqs, secrets] = [documentClient(), openDynamoDb(), queueClient(), secretsClient()];
  const calls = [
    () => byShortPath.update({ TableName: "ledger", Key: { pk: "a" } }),
    () => bySdk.get({ TableName: "ledger", Key: { pk: "a" } }),
    () => sqs.changeMessageVisibility({ QueueUrl: "q", ReceiptHandle: "r", VisibilityTimeout: 0 }),
    () => secrets.getSecretValue({ SecretId: "key" }),
  ];
  await Promise.all(
    calls.map(async (call) => {
      await call();
      await call();
    }),
  );
  expect(requests).toEqual({
    "DynamoDB_20120810.UpdateItem": 3,
    "DynamoDB_20120810.GetItem": 3,
    "AmazonSQS.ChangeMessageVisibility": 3,
    "secretsmanager.GetSecretValue": 3,
  });
});
