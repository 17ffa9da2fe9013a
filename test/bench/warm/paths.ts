import { setEnvironment } from "../../../tools/local/local-aws.ts";
import { deadLettersOf } from "../../../tools/local/queues.ts";
import { observe } from "../../builders/observe.ts";
import type { TestService } from "../../builders/service.ts";
import { anUpstreamEvent } from "../../builders/upstream-event.ts";
import { type Client, createClient, type Sent } from "../../load/client.ts";
import { type FreshGateway, openFreshGateway } from "../fresh-gateway.ts";
import { type Spread, spreadOf } from "../samples.ts";

/** Below what a key may ask for in a minute. */
const REQUESTS_PER_KEY = 100;
const WARM_REQUESTS = 500;
const COLD_REQUESTS = 60;
/** The first of each kind make the code warm and do not count. */
const WARM_UP = 20;

export type PathFigures = { readonly title: string; readonly durationMs: Spread; readonly dynamodbCalls: number };

/** One kind of request: what is sent the how-manieth time, and what must come back. */
type Path = {
  readonly title: string;
  readonly requests: number;
  readonly status: number;
  /** Begins with nothing in memory each time. */
  readonly isCold?: true;
  readonly sent: (count: number) => Sent;
};

/** Requests one after the other, past the proxy that counts; then one of each kind through it. */
export const measurePaths = async (service: TestService): Promise<readonly PathFigures[]> => {
  const gateway = await openFreshGateway(["list-catalog", "receive-upstream-event"]);
  const client = createClient(gateway.baseUrl);
  const restore = setEnvironment({ OUTCOMES_QUEUE_URL: unreadQueue() });
  try {
    const paths = await pathsOf(service);
    const durations = new Map<string, readonly number[]>();
    const throughProxy = setEnvironment({ AWS_ENDPOINT_URL_DYNAMODB: service.dynamodbEndpoint });
    await gateway.begin();
    for (const path of paths) durations.set(path.title, await durationsOf(path, gateway, client));
    throughProxy();

    const figures: PathFigures[] = [];
    await gateway.begin();
    for (const path of paths) {
      await ask(path, 0, gateway, client);
      const { calls } = await observe(service.proxy, 1, () => ask(path, 1, gateway, client));
      const durationMs = spreadOf(durations.get(path.title) ?? []);
      figures.push({ title: path.title, durationMs, dynamodbCalls: calls.length });
    }
    return figures;
  } finally {
    restore();
    client.close();
    await gateway.close();
  }
};

/** On AWS another function reads what was queued; here it would do so in this very process, while the answer waits. */
const unreadQueue = (): string => (process.env.OUTCOMES_QUEUE_URL ?? "").replace(/status$/, deadLettersOf("status"));

const durationsOf = async (path: Path, gateway: FreshGateway, client: Client): Promise<readonly number[]> => {
  const durationsMs: number[] = [];
  for (let count = 0; count < WARM_UP + path.requests; count += 1) {
    const durationMs = await ask(path, count, gateway, client);
    if (count >= WARM_UP) durationsMs.push(durationMs);
  }
  return durationsMs;
};

const ask = async (path: Path, count: number, gateway: FreshGateway, client: Client): Promise<number> => {
  if (path.isCold) await gateway.begin();
  const reply = await client.send(path.sent(count));
  if (reply.kind !== "answered" || reply.status !== path.status) {
    throw new Error(`${path.title} was answered otherwise: ${JSON.stringify(reply)}`);
  }
  return reply.durationMs;
};

const pathsOf = async (service: TestService): Promise<readonly Path[]> => {
  const keys = await keysFor(service, 2 * WARM_REQUESTS + COLD_REQUESTS + 3 * WARM_UP);
  const get = (headers: Readonly<Record<string, string>>) => () => {
    const authorization = `Bearer ${keys.next().value}`;
    return { method: "GET", path: "/vtu/data", headers: { authorization, "accept-encoding": "gzip", ...headers } };
  };
  const { headers } = await service.call("GET", "/vtu/data", { key: keys.next().value });
  const event = await eventOf(service);
  return [
    { title: "catalog, warm", requests: WARM_REQUESTS, status: 200, sent: get({}) },
    {
      title: "catalog, warm, unchanged (304)",
      requests: WARM_REQUESTS,
      status: 304,
      sent: get({ "if-none-match": headers.get("etag") ?? "" }),
    },
    { title: "catalog, read from the table", requests: COLD_REQUESTS, status: 200, isCold: true, sent: get({}) },
    { title: "event of the provider", requests: WARM_REQUESTS, status: 200, sent: () => event },
  ];
};

/** Enough keys for so many requests in one minute, one for each request. */
const keysFor = async (service: TestService, requests: number): Promise<Generator<string, string, void>> => {
  const { newKey } = await service.newCaller({ naira: 0 });
  const keys: string[] = [];
  while (keys.length * REQUESTS_PER_KEY < requests) keys.push(await newKey());
  return inTurn(keys);
};

function* inTurn(keys: readonly string[]): Generator<string, string, void> {
  for (let turn = 0; ; turn += 1) yield keys[turn % keys.length] ?? "";
}

const eventOf = async (service: TestService): Promise<Sent> => {
  const { url, headers, body } = await anUpstreamEvent(service);
  const path = new URL(url).pathname.replace("/v1", "");
  return { method: "POST", path, headers: { ...headers, "content-length": String(Buffer.byteLength(body)) }, body };
};
