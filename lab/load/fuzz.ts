import fc from "fast-check";
import { expect } from "vitest";
import * as z from "zod";
import { errorEnvelope, successEnvelope } from "../../shared/contract/envelope.ts";
import { isErrorCode } from "../../shared/contract/errors.ts";
import { headers } from "../../shared/contract/headers.ts";
import { readDocument } from "../../test/contract/document.ts";
import { expectDocumented } from "../../test/contract/expect-documented.ts";
import { createClient, type Reply, type Sent } from "./client.ts";
import { CANARY, type HostileRequest, hostileRequests } from "./hostile.ts";
import { expectBalancesMatchEntries, readLedgerState } from "./ledger-state.ts";
import { byReference } from "./purchase-assertions.ts";
import { inParallel, reportResults, spread, tally } from "./results.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { expectNoUnexpectedErrors, strainOf } from "./unexpected-errors.ts";

const CONCURRENCY = 16;
/** Requests that are generated at once. */
const BATCH = 1_000;
/** Below the lowest rate limit, 30 per minute. */
const REQUESTS_PER_KEY = 25;
const KEYS_PER_ACCOUNT = 40;
const NAIRA = 100_000;

type Answered = Extract<Reply, { kind: "answered" }>;

/** Sends hostile requests and checks every response, the ledger and the log. */
export const runFuzz = async ({
  requests,
  seed,
}: {
  readonly requests: number;
  readonly seed: number;
}): Promise<void> => {
  // Short, so that the numbers without a response from the upstream do not delay the run.
  const service = await startServiceProcess({ stallMs: 20 });
  const client = createClient(service.baseUrl);
  try {
    const document = readDocument(await (await fetch(`${service.baseUrl}/openapi.json`)).json());
    const keys = await createKeys(service, requests);
    const arbitrary = hostileRequests(document);
    const seen: Answered[] = [];
    const begun = performance.now();
    for (let start = 0; start < requests; start += BATCH) {
      const batch = fc.sample(arbitrary, { seed: seed + start, numRuns: Math.min(BATCH, requests - start) });
      await inParallel(batch.length, CONCURRENCY, async (index) => {
        const request = batch[index];
        if (request === undefined) return;
        const reply = await client.send(sentOf(request, keys[request.mode](start + index)));
        const place = `request ${start + index} of seed ${seed}: ${shown(request)}`;
        if (reply.kind === "no_answer") throw new Error(`${place} was not answered: ${reply.reason}`);
        expectInterface(request, reply, place);
        if (request.operation !== undefined) expectDocumented(document, request, reply);
        seen.push({ ...reply, text: "" });
      });
    }
    const seconds = (performance.now() - begun) / 1_000;

    const state = await readLedgerState(service.admin.ledger);
    expectBalancesMatchEntries(state);
    expectErrorsLeftNothingOpen(seen, state.transactions);
    expectNoUnexpectedErrors(service);
    expectNoPersonalData(service.logLines());

    reportResults("fuzz", {
      requests,
      seed,
      "requests per second": Math.round(requests / seconds),
      ...spread(seen.map(({ durationMs }) => durationMs)),
      statuses: tally(seen.map(({ status }) => String(status))),
      transactions: state.transactions.length,
      "log lines": service.logLines().length,
      ...strainOf(service),
    });
  } finally {
    client.close();
    await service.stop();
  }
};

/** Keys by the mode of a request; each is used below its rate limit. */
const createKeys = async (service: ServiceProcess, requests: number) => {
  const pools: Record<"live" | "test", string[]> = { live: [], test: [] };
  for (const mode of ["live", "test"] as const) {
    while (pools[mode].length * REQUESTS_PER_KEY < requests) {
      pools[mode].push(...(await service.newAccount({ naira: NAIRA, keys: KEYS_PER_ACCOUNT, mode })).keys);
    }
  }
  const turn = (pool: readonly string[]) => (index: number) => pool[index % pool.length];
  return { live: turn(pools.live), test: turn(pools.test), none: () => undefined, wrong: () => "live_wrong" };
};

const sentOf = ({ method, path, headers: given, body, keyIn }: HostileRequest, key: string | undefined): Sent => ({
  method,
  path,
  headers: {
    ...(key !== undefined && keyIn !== "x-api-key" && { authorization: `Bearer ${key}` }),
    ...(key !== undefined && keyIn !== "authorization" && { "x-api-key": key }),
    ...(body !== undefined && !("transfer-encoding" in given) && { "content-length": String(Buffer.byteLength(body)) }),
    ...given,
  },
  body,
});

const shown = ({ body, ...request }: HostileRequest): string =>
  JSON.stringify({ ...request, body: body?.toString("latin1") }).slice(0, 1_000);

const STATUSES = [200, 304, 400, 401, 403, 404, 422, 429, 502, 503, 504];
const success = successEnvelope(z.record(z.string(), z.unknown()));

/** The properties of every response, whatever the request. */
const expectInterface = ({ method }: HostileRequest, { status, headers: answered, text }: Answered, place: string) => {
  const about = `${place} was answered ${status} ${text.slice(0, 300)}`;
  expect(STATUSES, about).toContain(status);
  expect(Number(answered[headers.rateLimit]), about).toBeGreaterThan(0);
  expect(Number(answered[headers.rateRemaining]), about).toBeGreaterThanOrEqual(0);
  expect(answered[headers.requestId], about).toMatch(/^[\w-]+$/);
  const code = answered[headers.errorCode]?.toString();
  expect(code !== undefined && isErrorCode(code), about).toBe(status >= 400);
  if (status === 429) expect(answered[headers.retryAfter], about).toBeDefined();
  if (status === 304 || method === "HEAD") {
    expect(text, about).toBe("");
    return;
  }
  if (status === 200 && answered["content-type"]?.startsWith("text/html")) return;
  expect(answered["content-type"], about).toMatch(/^application\/json/);
  const body: unknown = JSON.parse(text);
  const isOpenApi = status === 200 && z.object({ openapi: z.string() }).safeParse(body).success;
  expect(isOpenApi || (status === 200 ? success : errorEnvelope).safeParse(body).success, about).toBe(true);
};

/** A transaction that an error names has failed, and every transaction was named by a response. */
const expectErrorsLeftNothingOpen = (
  seen: readonly Answered[],
  transactions: Awaited<ReturnType<typeof readLedgerState>>["transactions"],
): void => {
  const transactionsByReference = byReference(transactions);
  const named = new Set<string>();
  for (const { status, headers: answered } of seen) {
    const reference = answered[headers.transactionReference]?.toString();
    if (reference === undefined) continue;
    named.add(reference);
    if (status >= 400) expect(transactionsByReference.get(reference)?.status, reference).toBe("failed");
  }
  expect([...transactionsByReference.keys()].filter((reference) => !named.has(reference))).toEqual([]);
};

/** Identity and phone numbers, keys, secrets, and the canary of the requests. */
const forbidden: readonly RegExp[] = [
  new RegExp(CANARY),
  /(?<![\w-])\d{11}(?![\w-])/,
  /(?<![\w-])(?:\+?234|0)[789][01]\d{8}(?![\w-])/,
  /(?:live|test)_[A-Za-z0-9_-]{20}/,
  /whsec_/,
  /Bearer/i,
];

const expectNoPersonalData = (lines: readonly string[]): void => {
  expect(lines.filter((line) => forbidden.some((pattern) => pattern.test(line)))).toEqual([]);
};
