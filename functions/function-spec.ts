import type { AuditItemKind, auditIndexes, LedgerItemKind, ledgerIndexes } from "../shared/ledger/schema.ts";
import type { CacheItemKind } from "../shared/platform/cache-keys.ts";
import type { Variable } from "../shared/platform/env.ts";
import type { Urgency } from "../shared/platform/log-catalog.ts";

/** Their shapes are in infra/tables.ts. */
export type TableName = "access" | "ledger" | "audit" | "cache";
/** A key's item in the access table: all of it, or only its counters of requests. */
export type AccessItemKind = "key" | "rate-counters";
export type ItemKinds = {
  readonly access: AccessItemKind;
  readonly ledger: LedgerItemKind;
  readonly audit: AuditItemKind;
  readonly cache: CacheItemKind;
};

/** The actions on a table with the kinds of items that they are for. */
export type TableGrants<Kind> = {
  readonly [Action in "Query" | "PutItem" | "UpdateItem" | "ConditionCheckItem"]?: readonly Kind[];
} & {
  /** What it reads by key, one item or many. */
  readonly reads?: readonly Kind[];
  /** The only attributes that its updates of items name, in their condition too; absent: any. */
  readonly updatedAttributes?: readonly string[];
  /** Items that it also reads, many at once, with these attributes alone. */
  readonly readsInPart?: { readonly kinds: readonly Kind[]; readonly attributes: readonly string[] };
};
type IndexName =
  | (typeof ledgerIndexes)[keyof typeof ledgerIndexes]["name"]
  | (typeof auditIndexes)[keyof typeof auditIndexes]["name"];
/** Their settings are in infra/queues.ts. */
export type QueueName = "outcomes" | "delivery";
/** Their settings are in infra/streams.ts. */
export type StreamName = "webhooks" | "statistics" | "attestations" | "copies";

export type Trigger =
  /** The routes that name it, in shared/contract/routes.ts or infra/console-routes.ts. */
  | { readonly kind: "routes" }
  /** Requests that match no route. */
  | { readonly kind: "default-route" }
  | { readonly kind: "queue"; readonly queue: QueueName }
  | { readonly kind: "stream"; readonly stream: StreamName }
  | Schedule;

/** Each minute; the function decides whether it has something to do. */
export type Schedule = {
  readonly kind: "schedule";
  /** Of an alarm that it is not invoked, or of one with a `metric` that no run wrote it. */
  readonly urgency: Urgency;
  /** It changes the ledger: it is disabled with the workers. */
  readonly isWorker: boolean;
  readonly idleRun: IdleRun;
};

/** The most that a run uses which finds nothing to do, with one account. Beside metrics it logs `<name>.ran`. */
export type IdleRun = {
  /** DynamoDB calls, in order. */
  readonly calls: readonly string[];
  readonly readUnits: number;
  /** A metric of our own that each run writes, also one that is cut short after it has read what is open. */
  readonly metric?: string;
  readonly logBytes: number;
};

/** What invokes a function, its size, what it needs and may do, and what a customer loses while it fails. */
export type FunctionSpec = {
  readonly invokedBy: Trigger;
  /** It exists only in a stage with a console. */
  readonly needsConsole?: true;
  /** It exists only in a stage whose upstream can be asked for an order, or for our balance. */
  readonly asksUpstream?: true;
  /** It exists only in a stage with `auditCopy`, and may put objects into its bucket. */
  readonly copiesAudit?: true;
  /** It decides the share of a CPU too; decision 0009 has the measurements by which the sizes were chosen. */
  readonly memoryMb: number;
  readonly timeoutS: number;
  /** It calls the upstream or apps: it is in the VPC if the stage has one. */
  readonly egress?: true;
  /**
   * It answers callers about money or applies events: in a stage with a canary release, a new version gets a part of
   * the invocations first. The work of the others waits and is repeated, or is a minute's work that a part cannot test.
   */
  readonly canary?: true;
  /** What it does with which items of each table. A part of a transaction needs the action of its kind. */
  readonly tables?: { readonly [Table in TableName]?: TableGrants<ItemKinds[Table]> };
  readonly queries?: readonly IndexName[];
  /** Of items of the indexes it reads their keys alone, and not what else an index has of them. */
  readonly queriesKeysOnly?: true;
  readonly sendsTo?: readonly QueueName[];
  /** What it does with the topic of notifications, in a stage that has one: sends messages, or adds and removes addresses. */
  readonly notifications?: "publishes" | "subscribes";
  /** It lists the dead letters of the whole stage, and moves those of these queues back. */
  readonly redrives?: readonly QueueName[];
  /** The variables that its handler parses. It may read the secrets, and use the key of KMS, whose ids are among them. */
  readonly environment?: readonly Variable[];
  /** Begins the text of its alarms. */
  readonly impact: string;
};
