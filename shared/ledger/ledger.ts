import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import type { DocumentClient } from "../platform/aws-clients.ts";
import type { Clock } from "../platform/time.ts";

/** A table and the client that reaches it. */
export type Table = { readonly db: DocumentClient; readonly table: string };

/** The table that holds the money, and the clock by which its items are dated. */
export type Ledger = Table & { readonly clock: Clock };

/** The ledger, with the table that records who changed it. */
export type AuditedLedger = Ledger & { readonly auditTable: string };

/** The writes of one DynamoDB transaction: all of them are made, or none. */
export type Writes = NonNullable<TransactWriteCommandInput["TransactItems"]>;
