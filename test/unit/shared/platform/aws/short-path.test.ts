import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test, vi } from "vitest";
import { documentClient, keysClient, queueClient, secretsClient } from "../../../../../shared/platform/aws-clients.ts";
import { callAwsAt } from "../../../../builders/aws/aws-server.ts";

vi.mock("#aws-sdk", () => {
  throw new Error("The SDK was loaded");
});

let answer = (response: ServerResponse): unknown => response;
let sent = "";
const server = createServer(async (request, response) => {
  sent = await text(request);
  answer(response);
});
callAwsAt(server);

const json = (status: number, body: object) => {
  answer = (response) => response.writeHead(status).end(JSON.stringify(body));
};
const update = () => documentClient().update({ TableName: "ledger", Key: { pk: "a" } });
const send = () => queueClient().sendMessage({ QueueUrl: "outcomes", MessageBody: "hello" });

describe("without loading the SDK", () => {
  test("a key's item is read, its binary whitelist included", async () => {
    json(200, { Attributes: { whitelist: { BS: ["IH8AAAE="] }, B: { M: { B: { S: "text" } } } } });
    const { Attributes } = await update();
    expect(Attributes).toEqual({ whitelist: new Set([Uint8Array.of(32, 127, 0, 0, 1)]), B: { B: "text" } });
  });

  test("the refusals of a replay, of an unknown key and of an empty wallet are read", async () => {
    json(400, { __type: "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", Item: { pk: { S: "a" } } });
    await expect(update()).rejects.toMatchObject({ name: "ConditionalCheckFailedException", Item: { pk: { S: "a" } } });
    const CancellationReasons = [{ Code: "None" }, { Code: "ConditionalCheckFailed", Item: { pk: { S: "w" } } }];
    json(400, { __type: "x#TransactionCanceledException", CancellationReasons });
    const debit = documentClient().transactWrite({ TransactItems: [] });
    await expect(debit).rejects.toMatchObject({ name: "TransactionCanceledException", CancellationReasons });
  });

  test("a secret and its absence are read", async () => {
    json(200, { SecretString: "value", CreatedDate: 1_764_331_200.5 });
    expect(await secretsClient().getSecretValue({ SecretId: "key" })).toEqual({
      SecretString: "value",
      CreatedDate: new Date("2025-11-28T12:00:00.500Z"),
    });
    json(400, { __type: "ResourceNotFoundException" });
    await expect(secretsClient().getSecretValue({ SecretId: "key" })).rejects.toThrow(
      expect.objectContaining({ name: "ResourceNotFoundException" }),
    );
  });

  test("messages are sent, and a number is hashed", async () => {
    json(200, { MessageId: "m", MD5OfMessageBody: "5d41402abc4b2a76b9719d911017c592" });
    expect(await send()).toMatchObject({ MessageId: "m" });
    const Failed = [{ Id: "1", Code: "InternalError", SenderFault: false }];
    json(200, { Successful: [{ Id: "0", MD5OfMessageBody: "5d41402abc4b2a76b9719d911017c592" }], Failed });
    const Entries = ["hello", "other"].map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    expect((await queueClient().sendMessageBatch({ QueueUrl: "delivery", Entries })).Failed).toEqual(Failed);
    json(200, { Mac: "AQI=" });
    expect(
      (await keysClient().generateMac({ KeyId: "k", MacAlgorithm: "HMAC_SHA_256", Message: Uint8Array.of(1) })).Mac,
    ).toEqual(Uint8Array.of(1, 2));
    expect(JSON.parse(sent)).toEqual({ KeyId: "k", MacAlgorithm: "HMAC_SHA_256", Message: "AQ==" });
  });
});

test.each([
  ["throttling", 400, { __type: "x#ThrottlingException" }, update],
  ["a server error", 500, {}, update],
  ["a message whose text SQS did not get", 200, { MessageId: "m", MD5OfMessageBody: "0" }, send],
])("the SDK decides what follows %s", async (_end, status, body, call) => {
  json(status, body);
  await expect(call()).rejects.toThrow(/#aws-sdk|mock/);
});
