import type { FunctionName } from "../../infra/functions.ts";
import { queues } from "../../infra/queues.ts";
import { commonSchedules, scheduleOf } from "../../infra/schedules.ts";
import { streamConsumers } from "../../infra/streams.ts";
import { sum } from "../../shared/platform/sum.ts";

/** One invocation of a function within a request. */
export type Invocation = {
  readonly function: FunctionName;
  /** DynamoDB calls, in order. */
  readonly calls?: readonly string[];
  /** Calls of KMS. */
  readonly keyRequests?: number;
  readonly sends?: keyof typeof queues;
  /** The outside party whose response it waits for. */
  readonly waitsFor?: "upstream" | "endpoint";
  /** How many of these requests a full batch has, and the CPU time of each, on a whole vCPU. */
  readonly batch?: { readonly size: number; readonly cpuMs: number };
};

/** The most that one kind of request may use. Tests enforce it, and `npm run costs` prices it. */
export type Budget = {
  readonly title: string;
  readonly invocations: readonly Invocation[];
  readonly writeUnits: {
    readonly tables: number;
    readonly indexes: number;
    /** Of a cancelled transaction: AWS charges for it too, but does not report it, so no test can count it. */
    readonly cancelled?: number;
  };
  readonly readUnits: number;
  /** The events of its log lines, and their total size. */
  readonly log: { readonly events: readonly string[]; readonly bytes: number };
  /** Headers and body of the response of an API request. */
  readonly responseBytes?: number;
};

const noWrites = { tables: 0, indexes: 0 };
/** The write that authenticates a request and counts it. */
const oneWrite = { tables: 1, indexes: 0 };
const idleRuns = commonSchedules.map((name) => ({ name, ...scheduleOf(name).idleRun }));
const oneLine = { events: ["request.answered"], bytes: 400 };
const withoutReads = { readUnits: 0, log: oneLine };
const livePurchase = {
  invocations: [
    { function: "purchase", calls: ["UpdateItem", "TransactWriteItems", "UpdateItem"], waitsFor: "upstream" },
  ],
  ...withoutReads,
  responseBytes: 1_000,
} as const;

export const budgets = {
  purchase: {
    title: "live purchase",
    ...livePurchase,
    writeUnits: { tables: 6, indexes: 5 },
  },
  windowedPurchase: {
    title: "live purchase of an account with a window for duplicates",
    ...livePurchase,
    writeUnits: { tables: 8, indexes: 5 },
  },
  limitedPurchase: {
    title: "live purchase of an account with limits of a day or a month",
    ...livePurchase,
    writeUnits: { tables: 6, indexes: 5 },
  },
  keyLimitedPurchase: {
    title: "live purchase with a key that has such limits too",
    ...livePurchase,
    writeUnits: { tables: 8, indexes: 5 },
  },
  limitReached: {
    title: "purchase that would pass a limit",
    invocations: [{ function: "purchase", calls: ["UpdateItem", "TransactWriteItems"] }],
    writeUnits: { tables: 1, indexes: 0, cancelled: 6 },
    ...withoutReads,
    responseBytes: 1_200,
  },
  possibleDuplicate: {
    title: "purchase that is refused as a possible duplicate",
    invocations: [{ function: "purchase", calls: ["UpdateItem", "TransactWriteItems", "GetItem"] }],
    writeUnits: { tables: 1, indexes: 0, cancelled: 6 },
    readUnits: 1,
    log: oneLine,
    responseBytes: 1_200,
  },
  /** Only in a stage with a console. */
  notifications: {
    title: "run of notifications, while nobody chose any",
    invocations: [{ function: "send-notifications", calls: scheduleOf("send-notifications").idleRun.calls }],
    writeUnits: noWrites,
    readUnits: scheduleOf("send-notifications").idleRun.readUnits,
    log: { events: ["send-notifications.ran"], bytes: scheduleOf("send-notifications").idleRun.logBytes },
  },
  /** The most that it costs: no other order is in the run that sends it. */
  waitingPurchase: {
    title: "live purchase that waits",
    invocations: [
      { function: "purchase", calls: ["UpdateItem", "TransactWriteItems", "GetItem", "TransactWriteItems"] },
      {
        function: "send-queued-orders",
        calls: [
          ...["Query", "Query", "BatchGetItem", "UpdateItem"],
          // The claim, the settlement, the end of the account's turn, and the pace.
          ...["TransactWriteItems", "UpdateItem", "UpdateItem", "UpdateItem"],
        ],
        waitsFor: "upstream",
      },
    ],
    writeUnits: { tables: 17, indexes: 11 },
    readUnits: 4,
    log: {
      events: ["request.answered", "metrics", "send-queued-orders.ran"],
      bytes: 800,
    },
    responseBytes: 1_100,
  },
  refundedPurchase: {
    title: "live purchase that is refused and refunded",
    invocations: [
      {
        function: "purchase",
        calls: ["UpdateItem", "TransactWriteItems", "TransactWriteItems"],
        waitsFor: "upstream",
      },
    ],
    writeUnits: { tables: 11, indexes: 5 },
    readUnits: 0,
    log: { events: ["upstream.refused", "request.answered"], bytes: 500 },
    responseBytes: 1_000,
  },
  replay: {
    title: "replay of a purchase",
    invocations: [{ function: "purchase", calls: ["UpdateItem", "TransactWriteItems"] }],
    writeUnits: { tables: 1, indexes: 0, cancelled: 4 },
    ...withoutReads,
    responseBytes: 1_000,
  },
  cancellation: {
    title: "cancellation of an order",
    invocations: [{ function: "purchase", calls: ["UpdateItem", "PutItem"] }],
    writeUnits: { tables: 2, indexes: 1 },
    ...withoutReads,
    responseBytes: 1_200,
  },
  overLimit: {
    title: "request over the limit",
    // The first of a minute to each instance has a write.
    invocations: [{ function: "purchase" }],
    writeUnits: noWrites,
    ...withoutReads,
    responseBytes: 800,
  },
  malformedKey: {
    title: "malformed key",
    invocations: [{ function: "purchase" }],
    writeUnits: noWrites,
    ...withoutReads,
    responseBytes: 800,
  },
  identityCheck: {
    title: "identity check with a stored result",
    invocations: [
      {
        function: "check-identity",
        calls: ["UpdateItem", "TransactWriteItems", "PutItem", "UpdateItem"],
        keyRequests: 1,
        waitsFor: "upstream",
      },
    ],
    writeUnits: { tables: 9, indexes: 5 },
    ...withoutReads,
    responseBytes: 1_150,
  },
  catalog: {
    title: "catalog of 30 plans",
    invocations: [{ function: "list-catalog", calls: ["UpdateItem"] }],
    writeUnits: oneWrite,
    ...withoutReads,
    responseBytes: 1_100,
  },
  catalogUnchanged: {
    title: "unchanged catalog (304)",
    invocations: [{ function: "list-catalog", calls: ["UpdateItem"] }],
    writeUnits: oneWrite,
    ...withoutReads,
    responseBytes: 800,
  },
  upstreamEvent: {
    title: "upstream event",
    invocations: [
      { function: "receive-upstream-event", sends: "outcomes" },
      { function: "apply-upstream-event", calls: ["Query", "UpdateItem"] },
    ],
    writeUnits: { tables: 1, indexes: 2 },
    readUnits: 0.5,
    log: { events: ["request.answered", "message.handled"], bytes: 450 },
    responseBytes: 800,
  },
  duplicateEvent: {
    title: "duplicate upstream event",
    invocations: [
      { function: "receive-upstream-event", sends: "outcomes" },
      { function: "apply-upstream-event", calls: ["Query"] },
    ],
    writeUnits: noWrites,
    readUnits: 0.5,
    log: { events: ["request.answered", "message.handled"], bytes: 450 },
    responseBytes: 800,
  },
  /** To the one endpoint of an account. Another endpoint costs the same without the first read. */
  webhook: {
    title: "webhook",
    invocations: [
      // Measured with 100 changes of as many accounts against a server on loopback, on a busy machine: 1.3 to 1.5 ms with the
      // read of the account, 0.1 without.
      {
        function: "enqueue-webhooks",
        calls: ["GetItem"],
        sends: "delivery",
        batch: { size: streamConsumers.webhooks.batchSize, cpuMs: 1.3 },
      },
      // docs/performance.md, Memory.
      {
        function: "deliver-webhook",
        calls: ["GetItem", "GetItem", "GetItem", "GetItem", "PutItem"],
        waitsFor: "endpoint",
        batch: { size: queues.delivery.batchSize, cpuMs: 10 },
      },
    ],
    writeUnits: { tables: 1, indexes: 1 },
    readUnits: 5,
    log: { events: ["change.handled", "webhook.attempted", "message.handled"], bytes: 620 },
  },
  /** Of one order and one account, late in an hour and a day that have every type of four networks. At most one a minute. */
  statistics: {
    title: "batch of a console's statistics",
    invocations: [{ function: "count-transactions", calls: ["UpdateItem", "UpdateItem", "UpdateItem"] }],
    writeUnits: { tables: 12, indexes: 0 },
    readUnits: 0,
    log: { events: ["changes.counted"], bytes: 100 },
  },
  schedules: {
    title: "scheduled functions, per minute, with one account",
    invocations: idleRuns.map(({ name, calls }) => ({ function: name, calls })),
    writeUnits: noWrites,
    readUnits: sum(idleRuns.map(({ readUnits }) => readUnits)),
    log: {
      events: idleRuns.flatMap(({ name, metric }) => [...(metric === undefined ? [] : ["metrics"]), `${name}.ran`]),
      bytes: sum(idleRuns.map(({ logBytes }) => logBytes)),
    },
  },
} as const satisfies Record<string, Budget>;

/** The most that a file has as gzip that anybody can load: a flood of requests for it costs its bytes. */
export const publicFileBytes = { "serve-docs": 500_000, "serve-console": 160_000 };

/** The most that a function's bundle may have without the SDK's file. */
export const bundleBudget = { bytes: 213_000, gzipBytes: 76_000 };
/** Of `purchase`, for whose cold start an app waits most often: each KB takes 0.07 ms of CPU time to compile. */
export const purchaseBundleBudget: typeof bundleBudget = { bytes: 187_000, gzipBytes: 67_000 };

/** The functions whose bundles may be larger, with the reason. No app waits for their cold start. */
export const largerBundles = {
  "console-api": "it contains every action",
  "serve-docs": "it contains the documentation page",
  "serve-console": "it contains the console's pages",
  "copy-audit": "it contains the client of S3",
} as const satisfies Partial<Record<FunctionName, string>>;
