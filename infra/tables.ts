import type { TableName } from "../functions/function-spec.ts";
import { auditIndexes, ledgerIndexes } from "../shared/ledger/schema.ts";

/** The tables, divided by what losing them would cost. The CDK and the local runner create them from here. */

export type TableIndex = {
  readonly name: string;
  readonly partition: string;
  readonly sort?: string;
  /** Attributes copied beside the keys. */
  readonly includes?: readonly string[];
};
export type TableShape = {
  readonly partition: string;
  readonly sort?: string;
  readonly indexes: readonly TableIndex[];
  readonly ttl?: string;
  /** The table has a stream of changes, with the item before and after; functions/specs.ts names its consumers. */
  readonly stream?: true;
};

export const tables = {
  /** Keys with their minute counters. */
  access: { partition: "pk", indexes: [] },
  /** Accounts, wallets, transactions, fundings: the money. */
  ledger: {
    partition: "pk",
    indexes: Object.values(ledgerIndexes),
    stream: true,
  },
  /** Who changed what: the entries of a log, and what was attested of them, each in its order. */
  audit: { partition: "pk", sort: "sequence", indexes: Object.values(auditIndexes), stream: true },
  /** The catalog and sealed identity results: they can be fetched or made again. */
  cache: { partition: "pk", indexes: [], ttl: "expires_at_s" },
} as const satisfies Record<TableName, TableShape>;

/** What the audit table's resource policy denies everybody: to change or delete an item, or to have it expire. */
export const auditDenials = [
  ...["BatchWriteItem", "DeleteItem", "PartiQLDelete", "PartiQLInsert", "PartiQLUpdate", "UpdateItem"],
  "UpdateTimeToLive",
].map((action) => `dynamodb:${action}`);
