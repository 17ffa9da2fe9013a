import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { request as httpRequestTo, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import * as z from "#zod";
import { openDynamoDb, openSqs } from "../../../shared/platform/aws/sdk.ts";
import { purchaseOutcome } from "../../simulator/outcomes.ts";
import { startSimulator } from "../../simulator/server.ts";
import type { Order } from "../../simulator/state.ts";
import { orderEvent, sendEvent } from "../../simulator/webhooks.ts";
import { receiveWebhook } from "./receiver.ts";
import { ORDER_PREFIX, SETTINGS_PK, simulatorSettings } from "./table.ts";

/**
 * The simulator as a function of a throw-away stage: it serves the upstream's interface, sends later events, and receives
 * webhooks as a caller does.
 */

const { SIMULATOR_TABLE, EVENT_QUEUE_URL } = z
  .object({ SIMULATOR_TABLE: z.string().check(z.minLength(1)), EVENT_QUEUE_URL: z.url() })
  .parse(process.env);
const db = openDynamoDb();
const sqs = openSqs();

const httpRequest = z.object({
  rawPath: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z._default(z.string(), ""),
  isBase64Encoded: z.optional(z.boolean()),
  requestContext: z.object({ http: z.object({ method: z.string() }) }),
});
const queueMessages = z.object({ Records: z.array(z.object({ body: z.string() })).check(z.minLength(1)) });
const laterEvent = z.object({ event: z.json(), copies: z.int().check(z.positive()) });

/** The upstream's limits would refuse simultaneous purchases, and each instance counts for itself. */
const UNLIMITED = { vtu: 1_000_000, identity: 1_000_000, catalog: 1_000_000 };
const LATER_S = 5;

/** One for each key that was valid; a function's instance handles one request at a time. */
const simulators = new Map<string, ReturnType<typeof startSimulator>>();
const simulatorFor = (liveKey: string): ReturnType<typeof startSimulator> => {
  const simulator = simulators.get(liveKey) ?? startSimulator({ liveKey, limits: UNLIMITED });
  simulators.set(liveKey, simulator);
  return simulator;
};

/** They change when a secret is rotated, so they are read for each request. */
const readSettings = async () => {
  const key = { pk: SETTINGS_PK };
  const { Item } = await db.get({ TableName: SIMULATOR_TABLE, Key: key, ConsistentRead: true });
  return simulatorSettings.parse(Item);
};

export const handler = async (event: unknown): Promise<unknown> => {
  const messages = queueMessages.safeParse(event).data;
  if (messages !== undefined) return sendEvents(messages);
  const request = httpRequest.parse(event);
  const [, token] = RECEIVER_PATH.exec(request.rawPath) ?? [];
  return token === undefined ? serve(request) : receive(token, request);
};

/** Behind the second API: no endpoint may be at the host of a stage's upstream. */
const RECEIVER_PATH = /^\/receiver\/([\w-]+)$/;

type HttpRequest = z.output<typeof httpRequest>;

const receive = async (token: string, request: HttpRequest) => {
  const { headers } = request;
  return { statusCode: await receiveWebhook(db, SIMULATOR_TABLE, { token, headers, body: bodyOf(request) }) };
};

const bodyOf = ({ body, isBase64Encoded }: HttpRequest): string | Buffer =>
  isBase64Encoded ? Buffer.from(body, "base64") : body;

const serve = async (incomingRequest: HttpRequest) => {
  const { rawPath, headers, requestContext } = incomingRequest;
  const { baseUrl, state } = await simulatorFor((await readSettings()).live_key);
  // A connection of its own for each request: one that is kept would time out while the instance is frozen.
  const options = { method: requestContext.http.method, headers: pick(headers, REQUEST_HEADERS), agent: false };
  const request = httpRequestTo(new URL(rawPath, baseUrl), options);
  request.end(bodyOf(incomingRequest));
  const [response] = incoming.parse(await once(request, "response"));
  const answer = {
    statusCode: response.statusCode,
    headers: pick(response.headers, RESPONSE_HEADERS),
    body: await text(response),
  };
  for (const order of state.purchases.splice(0)) await record(order);
  return answer;
};

const incoming = z.tuple([z.instanceof(IncomingMessage)]);

/** The headers of the interface; those of the connection belong to one connection only. */
const REQUEST_HEADERS = ["authorization", "content-type"];
const RESPONSE_HEADERS = ["content-type", "retry-after", "x-ratelimit-limit", "x-ratelimit-remaining"];

const pick = (headers: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.filter((name) => headers[name] !== undefined).map((name) => [name, String(headers[name])]));

/** Before the caller is answered, so that no order is missing in the list that is compared with the ledger. */
const record = async (order: Order): Promise<void> => {
  const { reference, upstreamReference, amountKobo, mode } = order;
  const Item = {
    pk: `${ORDER_PREFIX}${randomUUID()}`,
    reference,
    upstream_reference: upstreamReference,
    amount_kobo: amountKobo,
    mode,
  };
  await db.put({ TableName: SIMULATOR_TABLE, Item });
  const outcome = purchaseOutcome(order.phoneNumber ?? "");
  if (outcome.kind !== "respond" || outcome.later === undefined) return;
  const { status, copies } = outcome.later;
  const MessageBody = JSON.stringify({ event: orderEvent(order, status), copies });
  await sqs.send(new SendMessageCommand({ QueueUrl: EVENT_QUEUE_URL, MessageBody, DelaySeconds: LATER_S }));
};

/** An event that is not accepted fails the message, which the queue delivers again, as an upstream would. */
const sendEvents = async ({ Records }: z.output<typeof queueMessages>): Promise<void> => {
  const settings = await readSettings();
  const { state } = await simulatorFor(settings.live_key);
  state.webhook = { url: settings.webhook_url, secret: settings.webhook_secret };
  for (const { body } of Records) {
    const { event, copies } = laterEvent.parse(JSON.parse(body));
    const refused = (await sendEvent(state, event, { copies })).filter(({ status }) => status !== 200);
    if (refused.length > 0) throw new Error(`The event was answered with ${refused[0]?.status}: ${refused[0]?.error}`);
  }
};
