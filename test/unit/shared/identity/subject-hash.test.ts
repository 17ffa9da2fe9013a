import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { beforeAll, beforeEach, expect, test } from "vitest";
import * as z from "#zod";
import { subjectHashing } from "../../../../shared/identity/subject-hash.ts";
import { openKms } from "../../../../shared/platform/aws/sdk.ts";
import { callAwsAt } from "../../../builders/aws/aws-server.ts";

const KEY_ARN = "arn:aws:kms:us-east-1:000000000000:key/mrk-1";
const call = z.object({ KeyId: z.string(), MacAlgorithm: z.string(), Message: z.string() });

/** Answers of KMS in turn; the last one again and again. */
let answers: readonly { readonly status: number; readonly body: object }[] = [];
let calls: z.output<typeof call>[] = [];
const macOf = (bytes: number) => ({ status: 200, body: { Mac: Buffer.alloc(bytes, 7).toString("base64") } });
const throttled = { status: 400, body: { __type: "ThrottlingException", message: "Rate exceeded" } };

const server = createServer(async (request, response) => {
  const { status, body } = answers[Math.min(calls.length, answers.length - 1)] ?? throttled;
  calls.push(call.parse(JSON.parse(await text(request))));
  response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
});
let hash: ReturnType<typeof subjectHashing>;
callAwsAt(server);
beforeAll(() => {
  hash = subjectHashing(openKms(), KEY_ARN);
});
beforeEach(() => {
  calls = [];
});

test("a number is hashed once, by the key's ARN, with its kind, and names the key by its id", async () => {
  answers = [macOf(32)];
  expect(await hash("nin", "12345678901")).toEqual({
    hash: Buffer.alloc(32, 7).toString("base64url"),
    keyId: "mrk-1",
  });
  const Message = Buffer.from("7:subject3:nin11:12345678901").toString("base64");
  expect(calls).toEqual([{ KeyId: KEY_ARN, MacAlgorithm: "HMAC_SHA_256", Message }]);
});

test("a virtual NIN is hashed in capital letters, as which it is looked for", async () => {
  answers = [macOf(32)];
  await hash("nin", "ab12CD34ef56gh78");
  await hash("nin", "AB12CD34EF56GH78");
  expect(calls[0]).toEqual(calls[1]);
  expect(calls).toHaveLength(2);
});

test("a throttled call is sent once more, and then fails", async () => {
  answers = [throttled, macOf(32)];
  await expect(hash("nin", "12345678901")).resolves.toBeDefined();
  calls = [];
  answers = [throttled];
  await expect(hash("nin", "12345678901")).rejects.toMatchObject({ name: "ThrottlingException" });
  expect(calls).toHaveLength(2);
});

test.each([0, 16])("an answer with a hash of %i bytes is no answer", async (bytes) => {
  answers = [macOf(bytes)];
  await expect(hash("nin", "12345678901")).rejects.toThrow();
});
