import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "vitest";
import * as z from "zod";
import { createKey, revokeKey } from "../../shared/access/accounts.ts";
import { newApiKey } from "../../shared/access/api-key.ts";
import { sleep } from "../../shared/platform/time.ts";
import { startDynoxide } from "../../tools/local/dynamodb.ts";
import { tableNames } from "../../tools/local/tables.ts";
import { startDynamoDbProxy } from "../builders/dynamodb-proxy.ts";
import { type Client, createClient, order, type Reply } from "./client.ts";
import { expectMoneyIsExact, readLedgerState } from "./ledger-state.ts";
import { inParallel, reportResults, spread } from "./results.ts";
import { type LoadAccount, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { expectNoUnexpectedErrors, strainOf } from "./unexpected-errors.ts";

const KINDS = ["malformed", "wrong checksum", "unknown", "revoked"] as const;
type Kind = (typeof KINDS)[number];
const KEYS_OF_A_KIND = 50;
const FLOOD_CONCURRENCY = 32;
const HEALTHY_A_SECOND = 8;
/** A healthy caller's slowest of a hundred, while all the others lie. */
const HEALTHY_P99_MS_MAX = 3_000;

/** So many requests with each kind of invalid key, and the DynamoDB calls that they cost. */
export const countCallsOfInvalidKeys = async ({ requests }: { readonly requests: number }): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "invalid-keys-"));
  const files = { pidFile: join(folder, "dynoxide.pid"), logFile: join(folder, "dynoxide.log") };
  const dynamodb = await startDynoxide(files);
  const proxy = await startDynamoDbProxy(dynamodb.endpoint);
  const service = await startServiceProcess({ dynamodbEndpoint: proxy.endpoint });
  const client = createClient(service.baseUrl);
  try {
    const keys = await makeInvalidKeys(service);
    const calls: Record<string, number> = {};
    for (const kind of KINDS) {
      proxy.calls.length = 0;
      await inParallel(requests, FLOOD_CONCURRENCY, async (index) => {
        const reply = await client.send(aPurchase(keys[kind][index % KEYS_OF_A_KIND] ?? ""));
        expect(reply).toMatchObject({ status: 401, headers: { "x-error-code": "invalid_api_key" } });
      });
      // The schedules' own calls go to other tables.
      calls[kind] = proxy.calls.filter(({ tables }) => tables.includes(tableNames.access)).length;
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

/** A healthy caller alone, and then beside a flood of invalid keys. */
export const runFlood = async ({ seconds }: { readonly seconds: number }): Promise<void> => {
  const service = await startServiceProcess();
  const client = createClient(service.baseUrl);
  try {
    const purchases = seconds * HEALTHY_A_SECOND;
    const healthy = await service.newAccount({ naira: 3 * purchases * 50, keys: Math.ceil(purchases / 15) });
    // The first ones meet a service that has just started.
    await callAtRate(client, healthy, seconds);
    const alone = spread((await callAtRate(client, healthy, seconds)).map(({ durationMs }) => durationMs));

    const keys = Object.values(await makeInvalidKeys(service)).flat();
    const workerData = { baseUrl: service.baseUrl, keys, concurrency: FLOOD_CONCURRENCY, seconds };
    const flood = new Worker(new URL("./flood-worker.ts", import.meta.url), { workerData });
    const flooded = once(flood, "message");
    const beside = spread((await callAtRate(client, healthy, seconds)).map(({ durationMs }) => durationMs));
    const answers = z.tuple([z.record(z.string(), z.number())]).parse(await flooded)[0];
    expect(Object.keys(answers)).toEqual(["401 invalid_api_key"]);
    const invalid = answers["401 invalid_api_key"] ?? 0;
    expect(invalid).toBeGreaterThan(purchases);
    expect(beside.p99Ms).toBeLessThan(HEALTHY_P99_MS_MAX);
    expectMoneyIsExact(await readLedgerState(service.admin.ledger));
    expectNoUnexpectedErrors(service);

    reportResults("invalid keys: a flood", {
      seconds,
      "invalid requests a second": Math.round(invalid / seconds),
      "healthy purchases": purchases,
      "healthy that failed": 0,
      "healthy alone p50Ms": alone.p50Ms,
      "healthy alone p99Ms": alone.p99Ms,
      "healthy beside p50Ms": beside.p50Ms,
      "healthy beside p99Ms": beside.p99Ms,
      "healthy beside maxMs": beside.maxMs,
      ...strainOf(service),
    });
  } finally {
    client.close();
    await service.stop();
  }
};

const aPurchase = (key: string) =>
  order("/vtu/airtime/purchase", key, { network: "mtn", amount: 50, phone_number: "08031234567" });

const makeInvalidKeys = async ({ newAccount, admin }: ServiceProcess): Promise<Record<Kind, readonly string[]>> => {
  const { accountId } = await newAccount({ naira: 0, keys: 0 });
  const revoked: string[] = [];
  while (revoked.length < KEYS_OF_A_KIND) {
    const { key, keyId } = await createKey(admin.accounts, accountId, { mode: "live" });
    await revokeKey(admin.accounts, accountId, keyId);
    revoked.push(key);
  }
  const times = (make: (index: number) => string) => Array.from({ length: KEYS_OF_A_KIND }, (_, index) => make(index));
  return {
    malformed: times((index) => `live_${randomBytes(5 * (index + 1)).toString("hex")}`),
    "wrong checksum": times(() => newApiKey("live").replace(/.$/, (last) => (last === "a" ? "b" : "a"))),
    unknown: times(() => newApiKey("live")),
    revoked,
  };
};

/** Buys at a steady rate; every purchase succeeds. */
const callAtRate = async (client: Client, { keys }: LoadAccount, seconds: number): Promise<readonly Reply[]> => {
  const replies: Promise<Reply>[] = [];
  for (let count = 0; count < seconds * HEALTHY_A_SECOND; count += 1) {
    replies.push(client.send(aPurchase(keys[count % keys.length] ?? "")));
    await sleep(1_000 / HEALTHY_A_SECOND);
  }
  const answered = await Promise.all(replies);
  for (const reply of answered) expect(reply).toMatchObject({ status: 200 });
  return answered;
};
