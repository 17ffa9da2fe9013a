import {
  API_FUNCTION_TIMEOUT_S,
  QUEUE_FUNCTION_TIMEOUT_S,
  RECONCILE_FUNCTION_TIMEOUT_S,
  REFRESH_FUNCTION_TIMEOUT_S,
  REQUEUE_FUNCTION_TIMEOUT_S,
  SEND_FUNCTION_TIMEOUT_S,
} from "../shared/platform/time-budgets.ts";
import type { tables } from "./tables.ts";

type TableName = keyof typeof tables;
type TableAction = "GetItem" | "BatchGetItem" | "PutItem" | "UpdateItem" | "ConditionCheckItem";
type IndexName = (typeof tables)["ledger"]["indexes"][number]["name"];

/**
 * Size, permissions and customer impact of a function. Memory decides its share of a CPU too; decision 0026 has the
 * measurements by which the sizes were chosen.
 */
export type FunctionSpec = {
  readonly memoryMb: number;
  readonly timeoutS: number;
  /** It calls the upstream or apps: it is in the VPC if the stage has one. */
  readonly egress?: true;
  /**
   * It answers callers about money or applies events: in a stage with a canary release, a new version gets a part of
   * the invocations first. The work of the others waits and is repeated, or is a minute's work that a part cannot test.
   */
  readonly canary?: true;
  /** Allowed actions by table. A part of a transaction needs the action of its kind. */
  readonly tables?: Readonly<Partial<Record<TableName, readonly TableAction[]>>>;
  /** Indexes of the ledger that it queries. */
  readonly queries?: readonly IndexName[];
  readonly sendsTo?: readonly ("outcomes" | "delivery")[];
  /** It lists the dead letters of the whole stage, and moves those of these queues back. */
  readonly redrives?: readonly ("outcomes" | "delivery")[];
  /** What a customer loses while it fails; begins the text of its alarms. */
  readonly impact: string;
};

const rateCounter = { access: ["UpdateItem"] } as const;

/** One entry for each folder of functions/. */
export const functionSpecs = {
  "list-catalog": {
    memoryMb: 512,
    timeoutS: 10,
    canary: true,
    tables: { ...rateCounter, cache: ["GetItem"] },
    impact: "Apps do not get the list of plans.",
  },
  purchase: {
    memoryMb: 448,
    timeoutS: API_FUNCTION_TIMEOUT_S,
    canary: true,
    egress: true,
    tables: {
      ...rateCounter,
      ledger: ["GetItem", "PutItem", "UpdateItem"],
      cache: ["GetItem", "BatchGetItem", "UpdateItem"],
    },
    sendsTo: ["outcomes"],
    impact:
      "Purchases are not answered; some stay debited and open until an upstream event or an operator settles them.",
  },
  "check-identity": {
    memoryMb: 448,
    timeoutS: API_FUNCTION_TIMEOUT_S,
    canary: true,
    egress: true,
    tables: {
      ...rateCounter,
      ledger: ["GetItem", "PutItem", "UpdateItem"],
      cache: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
    },
    sendsTo: ["outcomes"],
    impact: "Identity checks are not answered; their debits are refunded after 5 minutes.",
  },
  "read-account": {
    memoryMb: 512,
    timeoutS: 15,
    canary: true,
    tables: { ...rateCounter, ledger: ["GetItem", "BatchGetItem"] },
    queries: ["by_owner"],
    impact: "Apps cannot look up balances and transactions.",
  },
  "receive-upstream-event": {
    memoryMb: 512,
    timeoutS: 10,
    canary: true,
    sendsTo: ["outcomes"],
    impact: "Transactions stay `processing`: upstream events are not received, unless the upstream sends them again.",
  },
  "apply-upstream-event": {
    memoryMb: 512,
    timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
    canary: true,
    tables: { ledger: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"] },
    queries: ["by_upstream_reference", "by_open"],
    impact: "Transactions stay `processing` and refunds wait: outcomes stay in their queue.",
  },
  "enqueue-webhooks": {
    memoryMb: 512,
    timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
    sendsTo: ["delivery"],
    impact: "Apps receive no webhooks; those that the stream drops after a day are sent again by `admin announce`.",
  },
  "deliver-webhook": {
    memoryMb: 256,
    timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
    egress: true,
    // The account's item records how its endpoint fails, another one when its parked deliveries are requeued.
    tables: { ledger: ["GetItem", "PutItem"] },
    impact: "Apps receive their webhooks late: they wait in the delivery queue.",
  },
  "requeue-deliveries": {
    memoryMb: 512,
    timeoutS: REQUEUE_FUNCTION_TIMEOUT_S,
    tables: { ledger: ["GetItem", "BatchGetItem", "PutItem"] },
    queries: ["by_open"],
    sendsTo: ["delivery"],
    impact:
      "Apps receive some webhooks late: those that wait for longer than 15 minutes, those of endpoints that are down, and `wallet.low`.",
  },
  "send-waiting-orders": {
    memoryMb: 448,
    timeoutS: SEND_FUNCTION_TIMEOUT_S,
    egress: true,
    tables: {
      ledger: ["GetItem", "BatchGetItem", "UpdateItem", "ConditionCheckItem"],
      cache: ["GetItem", "BatchGetItem", "UpdateItem"],
    },
    queries: ["by_open"],
    sendsTo: ["outcomes"],
    impact: "Orders that wait for the upstream's rate limit are neither sent nor refunded.",
  },
  "refresh-catalog": {
    memoryMb: 512,
    timeoutS: REFRESH_FUNCTION_TIMEOUT_S,
    egress: true,
    tables: { cache: ["GetItem", "PutItem"] },
    // The keys of subscriptions name the accounts that get `catalog.updated`.
    queries: ["by_open"],
    sendsTo: ["delivery"],
    impact: "Plans and prices become stale; after 24 hours no data bundle is sold.",
  },
  "reconcile-ledger": {
    memoryMb: 512,
    timeoutS: RECONCILE_FUNCTION_TIMEOUT_S,
    tables: { ledger: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"] },
    queries: ["by_owner", "by_open"],
    impact: "Abandoned identity checks are not refunded, and stuck transactions and wrong balances are not noticed.",
  },
  "console-api": {
    memoryMb: 512,
    timeoutS: API_FUNCTION_TIMEOUT_S,
    // `webhook test` leaves from the same addresses as webhooks do.
    egress: true,
    tables: {
      access: ["BatchGetItem", "PutItem", "UpdateItem"],
      ledger: ["GetItem", "BatchGetItem", "PutItem", "UpdateItem"],
      cache: ["GetItem", "BatchGetItem", "PutItem"],
    },
    queries: ["by_owner", "by_upstream_reference", "by_open"],
    sendsTo: ["outcomes", "delivery"],
    redrives: ["outcomes", "delivery"],
    impact: "People cannot use the console; no app is affected, and `npm run admin` works.",
  },
  "serve-console": { memoryMb: 256, timeoutS: 10, impact: "The console's pages are not served; no app is affected." },
  "count-transactions": {
    memoryMb: 256,
    timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
    tables: { cache: ["UpdateItem"] },
    impact: "The charts of the console miss what happens meanwhile; no app is affected.",
  },
  "serve-docs": { memoryMb: 256, timeoutS: 10, impact: "The API documentation is not served." },
  "not-found": { memoryMb: 256, timeoutS: 10, impact: "Unknown paths return 500 instead of 404." },
} as const satisfies Record<string, FunctionSpec>;
export type FunctionName = keyof typeof functionSpecs;

/** The functions that exist only in a stage with a console. */
export const consoleFunctions = [
  "console-api",
  "serve-console",
  "count-transactions",
] as const satisfies readonly FunctionName[];
export type ConsoleFunctionName = (typeof consoleFunctions)[number];

/** Every function's name. */
export const functionNames: readonly FunctionName[] = Object.keys(functionSpecs).filter(
  (name): name is FunctionName => name in functionSpecs,
);

/** The functions of a stage, with or without a console. */
export const functionNamesOf = ({ console }: { readonly console?: unknown }): readonly FunctionName[] =>
  functionNames.filter((name) => console !== undefined || !consoleFunctions.some((known) => known === name));
