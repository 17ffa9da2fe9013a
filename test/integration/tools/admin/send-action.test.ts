import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  InFlightError,
  NotAllowedError,
  NotFoundError,
  OperatorError,
} from "../../../../shared/platform/operator-error.ts";
import { proposedReport } from "../../../../tools/admin/command.ts";
import { type ActionSender, ProposedError, sendAction } from "../../../../tools/admin/send-action.ts";
import { localAwsEnvironment, setEnvironment } from "../../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";

/** Goal: a command's action is one signed request, and each answer is the error that the command had by itself. */
type Answer = { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string };
/** Undefined ends the connection instead. */
let answer: Answer | undefined;
const requests: { readonly method: string; readonly url: string; readonly signed: boolean; readonly body: string }[] =
  [];
const server = createServer(async (request, response) => {
  const { method = "", url = "", headers } = request;
  const signed = headers.authorization?.startsWith("AWS4-HMAC-SHA256 ") ?? false;
  requests.push({ method, url, signed, body: await text(request) });
  if (answer === undefined) return void response.destroy();
  response.writeHead(answer.status, answer.headers).end(answer.body);
});
let sender: ActionSender;
let restoreEnvironment = (): void => {};
beforeAll(async () => {
  const port = await listenOnLoopback(server);
  sender = { target: { baseUrl: `http://127.0.0.1:${port}/stage/v1`, name: "prod" }, by: "Adé", role: "operator" };
  const nowhere = "http://127.0.0.1:2";
  restoreEnvironment = setEnvironment(
    localAwsEnvironment({ dynamodb: nowhere, sqs: nowhere, secretsManager: nowhere }),
  );
});
beforeEach(() => {
  requests.length = 0;
});
afterAll(() => {
  restoreEnvironment();
  server.close();
});

const refused = (status: number, code: string, message: string, headers = {}): Answer => ({
  status,
  headers: { "x-error-code": code, ...headers },
  body: JSON.stringify({ status: false, message }),
});

test("a read is a GET with its input in the query, and a change a POST with it in the body, beside the base URL", async () => {
  answer = { status: 200, body: JSON.stringify({ status: true, message: "", data: { purchases: "on" } }) };
  expect(await sendAction(sender, "keys list", { account: "acc 1+2", cursor: undefined })).toEqual({ purchases: "on" });
  await sendAction(sender, "purchases off", { why: "ticket 1" });
  expect(requests).toEqual([
    { method: "GET", url: "/stage/operations/operator/keys/list?account=acc%201%2B2", signed: true, body: "" },
    { method: "POST", url: "/stage/operations/operator/purchases/off", signed: true, body: '{"why":"ticket 1"}' },
  ]);
});

test("a phone number in any spelling is in no address: a read that has one is not sent, and a change has it in its body", async () => {
  answer = { status: 200, body: JSON.stringify({ status: true, message: "", data: {} }) };
  for (const reference of ["08031234567", "+234 803 123 4567"]) {
    await expect(sendAction(sender, "transactions show", { reference })).rejects.toThrow(
      /subjects report phone_number/,
    );
    await sendAction(sender, "transactions ask", { reference });
  }
  expect(requests.map(({ method }) => method)).toEqual(["POST", "POST"]);
});

test.each([
  [refused(404, "not_found", "There is no key"), NotFoundError, "There is no key"],
  [refused(403, "not_allowed", "Not yours"), NotAllowedError, "Not yours"],
  [refused(409, "refused", "It is final"), OperatorError, "It is final"],
  [{ status: 403, body: '{"message":"Forbidden"}' }, OperatorError, "need execute-api:Invoke"],
  [
    { status: 403, body: '{"message":"The security token included in the request is expired"}' },
    OperatorError,
    "AWS refuses GET /stage/operations/operator/keys/list (The security token included in the request is expired)",
  ],
  [
    { status: 503, body: '{"message":"Service Unavailable"}' },
    Error,
    "The service answered 503 to GET /stage/operations",
  ],
] as const)("the answer %j is the error of a command", async (given, kind, message) => {
  answer = given;
  const error: unknown = await sendAction(sender, "keys list", { account: "acc_1" }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(kind);
  expect(error).toMatchObject({ message: expect.stringContaining(message) });
});

test("an answer that a change was proposed is a report with the next step, and no result", async () => {
  const proposal = {
    ...{ proposal: "prop_0123456789abcdef01", state: "open", action: "wallet fund", account_id: "acc_1" },
    ...{ consequence: "Credits NGN 500.00 to checkout", amount: 500, balance_before: 0, balance_after: 500 },
    ...{ why: null, proposed_by: "ada", proposed_at: "2026-11-21T12:00:00.000Z" },
    ...{ expires_at: "2026-11-24T12:00:00.000Z", decided_by: null, decided_at: null, decided_why: null },
    ...{ broke_glass: false, refusal: "You proposed it: another person approves it" },
  };
  answer = { status: 202, body: JSON.stringify({ status: true, message: "Proposed", data: { proposal } }) };
  const error: unknown = await sendAction(sender, "purchases on", {}).catch((reason: unknown) => reason);
  if (!(error instanceof ProposedError)) throw new Error("It was not proposed", { cause: error });
  expect(proposedReport(error, "Africa/Lagos")).toEqual({
    json: { proposal },
    text: `Proposed as prop_0123456789abcdef01: Credits NGN 500.00 to checkout. Nothing has changed yet.
Another person approves it before 2026-11-24T13:00:00.000+01:00: npm run admin -- proposals approve prop_0123456789abcdef01`,
  });
});

test("a change without an answer may have been made, and one without a connection was not", async () => {
  answer = undefined;
  const change = sendAction(sender, "purchases on", {});
  await expect(change).rejects.toThrow("No answer came: check what changed before you retry");
  expect(requests).toHaveLength(1);
  const nowhere = { ...sender, target: { baseUrl: "http://127.0.0.1:2/v1", name: "prod" } };
  await expect(sendAction(nowhere, "purchases on", {})).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test.each([500, 503, 504])("a change that the gateway answers with %i may have been made", async (status) => {
  answer = { status, body: '{"message":"Service Unavailable"}' };
  await expect(sendAction(sender, "keys create", { account: "acc_1", mode: "live" })).rejects.toThrow(
    `The service answered ${status} to POST /stage/operations/operator/keys/create: check what changed before you retry`,
  );
});

test("an answer that the request may still be running says for how long", async () => {
  answer = refused(409, "in_flight", "It may still be running", { "retry-after": "7" });
  const error: unknown = await sendAction(sender, "purchases on", {}).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(InFlightError);
  expect(error).toMatchObject({ retryAfterMs: 7_000 });
});

test("a change whose answer is cut off may have been made", async () => {
  answer = { status: 200, headers: { "content-length": "1000", connection: "close" }, body: '{"data":' };
  await expect(sendAction(sender, "purchases off", {})).rejects.toThrow(/check what changed before you retry/);
});
