import { ledgerIndexes } from "../shared/ledger/schema.ts";

/** The three tables, divided by what losing them would cost; CDK and the local runner both create them from here. */

type Attribute = "pk" | "owner" | "created_at" | "upstream_reference" | "open";
export type TableIndex = {
  readonly name: string;
  readonly partition: Attribute;
  readonly sort?: Attribute;
  /** Attributes copied beside the keys. */
  readonly includes?: readonly string[];
};
export type TableShape = {
  readonly partition: Attribute;
  readonly indexes: readonly TableIndex[];
  readonly ttl?: string;
  /** Whether each change is told, with the item as it was and as it is; infra/streams.ts says to whom. */
  readonly stream?: true;
};

export const tables = {
  /** Keys with their minute counters. */
  access: { partition: "pk", indexes: [] },
  /** Accounts, wallets, transactions, fundings: the money. */
  ledger: {
    partition: "pk",
    indexes: [ledgerIndexes.byOwner, ledgerIndexes.byUpstreamReference, ledgerIndexes.byOpen],
    stream: true,
  },
  /** What can be fetched or made again. */
  cache: { partition: "pk", indexes: [], ttl: "expires_at_s" },
} as const satisfies Record<string, TableShape>;
