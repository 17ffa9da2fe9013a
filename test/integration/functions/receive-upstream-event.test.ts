import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { PutSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";
import * as z from "#zod";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { openSecretsManager, openSqs } from "../../../shared/platform/aws/sdk.ts";
import { loadKeyedHashes } from "../../../shared/platform/keyed-hashes.ts";
import { secret } from "../../../shared/platform/secrets.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { eventMac, type UnsignedEvent } from "../../../shared/upstream-events/event-mac.ts";
import { listEvents } from "../../../shared/upstream-events/stored-event.ts";
import { loadHandler } from "../../../tools/local/functions.ts";
import { setEnvironment } from "../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";
import { anApiEvent } from "../../builders/aws/api-event.ts";
import { aLambdaContext } from "../../builders/aws/lambda-context.ts";
import { captureLog } from "../../builders/run/captured-log.ts";
import { eventually } from "../../builders/run/eventually.ts";
import { anOrder, BUY_DATA, serviceForTests, transactionOf } from "../../builders/service/service.ts";

/** Goal: the upstream's events, and no others, are applied to the ledger. Method: the whole service. */
const service = await serviceForTests();

const webhook = () => {
  const { webhook: configured } = service.simulator.state;
  if (configured === undefined) throw new Error("The simulator has no webhook");
  return configured;
};
const post = async (
  body: string,
  { url = webhook().url, signature = sign(body) }: { url?: string; signature?: string | null } = {},
) => {
  const headers = {
    "content-type": "application/json",
    ...(signature !== null && { "x-webhook-signature": signature }),
  };
  const response = await fetch(url, { method: "POST", headers, body });
  return { status: response.status, code: response.headers.get("x-error-code") };
};
/** The webhook's URL with another path token. */
const otherToken = (): string => webhook().url.replace(/[^/]+$/, "x".repeat(43));
const sign = (body: string): string => createHmac("sha256", webhook().secret).update(body).digest("hex");
const event = (data: unknown, name = "transaction.updated"): string => JSON.stringify({ event: name, data });
const data = { reference: "U-1", status: "success", amount: 500, type: "data", phone_number: "08031234567" };

test("an unreadable event with a wrong token or without a signature is refused and not stored", async () => {
  const reversed = event({ ...data, status: "reversed", reference: "U-refused" });
  expect(await post(reversed, { url: otherToken() })).toMatchObject({ status: 404, code: "not_found" });
  expect(await post(reversed, { signature: null })).toMatchObject({ status: 401, code: "invalid_api_key" });
  expect((await listEvents(service.ledger, "0000")).map(({ reference }) => reference)).not.toContain("U-refused");
});

test("a body of half a JSON text is refused with 400 and raises an alarm, and one under another path token without", async () => {
  const log = captureLog();
  expect((await post("{", { url: otherToken() })).status).toBe(404);
  expect(log.lines("upstream_event.refused")).toEqual([]);
  expect(await post("{")).toMatchObject({ status: 400, code: "invalid_json" });
  expect(log.lines("upstream_event.refused")).toHaveLength(1);
});

test("a failed that was put on the queue past the webhook is stored, and only the upstream's own event refunds", async () => {
  const { key, balance } = await service.newCaller();
  const order = { key, body: anOrder({ phone_number: "08000000004" }) };
  const { reference } = transactionOf(await service.call("POST", BUY_DATA, order));
  const upstreamReference = service.simulator.state.purchases.at(-1)?.upstreamReference ?? "";
  const keyedHashes = await loadKeyedHashes(secret(openSecretsManager(), "reference-key"))();
  const message: UnsignedEvent = {
    kind: "event",
    mode: "live",
    received_at: isoTime(Date.now()),
    reference: upstreamReference,
    status: "failed",
    amount_kobo: koboFromNaira(500),
    type: "data",
  };
  const otherMac = eventMac(keyedHashes, { ...message, reference: "U-another" });
  const sqs = openSqs();
  onTestFinished(() => sqs.destroy());
  for (const forged of [
    { ...message, trusted: true },
    { ...message, trusted: true, type: "airtime", mac: otherMac },
  ]) {
    const MessageBody = JSON.stringify(forged);
    await sqs.send(new SendMessageCommand({ QueueUrl: process.env.OUTCOMES_QUEUE_URL, MessageBody }));
  }
  const reasons = async () => {
    const events = (await listEvents(service.ledger, "0000")).filter((each) => each.reference === upstreamReference);
    return events.map(({ reason }) => reason);
  };
  await eventually(async () => expect(await reasons()).toEqual(["unauthenticated", "unauthenticated"]));
  expect(await balance()).toBe(9_500);

  // The upstream's own event settles the order.
  expect((await post(event({ ...data, reference: upstreamReference, status: "failed" }))).status).toBe(200);
  await eventually(async () => expect(await balance()).toBe(10_000));
  const found = await service.call("GET", `/transactions/${reference}`, { key });
  expect(transactionOf(found).status).toBe("failed");
});

test("a signed event from an address that the stage does not list is refused", async () => {
  onTestFinished(setEnvironment({ UPSTREAM_WEBHOOK_IPS: "203.0.113.7" }));
  const handler = await loadHandler("receive-upstream-event", new URL("../../../functions/", import.meta.url));
  const { pathname } = new URL(webhook().url);
  const token = pathname.split("/").at(-1) ?? "";
  const body = event({ ...data, reference: "U-elsewhere" });
  const from = (sourceIp: string) =>
    handler(
      anApiEvent({
        ...{
          method: "POST",
          path: pathname,
          routeKey: "POST /v1/webhooks/upstream/{token}",
          pathParameters: { token },
          body,
          sourceIp,
        },
        headers: { "content-type": "application/json", "x-webhook-signature": sign(body) },
      }),
      aLambdaContext(),
    );
  expect(await from("203.0.113.8")).toMatchObject({ statusCode: 403 });
  expect(await from("203.0.113.7")).toMatchObject({ statusCode: 200 });
});

const secretRequest = z.object({ SecretId: z.string() });

test("a new process reads path token, signing key and reference key before its first event, all at the same time", async () => {
  const asked = new Set<string>();
  const all = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    asked.add(await text(request));
    if (asked.size === 3) all.resolve();
    await all.promise;
    response.writeHead(400).end("{}");
  });
  const endpoint = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  onTestFinished(() => void server.close());
  onTestFinished(setEnvironment({ AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint }));
  await loadHandler("receive-upstream-event", new URL("../../../functions/", import.meta.url));
  const ids = new Set([...asked].map((body) => secretRequest.parse(JSON.parse(body)).SecretId));
  expect(ids).toEqual(new Set(["webhook-token", "upstream-webhook-hmac", "reference-key"]));
});

test("after a rotation the path token before it is accepted beside the new one", async () => {
  const rotate = (SecretString: string) =>
    openSecretsManager().send(new PutSecretValueCommand({ SecretId: "webhook-token", SecretString }));
  const { url } = webhook();
  const body = event({ ...data, reference: "U-rotated" });
  await rotate("y".repeat(43));
  await eventually(async () =>
    expect(await post(body, { url: url.replace(/[^/]+$/, "y".repeat(43)) })).toMatchObject({ status: 200 }),
  );
  expect(await post(body)).toMatchObject({ status: 200 });
});
