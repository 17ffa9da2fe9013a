import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { webhookHandler as expressHandler } from "../../../client/examples/webhook-express.ts";
import { webhookHandler as fetchHandler, type Settle } from "../../../client/examples/webhook-fetch.ts";
import { webhookHandler as lambdaHandler } from "../../../client/examples/webhook-lambda.ts";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";
import { cleanups } from "../../builders/run/cleanups.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const bodyOf = (event: string) => JSON.stringify({ event, data: { reference: "DATA_1", status: "success" } });
const headersOf = (body: string) => ({
  "webhook-id": "evt_1",
  "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
  "webhook-signature": new Webhook(secret).sign("evt_1", new Date(), body),
});
type Send = (body: string, headers: Record<string, string>) => Promise<number>;

const throughFetch = async (settle: Settle): Promise<Send> => {
  const handle = fetchHandler(secret, settle);
  return async (body, headers) => {
    const request = new Request("https://example.com/hooks", { method: "POST", body, headers });
    return handle(request).then(
      ({ status }) => status,
      () => 500,
    );
  };
};
const throughExpress = async (settle: Settle): Promise<Send> => {
  const handle = expressHandler(secret, settle);
  const server = createServer((request, response) => void handle(request, response));
  cleanups.push(() => server.close().closeAllConnections());
  const port = await listenOnLoopback(server);
  return async (body, headers) => (await fetch(`http://127.0.0.1:${port}`, { method: "POST", body, headers })).status;
};
const throughLambda =
  (isBase64Encoded: boolean) =>
  async (settle: Settle): Promise<Send> => {
    const handle = lambdaHandler(secret, settle);
    return (text, headers) => {
      const body = isBase64Encoded ? Buffer.from(text).toString("base64") : text;
      return handle({ headers, body, isBase64Encoded }).then(
        ({ statusCode }) => statusCode,
        () => 500,
      );
    };
  };

describe.each([
  ["fetch", throughFetch],
  ["express", throughExpress],
  ["Lambda", throughLambda(false)],
  ["Lambda with a Base64 body", throughLambda(true)],
])("the example handler for %s", (_, through) => {
  test("settles the transaction, ignores other events, and answers 400 and 500 as it should", async () => {
    const settled: string[] = [];
    const send = await through(async (reference, status) => void settled.push(`${reference} ${status}`));
    const body = bodyOf("transaction.updated");
    expect(await send(body, headersOf(body))).toBe(204);
    const other = bodyOf("wallet.low");
    expect(await send(other, headersOf(other))).toBe(204);
    expect(await send(body.replace("success", "failed"), headersOf(body))).toBe(400);
    expect(settled).toEqual(["DATA_1 success"]);

    const failing = await through(() => Promise.reject(new Error("The database is down")));
    expect(await failing(body, headersOf(body))).toBe(500);
  });
});
