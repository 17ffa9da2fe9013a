import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "vitest";
import * as z from "zod";
import { newApiKey } from "../../shared/access/api-key.ts";
import { checksumKeyOf } from "../../shared/access/checksum-key.ts";
import { createKey, revokeKey } from "../../shared/access/keys.ts";
import { sleep } from "../../shared/platform/time.ts";
import { startDynamoDbProxy } from "../../test/builders/dynamodb/dynamodb-proxy.ts";
import { startDynoxide } from "../../tools/local/dynoxide.ts";
import { type Client, createClient, orderRequest, type Reply } from "./client.ts";
import { expectBalancesMatchEntries, readLedgerState } from "./ledger-state.ts";
import { inParallel, reportResults, spread } from "./results.ts";
import { type LoadAccount, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { expectNoUnexpectedErrors, strainOf } from "./unexpected-errors.ts";

const KINDS = ["malformed", "wrong checksum", "unknown", "revoked"] as const;
type Kind = (typeof KINDS)[number];
const KEYS_OF_A_KIND = 50;
const FLOOD_CONCURRENCY = 32;
const VALID_PER_SECOND = 8;
/** The valid caller's 99th percentile during the flood. */
const VALID_P99_MS_MAX = 3_000;

/** Counts the DynamoDB calls of requests with each kind of invalid key. */
export const countCallsOfInvalidKeys = async ({ requests }: { readonly requests: number }): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "invalid-keys-"));
  const files = { pidFile: join(folder, "dynoxide.pid"), logFile: join(folder, "dynoxide.log") };
  const dynamodb = await startDynoxide(files);
  const proxy = await startDynamoDbProxy(dynamodb.endpoint);
  const service = await startServiceProcess({ dynamodbEndpoint: proxy.endpoint });
  const client = createClient(service.baseUrl);
  try {
    const keys = await createInvalidKeys(service);
    const calls: Record<string, number> = {};
    for (const kind of KINDS) {
      proxy.calls.length = 0;
      await inParallel(requests, FLOOD_CONCURRENCY, async (index) => {
        const reply = await client.send(aPurchase(keys[kind][index % KEYS_OF_A_KIND] ?? ""));
        expect(reply).toMatchObject({ status: 401, headers: { "x-error-code": "invalid_api_key" } });
      });
      // The calls of the scheduled functions go to other tables.
      calls[kind] = proxy.calls.filter(({ tables }) => tables.includes(service.admin.accounts.accessTable)).length;
    }
    expect(calls).toEqual({ malformed: 0, "wrong checksum": 0, unknown: requests, revoked: requests });
    expectNoUnexpectedErrors(service);
    reportResults("invalid keys: DynamoDB calls", { "requests of each kind": requests, calls });
  } finally {
    client.close();
    await service.stop();
    await proxy.stop();
    await dynamodb.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Measures a valid caller alone, and then during a flood of invalid keys. */
export const runFlood = async ({ seconds }: { readonly seconds: number }): Promise<void> => {
  const service = await startServiceProcess();
  const client = createClient(service.baseUrl);
  try {
    const purchases = seconds * VALID_PER_SECOND;
    const validCaller = await service.newAccount({ naira: 3 * purchases * 50, keys: Math.ceil(purchases / 15) });
    // Warm-up.
    await buyAtRate(client, validCaller, seconds);
    const alone = spread((await buyAtRate(client, validCaller, seconds)).map(({ durationMs }) => durationMs));

    const keys = Object.values(await createInvalidKeys(service)).flat();
    const workerData = { baseUrl: service.baseUrl, keys, concurrency: FLOOD_CONCURRENCY, seconds };
    const flood = new Worker(new URL("./flood-worker.ts", import.meta.url), { workerData });
    const flooded = once(flood, "message");
    const duringFlood = spread((await buyAtRate(client, validCaller, seconds)).map(({ durationMs }) => durationMs));
    const answers = z.tuple([z.record(z.string(), z.number())]).parse(await flooded)[0];
    expect(Object.keys(answers)).toEqual(["401 invalid_api_key"]);
    const invalid = answers["401 invalid_api_key"] ?? 0;
    expect(invalid).toBeGreaterThan(purchases);
    expect(duringFlood.p99Ms).toBeLessThan(VALID_P99_MS_MAX);
    expectBalancesMatchEntries(await readLedgerState(service.admin.ledger));
    expectNoUnexpectedErrors(service);

    reportResults("invalid keys: a flood", {
      seconds,
      "invalid requests per second": Math.round(invalid / seconds),
      "valid purchases": purchases,
      "valid purchases failed": 0,
      "alone p50Ms": alone.p50Ms,
      "alone p99Ms": alone.p99Ms,
      "during flood p50Ms": duringFlood.p50Ms,
      "during flood p99Ms": duringFlood.p99Ms,
      "during flood maxMs": duringFlood.maxMs,
      ...strainOf(service),
    });
  } finally {
    client.close();
    await service.stop();
  }
};

const aPurchase = (key: string) =>
  orderRequest("/vtu/airtime/purchase", key, { network: "mtn", amount: 50, phone_number: "08031234567" });

const createInvalidKeys = async ({ newAccount, admin }: ServiceProcess): Promise<Record<Kind, readonly string[]>> => {
  const { accountId } = await newAccount({ naira: 0, keys: 0 });
  const revoked: string[] = [];
  while (revoked.length < KEYS_OF_A_KIND) {
    const { key, keyId } = await createKey(admin.accounts, accountId, { mode: "live" });
    await revokeKey(admin.accounts, accountId, keyId);
    revoked.push(key);
  }
  const checksumKey = await checksumKeyOf(admin.accounts.checksumKey);
  const times = (make: (index: number) => string) => Array.from({ length: KEYS_OF_A_KIND }, (_, index) => make(index));
  return {
    malformed: times((index) => `live_${randomBytes(5 * (index + 1)).toString("hex")}`),
    // An inventor of keys does not know the service's key of checksums.
    "wrong checksum": times(() => newApiKey("live", "invented")),
    unknown: times(() => newApiKey("live", checksumKey)),
    revoked,
  };
};

/** Buys at a steady rate and expects every purchase to succeed. */
const buyAtRate = async (client: Client, { keys }: LoadAccount, seconds: number): Promise<readonly Reply[]> => {
  const replies: Promise<Reply>[] = [];
  for (let count = 0; count < seconds * VALID_PER_SECOND; count += 1) {
    replies.push(client.send(aPurchase(keys[count % keys.length] ?? "")));
    await sleep(1_000 / VALID_PER_SECOND);
  }
  const answered = await Promise.all(replies);
  for (const reply of answered) expect(reply).toMatchObject({ status: 200 });
  return answered;
};
