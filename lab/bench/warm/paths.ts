import { deadLettersOf } from "../../../shared/platform/queue-names.ts";
import { observe } from "../../../test/builders/dynamodb/observe.ts";
import type { TestService } from "../../../test/builders/service/service.ts";
import { anUpstreamEvent } from "../../../test/builders/upstream/upstream-event.ts";
import { setEnvironment } from "../../../tools/local/local-aws.ts";
import { type Client, createClient, type Sent } from "../../load/client.ts";
import { type ColdGateway, openColdGateway } from "../cold-gateway.ts";
import { times } from "../extent.ts";
import { type Spread, spreadOf } from "../statistics.ts";

/** Below the rate limit of a key. */
const REQUESTS_PER_KEY = 100;
const WARM_REQUESTS = times(500);
const COLD_REQUESTS = times(60);
/** Warm-up requests of each kind, which are not counted. */
const WARM_UP = times(20);

export type PathResults = { readonly title: string; readonly durationMs: Spread; readonly dynamodbCalls: number };

/** One kind of request: the request by its number, and the expected status. */
type Path = {
  readonly title: string;
  readonly requests: number;
  readonly status: number;
  /** Loads the functions again before each request. */
  readonly isCold?: true;
  readonly sent: (count: number) => Sent;
};

/**
 * Measures requests one after the other without the counting proxy, then counts the calls of one of each kind with it.
 */
export const measurePaths = async (service: TestService): Promise<readonly PathResults[]> => {
  const gateway = await openColdGateway(["list-catalog", "receive-upstream-event"]);
  const client = createClient(gateway.baseUrl);
  const restore = setEnvironment({ OUTCOMES_QUEUE_URL: unreadQueue() });
  try {
    const paths = await pathsOf(service);
    const durations = new Map<string, readonly number[]>();
    const throughProxy = setEnvironment({ AWS_ENDPOINT_URL_DYNAMODB: service.dynamodbEndpoint });
    await gateway.begin();
    for (const path of paths) durations.set(path.title, await durationsOf(path, gateway, client));
    throughProxy();

    const results: PathResults[] = [];
    await gateway.begin();
    for (const path of paths) {
      await ask(path, 0, gateway, client);
      // The first request of an instance has the reads that it repeats after a time.
      service.proxy.countsTimedReads = path.isCold === true;
      const { calls } = await observe(service.proxy, 1, () => ask(path, 1, gateway, client));
      const durationMs = spreadOf(durations.get(path.title) ?? []);
      results.push({ title: path.title, durationMs, dynamodbCalls: calls.length });
    }
    return results;
  } finally {
    restore();
    client.close();
    await gateway.close();
  }
};

/**
 * Messages go to a queue without a consumer, because here the consumer would run in this process and delay the
 * response.
 */
const unreadQueue = (): string =>
  (process.env.OUTCOMES_QUEUE_URL ?? "").replace(/outcomes$/, deadLettersOf("outcomes"));

const durationsOf = async (path: Path, gateway: ColdGateway, client: Client): Promise<readonly number[]> => {
  const durationsMs: number[] = [];
  for (let count = 0; count < WARM_UP + path.requests; count += 1) {
    const durationMs = await ask(path, count, gateway, client);
    if (count >= WARM_UP) durationsMs.push(durationMs);
  }
  return durationsMs;
};

const ask = async (path: Path, count: number, gateway: ColdGateway, client: Client): Promise<number> => {
  if (path.isCold) await gateway.begin();
  const reply = await client.send(path.sent(count));
  if (reply.kind !== "answered" || reply.status !== path.status) {
    throw new Error(`${path.title} got an unexpected response: ${JSON.stringify(reply)}`);
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
      title: "unchanged catalog (304), warm",
      requests: WARM_REQUESTS,
      status: 304,
      sent: get({ "if-none-match": headers.get("etag") ?? "" }),
    },
    { title: "catalog, first request", requests: COLD_REQUESTS, status: 200, isCold: true, sent: get({}) },
    { title: "upstream event", requests: WARM_REQUESTS, status: 200, sent: () => event },
  ];
};

/** Enough keys for the rate limit, in rotation. */
const keysFor = async (service: TestService, requests: number): Promise<Generator<string, string, void>> => {
  const { newKey } = await service.newCaller({ naira: 0 });
  const keys: string[] = [];
  while (keys.length * REQUESTS_PER_KEY < requests) keys.push(await newKey());
  return rotate(keys);
};

function* rotate(keys: readonly string[]): Generator<string, string, void> {
  for (let turn = 0; ; turn += 1) yield keys[turn % keys.length] ?? "";
}

const eventOf = async (service: TestService): Promise<Sent> => {
  const { url, headers, body } = await anUpstreamEvent(service);
  const path = new URL(url).pathname.replace("/v1", "");
  return { method: "POST", path, headers: { ...headers, "content-length": String(Buffer.byteLength(body)) }, body };
};
