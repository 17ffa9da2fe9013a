import {
  API_FUNCTION_TIMEOUT_S,
  QUEUE_FUNCTION_TIMEOUT_S,
  RECONCILE_FUNCTION_TIMEOUT_S,
  REFRESH_FUNCTION_TIMEOUT_S,
} from "../shared/platform/time-budgets.ts";
import type { tables } from "./tables.ts";

type TableName = keyof typeof tables;
type TableAction = "GetItem" | "BatchGetItem" | "PutItem" | "UpdateItem";
type IndexName = (typeof tables)["ledger"]["indexes"][number]["name"];

/** What each function gets on AWS. Memory decides its share of a CPU too. */
export type FunctionSpec = {
  readonly memoryMb: number;
  readonly timeoutS: number;
  /** Calls out to the provider or to apps: in the VPC where the stage has one. */
  readonly egress?: true;
  /** What it may do with which table. A part of a transaction needs the action of its kind. */
  readonly tables?: Readonly<Partial<Record<TableName, readonly TableAction[]>>>;
  /** The ledger's indexes that it queries. */
  readonly queries?: readonly IndexName[];
  readonly sendsTo?: readonly ("outcomes" | "delivery")[];
  /** What a customer loses while it fails: the text of its alarms. */
  readonly lost: string;
};

const counting = { access: ["UpdateItem"] } as const;

/** Every folder below functions/. */
export const functionSpecs = {
  "list-catalog": {
    memoryMb: 512,
    timeoutS: 10,
    tables: { ...counting, cache: ["GetItem"] },
    lost: "Apps do not get the list of plans.",
  },
  purchase: {
    memoryMb: 1_024,
    timeoutS: API_FUNCTION_TIMEOUT_S,
    egress: true,
    tables: { ...counting, ledger: ["GetItem", "PutItem", "UpdateItem"], cache: ["GetItem"] },
    sendsTo: ["outcomes"],
    lost: "Purchases end without an answer; some may be debited and open until an event or the operator ends them.",
  },
  "check-identity": {
    memoryMb: 1_024,
    timeoutS: API_FUNCTION_TIMEOUT_S,
    egress: true,
    tables: { ...counting, ledger: ["GetItem", "PutItem", "UpdateItem"], cache: ["GetItem", "PutItem"] },
    sendsTo: ["outcomes"],
    lost: "Identity checks end without an answer; what was debited is returned after 5 minutes.",
  },
  "read-account": {
    memoryMb: 512,
    timeoutS: 15,
    tables: { ...counting, ledger: ["GetItem", "BatchGetItem"] },
    queries: ["by_owner"],
    lost: "Apps cannot look up balances and transactions.",
  },
  "receive-upstream-event": {
    memoryMb: 512,
    timeoutS: 10,
    sendsTo: ["outcomes"],
    lost: "The upstream's events are not taken in; transactions stay `processing` unless it sends them again.",
  },
  "apply-upstream-event": {
    memoryMb: 512,
    timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
    tables: { ledger: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"] },
    queries: ["by_upstream_reference", "by_open"],
    lost: "Outcomes wait in the outcomes queue: transactions stay `processing`, and refunds wait.",
  },
  "enqueue-webhooks": {
    memoryMb: 512,
    timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
    sendsTo: ["delivery"],
    lost: "Apps are not told how their transactions end; what the stream loses after a day, `admin announce` repeats.",
  },
  "deliver-webhook": {
    memoryMb: 512,
    timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
    egress: true,
    // The account's item says since when its endpoint fails.
    tables: { ledger: ["GetItem", "PutItem"] },
    lost: "Apps' webhooks wait in the delivery queue.",
  },
  "refresh-catalog": {
    memoryMb: 512,
    timeoutS: REFRESH_FUNCTION_TIMEOUT_S,
    egress: true,
    tables: { cache: ["GetItem", "PutItem"] },
    lost: "Plans and prices grow old; after 24 hours no data bundle is sold.",
  },
  "reconcile-ledger": {
    memoryMb: 512,
    timeoutS: RECONCILE_FUNCTION_TIMEOUT_S,
    tables: { ledger: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"] },
    queries: ["by_owner", "by_open"],
    lost: "Nobody notices stuck transactions and wrong balances, and abandoned identity checks are not refunded.",
  },
  "serve-docs": { memoryMb: 256, timeoutS: 10, lost: "The interface's description is not served." },
  "not-found": { memoryMb: 256, timeoutS: 10, lost: "Wrong paths are answered 500 instead of 404." },
} as const satisfies Record<string, FunctionSpec>;
export type FunctionName = keyof typeof functionSpecs;

/** Every function's name. */
export const functionNames: readonly FunctionName[] = Object.keys(functionSpecs).filter(
  (name): name is FunctionName => name in functionSpecs,
);
