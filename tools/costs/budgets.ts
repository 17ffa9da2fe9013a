import type { FunctionName } from "../../infra/functions.ts";
import type { queues } from "../../infra/queues.ts";

/** One function's part in a request. */
export type Run = {
  readonly function: FunctionName;
  /** DynamoDB calls, in this order. */
  readonly calls?: readonly string[];
  /** A message that it leaves for the function that reads this queue. */
  readonly sends?: keyof typeof queues;
  /** Whom it asks, and waits for. */
  readonly asks?: "upstream" | "app";
};

/** What one request takes, at most: tests hold the service to it, and `npm run costs` turns it into dollars. */
export type Budget = {
  readonly title: string;
  readonly runs: readonly Run[];
  readonly writeUnits: {
    readonly tables: number;
    readonly indexes: number;
    /** Of a transaction that is refused: AWS charges for it too, but reports nothing that a test could count. */
    readonly refused?: number;
  };
  readonly readUnits: number;
  /** The events of its log lines, and how long they are together. */
  readonly log: { readonly events: readonly string[]; readonly bytes: number };
  /** Headers and body, where an API request is answered. */
  readonly answerBytes?: number;
};

const nothing = { tables: 0, indexes: 0 };
const counted = { tables: 1, indexes: 0 };
/** One line, of at most 400 bytes, whatever the request. */
const oneLine = { events: ["request.answered"], bytes: 400 };

export const budgets = {
  purchase: {
    title: "live purchase",
    runs: [{ function: "purchase", calls: ["UpdateItem", "TransactWriteItems", "UpdateItem"], asks: "upstream" }],
    writeUnits: { tables: 6, indexes: 4 },
    readUnits: 0,
    log: oneLine,
    answerBytes: 700,
  },
  repeat: {
    title: "repeat of a purchase",
    runs: [{ function: "purchase", calls: ["UpdateItem", "TransactWriteItems"] }],
    writeUnits: { tables: 1, indexes: 0, refused: 4 },
    readUnits: 0,
    log: oneLine,
    answerBytes: 700,
  },
  overLimit: {
    title: "request over the limit",
    runs: [{ function: "purchase", calls: ["UpdateItem"] }],
    writeUnits: counted,
    readUnits: 0,
    log: oneLine,
    answerBytes: 700,
  },
  malformedKey: {
    title: "malformed key",
    runs: [{ function: "purchase" }],
    writeUnits: nothing,
    readUnits: 0,
    log: oneLine,
    answerBytes: 700,
  },
  check: {
    title: "identity check, its result kept for repeats",
    runs: [
      {
        function: "check-identity",
        calls: ["UpdateItem", "TransactWriteItems", "PutItem", "UpdateItem"],
        asks: "upstream",
      },
    ],
    writeUnits: { tables: 9, indexes: 4 },
    readUnits: 0,
    log: oneLine,
    answerBytes: 700,
  },
  catalog: {
    title: "catalog of 30 plans, warm",
    runs: [{ function: "list-catalog", calls: ["UpdateItem"] }],
    writeUnits: counted,
    readUnits: 0,
    log: oneLine,
    answerBytes: 1_000,
  },
  catalogUnchanged: {
    title: "catalog, unchanged (304)",
    runs: [{ function: "list-catalog", calls: ["UpdateItem"] }],
    writeUnits: counted,
    readUnits: 0,
    log: oneLine,
    answerBytes: 700,
  },
  eventIn: {
    title: "event of the provider",
    runs: [
      { function: "receive-upstream-event", sends: "outcomes" },
      { function: "apply-upstream-event", calls: ["Query", "UpdateItem"] },
    ],
    writeUnits: { tables: 1, indexes: 2 },
    readUnits: 0.5,
    log: { events: ["request.answered", "message.handled"], bytes: 450 },
    answerBytes: 700,
  },
  eventAgain: {
    title: "its duplicate",
    runs: [
      { function: "receive-upstream-event", sends: "outcomes" },
      { function: "apply-upstream-event", calls: ["Query"] },
    ],
    writeUnits: nothing,
    readUnits: 0.5,
    log: { events: ["request.answered", "message.handled"], bytes: 450 },
    answerBytes: 700,
  },
  webhookOut: {
    title: "webhook to an app",
    runs: [
      { function: "enqueue-webhooks", sends: "delivery" },
      { function: "deliver-webhook", calls: ["GetItem", "GetItem", "GetItem", "PutItem"], asks: "app" },
    ],
    writeUnits: { tables: 1, indexes: 1 },
    readUnits: 3,
    log: { events: ["change.handled", "webhook.attempted", "message.handled"], bytes: 600 },
  },
  minute: {
    title: "a minute of the clock, for one account",
    runs: [
      { function: "reconcile-ledger", calls: ["Query", "Query", "GetItem", "GetItem"] },
      { function: "refresh-catalog", calls: ["GetItem"] },
    ],
    writeUnits: nothing,
    readUnits: 3,
    log: { events: ["figures", "reconcile-ledger.ran", "refresh-catalog.ran"], bytes: 600 },
  },
} as const satisfies Record<string, Budget>;

/** A function's bundle; serve-docs is left out, for it carries the page of documentation. */
export const bundleBudget = { bytes: 500_000, gzipBytes: 150_000 };
