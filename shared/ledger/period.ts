import { randomUUID } from "node:crypto";
import * as z from "#zod";
import { lineKind } from "../contract/actions/wallet.ts";
import { koboSchema } from "../contract/values/money.ts";
import { retryContention } from "../platform/backoff.ts";
import { getItem, getItems } from "./get-item.ts";
import type { Table } from "./ledger.ts";
import { putIf } from "./put-if.ts";
import { ALL_TIMES, queryList } from "./query-index.ts";
import { accountPeriodsList, PERIODS_LIST, periodLinesPk, periodPk, periodReplacementPk } from "./schema.ts";
import { transactUnlessRefused } from "./transact.ts";

/** Number and signed sum of the lines of each kind. */
export const kindSums = z.partialRecord(lineKind, z.object({ count: z.int(), kobo: z.int() }));
export type KindSums = z.infer<typeof kindSums>;

const sums = {
  pk: z.string(),
  list_key: z.string(),
  /** `2026-10`, in this zone. */
  month: z.string(),
  time_zone: z.string(),
  /** The first and the last millisecond. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  opening_kobo: z.int(),
  kinds: kindSums,
  lines: z.int(),
  closing_kobo: z.int(),
  /** Orders of this period or an earlier one that were open when it was closed. Not in the hash. */
  open_orders: z.int(),
  /** The hash of the period before; empty for the first one. */
  previous: z.string(),
  hash: z.string(),
  closed_at: z.iso.datetime(),
  /** Equals `to`. */
  created_at: z.iso.datetime(),
};

/** A closed month of one account. It never changes once the month of the service is closed. */
export const accountPeriodSchema = z.object({
  ...sums,
  account_id: z.string(),
  /** The wallet's version after the last line. Not in the hash. */
  version: z.int(),
  /**
   * The cost in its files of each order that was open when it was closed, by the order's id; null if it is unknown. The
   * order may cost something else once it is delivered: the period in which it ends has the change. Not in the hash.
   */
  open_costs: z.optional(z.record(z.string(), z.nullable(koboSchema))),
});
export type AccountPeriod = z.infer<typeof accountPeriodSchema>;

/** A closed month of the service: the sums of its accounts, and the hash over theirs. */
export const servicePeriodSchema = z.object({ ...sums, accounts: z.int() });
export type ServicePeriod = z.infer<typeof servicePeriodSchema>;

export const readAccountPeriod = (
  ledger: Table,
  month: string,
  accountId: string,
): Promise<AccountPeriod | undefined> => getItem(ledger, periodPk(month, accountId), accountPeriodSchema);

export const readAccountPeriods = (
  ledger: Table,
  month: string,
  accountIds: readonly string[],
): Promise<readonly AccountPeriod[]> =>
  getItems(
    ledger,
    accountIds.map((accountId) => periodPk(month, accountId)),
    accountPeriodSchema,
  );

/** The last period of an account that ended before a moment. The index may lack one that was closed just now. */
export const lastPeriodBefore = async (
  ledger: Table,
  accountId: string,
  before: string,
): Promise<AccountPeriod | undefined> => {
  const range = { from: ALL_TIMES.from, to: before };
  const { keys } = await queryList(ledger, accountPeriodsList(accountId), range, undefined, { newest: 1 });
  const [last] = keys;
  const period = last && (await getItem(ledger, last.pk, accountPeriodSchema));
  // One that ends then does not count; and the index may still have one as it was before it was replaced.
  return period !== undefined && period.to < before ? period : undefined;
};

/**
 * Puts an account's period, or replaces the one that was read, as long as the month of the service is not closed.
 * Otherwise another run was faster: what it has closed stays.
 */
export const putAccountPeriod = async (
  ledger: Table,
  period: Omit<AccountPeriod, "pk" | "list_key" | "created_at">,
  replaced: Pick<AccountPeriod, "hash"> | undefined,
): Promise<void> => {
  const Item: AccountPeriod = {
    pk: periodPk(period.month, period.account_id),
    list_key: accountPeriodsList(period.account_id),
    ...period,
    created_at: period.to,
  };
  if (replaced === undefined) {
    await putIf(ledger, Item, { ConditionExpression: "attribute_not_exists(pk)" });
    return;
  }
  const isReplaced = {
    TableName: ledger.table,
    Item,
    ConditionExpression: "#hash = :hash",
    ExpressionAttributeNames: { "#hash": "hash" },
    ExpressionAttributeValues: { ":hash": replaced.hash },
  };
  const replacement: PeriodReplacement = { pk: periodReplacementPk(period.month), token: randomUUID() };
  await transactUnlessRefused(ledger, [
    { Put: isReplaced },
    { Put: { TableName: ledger.table, Item: replacement } },
    isNotClosed(ledger, period.month),
  ]);
};

export const periodReplacementSchema = z.object({ pk: z.string(), token: z.string() });
export type PeriodReplacement = z.infer<typeof periodReplacementSchema>;

/** The last replacement of a period of a month; undefined if none was replaced. */
export const readPeriodReplacement = (ledger: Table, month: string): Promise<PeriodReplacement | undefined> =>
  getItem(ledger, periodReplacementPk(month), periodReplacementSchema);

/** The condition that no period of a month was replaced after this replacement: one part of a transaction of writes. */
export const isLastReplacement = (
  { table }: Pick<Table, "table">,
  month: string,
  replacement: PeriodReplacement | undefined,
) => ({
  ConditionCheck: {
    TableName: table,
    Key: { pk: periodReplacementPk(month) },
    ...(replacement === undefined
      ? { ConditionExpression: "attribute_not_exists(pk)" }
      : {
          ConditionExpression: "#token = :token",
          ExpressionAttributeNames: { "#token": "token" },
          ExpressionAttributeValues: { ":token": replacement.token },
        }),
  },
});

/** The condition that a month of the service is not closed: one part of a transaction of writes. */
export const isNotClosed = ({ table }: Pick<Table, "table">, month: string) => ({
  ConditionCheck: {
    TableName: table,
    Key: { pk: periodPk(month) },
    ConditionExpression: "attribute_not_exists(pk)",
  },
});

/** The condition that a month of the service was closed with this hash: one part of a transaction of writes. */
export const isClosedAs = ({ table }: Pick<Table, "table">, month: string, hash: string) => ({
  ConditionCheck: {
    TableName: table,
    Key: { pk: periodPk(month) },
    ConditionExpression: "#hash = :hash",
    ExpressionAttributeNames: { "#hash": "hash" },
    ExpressionAttributeValues: { ":hash": hash },
  },
});

export const readServicePeriod = (ledger: Table, month: string): Promise<ServicePeriod | undefined> =>
  getItem(ledger, periodPk(month), servicePeriodSchema);

/** One part of a transaction of writes: closes the month of the service, once. */
export const servicePeriodPut = (
  { table }: Pick<Table, "table">,
  period: Omit<ServicePeriod, "pk" | "list_key" | "created_at">,
) => ({
  Put: {
    TableName: table,
    Item: { pk: periodPk(period.month), list_key: PERIODS_LIST, ...period, created_at: period.to },
    ConditionExpression: "attribute_not_exists(pk)",
  },
});

/** The closed months of the service, the latest first: ten years of them at most. */
export const listServicePeriods = async (ledger: Table, newest = 120): Promise<readonly ServicePeriod[]> => {
  const { keys } = await queryList(ledger, PERIODS_LIST, ALL_TIMES, undefined, { newest });
  return getItems(ledger, keys, servicePeriodSchema);
};

export const periodLinesSchema = z.object({ pk: z.string(), fingerprints: z.instanceof(Uint8Array) });

/** Stores the fingerprints of lines. Two runs that close the same period store the same ones. */
export const putPeriodLines = async (
  { db, table }: Table,
  month: string,
  accountId: string,
  first: number,
  fingerprints: Uint8Array,
): Promise<void> => {
  const Item = { pk: periodLinesPk(month, accountId, first), fingerprints };
  await retryContention(() => db.put({ TableName: table, Item }));
};

/** The fingerprints from a line on that begins an item; undefined if there is none. */
export const readPeriodLines = async (
  ledger: Table,
  month: string,
  accountId: string,
  first: number,
): Promise<Uint8Array | undefined> =>
  (await getItem(ledger, periodLinesPk(month, accountId, first), periodLinesSchema))?.fingerprints;
