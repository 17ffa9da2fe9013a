import type { Mode } from "../../../shared/contract/transaction.ts";
import { anOrder, BUY_DATA, ORDER_NAIRA } from "../../../test/builders/service/service.ts";
import { type Client, createClient, orderRequest } from "../../load/client.ts";
import { inParallel } from "../../load/results.ts";
import { type LoadAccount, type ServiceProcess, startServiceProcess } from "../../load/service-process.ts";
import { sizes, times } from "../extent.ts";
import { median, type Spread, spreadOf } from "../statistics.ts";

export const callerCounts = sizes([1, 4, 16, 64]);
export const callerModes = ["test", "live"] as const satisfies readonly Mode[];
const CALLERS_MAX = Math.max(...callerCounts);
/** Per slice, of all callers together. */
const PURCHASES = times(128, CALLERS_MAX);
const ROUNDS = times(3);
const WARM_UP_CALLERS = 16;
/** Below the rate limit of a key. */
const PURCHASES_PER_KEY = 40;

export type CallerResults = {
  readonly mode: Mode;
  readonly callers: number;
  readonly perSecond: number;
  readonly durationMs: Spread;
  /** Purchases without a 200, because the emulators were too slow. */
  readonly failed: number;
};

/**
 * Concurrent callers with an account each, which buy one data bundle after the other. The service runs in its own
 * process.
 */
export const measureCallers = async (): Promise<readonly CallerResults[]> => {
  const service = await startServiceProcess();
  const client = createClient(service.baseUrl);
  try {
    const slices = callerModes.flatMap((mode) => callerCounts.map((callers) => ({ mode, callers })));
    const accounts = { test: await openAccounts(service, "test"), live: await openAccounts(service, "live") };
    const nextKeys = { test: accounts.test.map(rotateKeys), live: accounts.live.map(rotateKeys) };
    for (const mode of callerModes) await buySlice(client, nextKeys[mode].slice(0, WARM_UP_CALLERS));

    const taken = new Map(slices.map((slice) => [slice, [] as Bought[]]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [slice, bought] of taken) {
        bought.push(await buySlice(client, nextKeys[slice.mode].slice(0, slice.callers)));
      }
    }
    return [...taken].map(([slice, bought]) => ({
      ...slice,
      perSecond: median(bought.map(({ perSecond }) => perSecond)),
      durationMs: spreadOf(bought.flatMap(({ durationsMs }) => durationsMs)),
      failed: bought.reduce((total, { failed }) => total + failed, 0),
    }));
  } finally {
    client.close();
    await service.stop();
  }
};

/**
 * The first account takes part in every slice, the last ones only in the widest; each has the keys and balance that it
 * needs.
 */
const openAccounts = async (service: ServiceProcess, mode: Mode): Promise<readonly LoadAccount[]> => {
  const accounts: LoadAccount[] = [];
  while (accounts.length < CALLERS_MAX) {
    const shares = callerCounts.map((callers) => (accounts.length < callers ? PURCHASES / callers : 0));
    const purchases = (ROUNDS + 1) * shares.reduce((total, share) => total + share, 0);
    const naira = mode === "live" ? purchases * ORDER_NAIRA : 0;
    accounts.push(await service.newAccount({ naira, keys: Math.ceil(purchases / PURCHASES_PER_KEY), mode }));
  }
  return accounts;
};

/** A caller's keys in rotation. */
const rotateKeys = ({ keys }: LoadAccount): (() => string) => {
  let turn = 0;
  return () => {
    turn += 1;
    return keys[turn % keys.length] ?? "";
  };
};

type Bought = {
  /** Successful purchases. */
  readonly perSecond: number;
  readonly durationsMs: readonly number[];
  readonly failed: number;
};

const buySlice = async (client: Client, callers: readonly (() => string)[]): Promise<Bought> => {
  const durationsMs: number[] = [];
  let failed = 0;
  const startMs = performance.now();
  await inParallel(callers.length, callers.length, async (index) => {
    const nextKey = callers[index];
    for (let count = 0; nextKey && count < PURCHASES / callers.length; count += 1) {
      const reply = await client.send(orderRequest(BUY_DATA, nextKey(), anOrder()));
      if (reply.kind === "answered" && reply.status === 200) durationsMs.push(reply.durationMs);
      else failed += 1;
    }
  });
  return { perSecond: (durationsMs.length * 1_000) / (performance.now() - startMs), durationsMs, failed };
};
