import { isDeepStrictEqual } from "node:util";
import * as z from "#zod";
import { counted } from "../contract/values/counted.ts";
import { monthAfter } from "../contract/values/time-zone.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  type AccountPeriod,
  readAccountPeriod,
  readAccountPeriods,
  readPeriodLines,
  readServicePeriod,
  type ServicePeriod,
} from "../ledger/period.ts";
import { ALL_TIMES, accountIdsOf, indexKeySchema, queryList } from "../ledger/query-index.ts";
import { ACCOUNTS_LIST, accountIdOf } from "../ledger/schema.ts";
import type { Deadline } from "../platform/deadline.ts";
import { serviceSums } from "./close-period.ts";
import {
  begunFoldSchema,
  begunOf,
  emptyFold,
  FINGERPRINT_BYTES,
  type Fold,
  foldNext,
  type HashedLine,
} from "./fold-lines.ts";

/** What differs from the closed period, in a sentence. */
export type Difference = { readonly account_id: string | null; readonly what: string };

/** Where verifying a month continues. */
export const verifyingSchema = z.object({
  account: z.optional(indexKeySchema),
  done: z.int(),
  /** The next account, which is verified in part, and its first line that differs. */
  fold: z.optional(z.extend(begunFoldSchema, { found: z.optional(z.string()) })),
});
export type Verifying = z.infer<typeof verifyingSchema>;

/** Recomputes accounts of a closed month until the time is up. `next` is absent if all are verified. */
export const continueVerifying = async (
  ledger: Ledger,
  service: ServicePeriod,
  begun: Verifying,
  deadline: Deadline,
): Promise<{ readonly differences: readonly Difference[]; readonly next?: Verifying }> => {
  const differences: Difference[] = [];
  let verifying = begun;
  const range = { from: ALL_TIMES.from, to: service.to };
  for (;;) {
    const { keys, next } = await queryList(ledger, ACCOUNTS_LIST, range, verifying.account, { oldest: 100 });
    for (const key of keys) {
      const account_id = accountIdOf(key.pk);
      const period = await readAccountPeriod(ledger, service.month, account_id);
      if (period === undefined) differences.push({ account_id, what: "it has no closed period" });
      else {
        const result = await verifyAccount(
          ledger,
          { service, period },
          begunOf(account_id, verifying.fold) ?? emptyFold,
          deadline,
        );
        if ("fold" in result) return { differences, next: { ...verifying, fold: { ...result.fold, account_id } } };
        differences.push(...result.differences.map((what) => ({ account_id, what })));
      }
      verifying = { account: key, done: verifying.done + 1 };
      if (deadline.remainingMs() <= 0) return { differences, next: verifying };
    }
    if (next === undefined) break;
  }
  differences.push(...(await serviceDifferences(ledger, service)));
  return { differences };
};

type FoldInPart = Fold & { readonly found?: string | undefined };
type Closed = { readonly service: ServicePeriod; readonly period: AccountPeriod };

/** Recomputes one account's period, and says what differs. `fold`: the time was up. */
const verifyAccount = async (
  ledger: Ledger,
  { service, period }: Closed,
  begun: FoldInPart,
  deadline: Deadline,
): Promise<{ readonly differences: readonly string[] } | { readonly fold: FoldInPart }> => {
  let fold: Fold = begun;
  let { found } = begun;
  const stored = storedFingerprints(ledger, period);
  for (;;) {
    const step = await foldNext(ledger, period, fold);
    found ??= await firstDifference(stored, period, fold.lines, step.hashed, step.fingerprints);
    fold = step.fold;
    if (step.isComplete) break;
    if (deadline.remainingMs() <= 0) return { fold: { ...fold, found } };
  }
  const before =
    service.previous === ""
      ? undefined
      : await readAccountPeriod(ledger, monthAfter(period.month, -1), period.account_id);
  const { from, to, time_zone } = period;
  const isInService = from === service.from && to === service.to && time_zone === service.time_zone;
  const differences = [
    (before?.hash ?? "") === period.previous ? undefined : "its chain is broken: the period before has another hash",
    isInService ? undefined : `it is closed from ${from} to ${to} in ${time_zone}, unlike the service`,
    differenceOf(fold, period, found),
  ];
  return { differences: differences.filter((what) => what !== undefined) };
};

/**
 * What differs between a period and its lines. The hash decides: of two runs that closed it in different steps, the
 * fingerprints of both may be stored.
 */
const differenceOf = (fold: Fold, period: AccountPeriod, found: string | undefined): string | undefined => {
  if (fold.opening_kobo !== period.opening_kobo)
    return `it opens with ${fold.opening_kobo} kobo, and was closed with ${period.opening_kobo}`;
  if (fold.hash !== period.hash) {
    if (found !== undefined) return found;
    if (fold.lines < period.lines)
      return `it lacks ${counted(period.lines - fold.lines, "line")} behind the last one, number ${fold.lines}`;
    return "its hash differs, and none of its lines";
  }
  if (fold.lines !== period.lines) return `it has ${counted(fold.lines, "line")}, and was closed with ${period.lines}`;
  if (fold.balance_kobo !== period.closing_kobo)
    return `it closes with ${fold.balance_kobo} kobo, and was closed with ${period.closing_kobo}`;
  return isDeepStrictEqual(fold.kinds, period.kinds) ? undefined : "the sums of its kinds differ";
};

/** The stored fingerprints of a period, item by item. */
const storedFingerprints = (ledger: Ledger, { month, account_id }: AccountPeriod) => {
  let first = 0;
  let bytes: Uint8Array = new Uint8Array();
  /** Of a line by its number from 0; lines are asked for in their order. */
  return async (line: number): Promise<Uint8Array | undefined> => {
    while (line >= first + bytes.length / FINGERPRINT_BYTES) {
      first += bytes.length / FINGERPRINT_BYTES;
      const next = await readPeriodLines(ledger, month, account_id, first);
      if (next === undefined || next.length === 0) return undefined;
      bytes = next;
    }
    const at = (line - first) * FINGERPRINT_BYTES;
    return bytes.subarray(at, at + FINGERPRINT_BYTES);
  };
};

const firstDifference = async (
  stored: (line: number) => Promise<Uint8Array | undefined>,
  period: AccountPeriod,
  first: number,
  hashed: readonly HashedLine[],
  fingerprints: Uint8Array,
): Promise<string | undefined> => {
  for (const [index, line] of hashed.entries()) {
    const number = first + index;
    const at = index * FINGERPRINT_BYTES;
    const was = number < period.lines ? await stored(number) : undefined;
    if (was !== undefined && Buffer.compare(was, fingerprints.subarray(at, at + FINGERPRINT_BYTES)) === 0) continue;
    const [time, kind, id, , , effect_kobo] = line;
    const found = `${kind} ${id} of ${effect_kobo} kobo at ${time}`;
    return `line ${number + 1} differs: now it is ${found}, which was ${number < period.lines ? "another line" : "not there"}`;
  }
  return undefined;
};

const SERVICE_SUMS = ["opening_kobo", "kinds", "lines", "closing_kobo", "open_orders", "accounts", "hash"] as const;

const serviceDifferences = async (ledger: Ledger, service: ServicePeriod): Promise<readonly Difference[]> => {
  const accountIds = await accountIdsOf(ledger, service.to);
  const sums = serviceSums(service, await readAccountPeriods(ledger, service.month, accountIds));
  const differing = SERVICE_SUMS.filter((name) => !isDeepStrictEqual(sums[name], service[name]));
  const before = await readServicePeriod(ledger, monthAfter(service.month, -1));
  const differences = [
    (before?.hash ?? "") === service.previous ? undefined : "its chain is broken: the month before has another hash",
    differing.length === 0 ? undefined : `it differs from its accounts in ${differing.join(", ")}`,
  ];
  return differences.flatMap((what) => (what === undefined ? [] : [{ account_id: null, what }]));
};
