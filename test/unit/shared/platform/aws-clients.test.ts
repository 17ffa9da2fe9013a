import { Readable } from "node:stream";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { documentClient } from "../../../../shared/platform/aws-clients.ts";
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

  test("another value of AWS_CALLS is refused by its name", () => {
    process.env.AWS_CALLS = "fast";
    expect(documentClient).toThrow("AWS_CALLS");
  });
});
