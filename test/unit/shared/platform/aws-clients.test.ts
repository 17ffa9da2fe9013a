import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { GetQueueUrlCommand } from "@aws-sdk/client-sqs";
import { GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { documentClient, secretsClient, sqsClient } from "../../../../shared/platform/aws-clients.ts";
import { localAwsEnvironment, setEnvironment } from "../../../../tools/local/local-aws.ts";

let restore = (): void => {};
beforeEach(() => {
  const unused = "http://127.0.0.1:9";
  restore = setEnvironment({
    ...localAwsEnvironment({ dynamodb: unused, sqs: unused, secretsManager: unused }),
    AWS_CALLS: undefined,
  });
});
afterEach(() => {
  restore();
  vi.restoreAllMocks();
});

describe("the DynamoDB client", () => {
  test.each([
    ["by default", undefined, 1],
    ["with AWS_CALLS=short", "short", 1],
    ["with AWS_CALLS=sdk", "sdk", 3],
  ])("of three updates %s, the SDK's middlewares run as often as expected", async (_when, calls, bySdk) => {
    if (calls !== undefined) process.env.AWS_CALLS = calls;
    const db = documentClient();
    vi.spyOn(db.config.requestHandler, "handle").mockImplementation(async () => ({
      response: { statusCode: 200, headers: {}, body: Readable.from([Buffer.from("{}")]) },
    }));
    const resolve = vi.spyOn(UpdateCommand.prototype, "resolveMiddleware");
    for (let call = 0; call < 3; call += 1) await db.send(new UpdateCommand({ TableName: "ledger", Key: { pk: "a" } }));
    expect(resolve).toHaveBeenCalledTimes(bySdk);
  });

  test("has the SDK's middlewares without the logger", () => {
    const namesOf = ({ middlewareStack }: Pick<DynamoDBClient, "middlewareStack">) =>
      middlewareStack.identify().map((middleware) => middleware.split(" ")[0]);
    const others = namesOf(new DynamoDBClient()).filter((name) => name !== "loggerMiddleware");
    expect(others).toHaveLength(namesOf(new DynamoDBClient()).length - 1);
    expect(namesOf(documentClient())).toEqual(others);
  });

  test("another value of AWS_CALLS is refused by its name", () => {
    process.env.AWS_CALLS = "fast";
    expect(documentClient).toThrow("AWS_CALLS");
  });
});

describe("an answer of AWS that stops within its body", () => {
  const update = () => new UpdateCommand({ TableName: "ledger", Key: { pk: "a" } });
  const cases: [client: string, open: () => () => Promise<unknown>][] = [
    [
      "DynamoDB by the short path",
      () => {
        const db = documentClient();
        return () => db.send(update());
      },
    ],
    [
      "DynamoDB by the SDK",
      () => {
        const db = documentClient();
        return () => db.send(new GetCommand({ TableName: "ledger", Key: { pk: "a" } }));
      },
    ],
    [
      "SQS",
      () => {
        const sqs = sqsClient();
        return () => sqs.send(new GetQueueUrlCommand({ QueueName: "outcomes" }));
      },
    ],
    [
      "Secrets Manager",
      () => {
        const secrets = secretsClient();
        return () => secrets.send(new GetSecretValueCommand({ SecretId: "key" }));
      },
    ],
  ];

  test.each(cases)("of %s is given up, and the call is sent again", async (_client, open) => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(200, { "content-length": "2" }).write("{");
      // The first call has been answered; the first attempt of the second is not.
      if (requests !== 2) response.end("}");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = z.object({ port: z.number() }).parse(server.address());
    const at = `http://127.0.0.1:${port}`;
    const back = setEnvironment(localAwsEnvironment({ dynamodb: at, sqs: at, secretsManager: at }));
    try {
      const call = open();
      await call();
      await call();
      expect(requests).toBe(3);
    } finally {
      back();
      server.closeAllConnections();
      server.close();
    }
  });
});
