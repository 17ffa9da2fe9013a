import { openLists } from "../shared/ledger/schema.ts";
import {
  API_FUNCTION_TIMEOUT_S,
  ASK_FUNCTION_TIMEOUT_S,
  NOTIFY_FUNCTION_TIMEOUT_S,
  QUEUE_FUNCTION_TIMEOUT_S,
  RECONCILE_FUNCTION_TIMEOUT_S,
  REFRESH_FUNCTION_TIMEOUT_S,
  REQUEUE_FUNCTION_TIMEOUT_S,
  SEND_FUNCTION_TIMEOUT_S,
} from "../shared/platform/time-budgets.ts";
import type { FunctionSpec, IdleRun } from "./function-spec.ts";

/** Of a run that reads each list of open transactions. esbuild drops a call of this that a bundle does not use, but no computation. */
// @__NO_SIDE_EFFECTS__
const readingOpenLists = ({ calls, readUnits, ...run }: IdleRun): IdleRun => ({
  calls: [...openLists.map(() => "Query"), ...calls],
  readUnits: openLists.length / 2 + readUnits,
  ...run,
});

export const listCatalogSpec = {
  invokedBy: { kind: "routes" },
  memoryMb: 512,
  timeoutS: 10,
  canary: true,
  tables: {
    access: { UpdateItem: ["rate-counters"] },
    ledger: { reads: ["price-list"] },
    cache: { reads: ["catalog"] },
  },
  environment: ["ACCESS_TABLE", "LEDGER_TABLE", "CACHE_TABLE", "AWS_CALLS", "CHECKSUM_KEY_SECRET_ID"],
  impact: "Apps do not get the list of plans.",
} as const satisfies FunctionSpec;

export const purchaseSpec = {
  invokedBy: { kind: "routes" },
  memoryMb: 384,
  timeoutS: API_FUNCTION_TIMEOUT_S,
  canary: true,
  egress: true,
  tables: {
    access: { UpdateItem: ["rate-counters"] },
    ledger: {
      reads: ["transaction", "wallet", "price-list", "reference-key"],
      PutItem: ["transaction", "refund", "reference-key"],
      UpdateItem: ["transaction", "wallet", "key-usage"],
    },
    cache: {
      reads: ["catalog", "purchases", "purchases-parts", "upstream-pace", "upstream-refusal"],
      PutItem: ["duplicate"],
      UpdateItem: ["upstream-refusal", "upstream-pace"],
    },
  },
  sendsTo: ["outcomes"],
  environment: [
    "ACCESS_TABLE",
    "LEDGER_TABLE",
    "CACHE_TABLE",
    "OUTCOMES_QUEUE_URL",
    "UPSTREAM_BASE_URL",
    "UPSTREAM_PROFILE",
    "UPSTREAM_COSTS",
    "AIRTIME_NAIRA_MAX",
    "PURCHASES_INITIALLY",
    "QUEUE_MINUTES",
    "TIME_ZONE",
    "AWS_CALLS",
    "UPSTREAM_KEY_SECRET_ID",
    "REFERENCE_KEY_SECRET_ID",
    "CHECKSUM_KEY_SECRET_ID",
  ],
  impact: "Purchases are not answered; some stay debited and open until an upstream event or an operator settles them.",
} as const satisfies FunctionSpec;

export const checkIdentitySpec = {
  invokedBy: { kind: "routes" },
  memoryMb: 384,
  timeoutS: API_FUNCTION_TIMEOUT_S,
  canary: true,
  egress: true,
  tables: {
    access: { UpdateItem: ["rate-counters"] },
    ledger: {
      reads: ["transaction", "price-list", "reference-key"],
      PutItem: ["transaction", "refund", "consent", "reference-key"],
      UpdateItem: ["transaction", "wallet", "key-usage"],
    },
    cache: {
      reads: ["replay", "purchases", "purchases-parts", "upstream-pace", "upstream-refusal"],
      PutItem: ["replay"],
      UpdateItem: ["upstream-refusal"],
    },
  },
  sendsTo: ["outcomes"],
  environment: [
    "ACCESS_TABLE",
    "LEDGER_TABLE",
    "CACHE_TABLE",
    "OUTCOMES_QUEUE_URL",
    "UPSTREAM_BASE_URL",
    "UPSTREAM_PROFILE",
    "UPSTREAM_COSTS",
    "IDENTITY_PRICES",
    "IDENTITY_KEY_ARN",
    "PURCHASES_INITIALLY",
    "TIME_ZONE",
    "AWS_CALLS",
    "UPSTREAM_KEY_SECRET_ID",
    "REFERENCE_KEY_SECRET_ID",
    "CHECKSUM_KEY_SECRET_ID",
    "REPLAY_KEY_SECRET_ID",
  ],
  impact: "Identity checks are not answered; their debits are refunded after 5 minutes.",
} as const satisfies FunctionSpec;

export const readAccountSpec = {
  invokedBy: { kind: "routes" },
  memoryMb: 512,
  timeoutS: 15,
  canary: true,
  tables: { access: { UpdateItem: ["rate-counters"] }, ledger: { reads: ["transaction", "wallet", "reference-key"] } },
  queries: ["by_list"],
  environment: ["ACCESS_TABLE", "LEDGER_TABLE", "AWS_CALLS", "REFERENCE_KEY_SECRET_ID", "CHECKSUM_KEY_SECRET_ID"],
  impact: "Apps cannot look up balances and transactions.",
} as const satisfies FunctionSpec;

export const receiveUpstreamEventSpec = {
  invokedBy: { kind: "routes" },
  memoryMb: 512,
  timeoutS: 10,
  canary: true,
  sendsTo: ["outcomes"],
  environment: [
    "OUTCOMES_QUEUE_URL",
    "UPSTREAM_PROFILE",
    "UPSTREAM_WEBHOOK_IPS",
    "AWS_CALLS",
    "REFERENCE_KEY_SECRET_ID",
    "WEBHOOK_TOKEN_SECRET_ID",
    "UPSTREAM_HMAC_SECRET_ID",
  ],
  impact: "Transactions stay `processing`: upstream events are not received, unless the upstream sends them again.",
} as const satisfies FunctionSpec;

export const applyUpstreamEventSpec = {
  invokedBy: { kind: "queue", queue: "outcomes" },
  memoryMb: 512,
  timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
  canary: true,
  tables: {
    ledger: {
      reads: ["transaction", "wallet", "upstream-reference"],
      PutItem: ["transaction", "refund", "event"],
      UpdateItem: ["transaction", "wallet", "key-usage", "event", "upstream-reference"],
    },
  },
  queries: ["by_upstream_reference", "by_phone"],
  environment: ["LEDGER_TABLE", "OUTCOMES_QUEUE_URL", "UPSTREAM_COSTS", "AWS_CALLS", "REFERENCE_KEY_SECRET_ID"],
  impact: "Transactions stay `processing` and refunds wait: outcomes stay in their queue.",
} as const satisfies FunctionSpec;

export const enqueueWebhooksSpec = {
  invokedBy: { kind: "stream", stream: "webhooks" },
  memoryMb: 512,
  timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
  // An account says which of its endpoints get the event.
  tables: { ledger: { reads: ["account"] } },
  sendsTo: ["delivery"],
  environment: ["LEDGER_TABLE", "DELIVERY_QUEUE_URL", "AWS_CALLS"],
  impact: "Apps receive no webhooks; those that the stream drops after a day are sent again by `admin announce`.",
} as const satisfies FunctionSpec;

export const deliverWebhookSpec = {
  invokedBy: { kind: "queue", queue: "delivery" },
  memoryMb: 256,
  timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
  egress: true,
  // It opens connections to hosts that apps' owners choose: it may write nothing that other functions trust.
  tables: {
    ledger: {
      reads: ["transaction", "account", "delivery", "parked", "endpoint-health"],
      PutItem: ["delivery", "parked", "endpoint-health"],
    },
  },
  environment: [
    "LEDGER_TABLE",
    "DELIVERY_QUEUE_URL",
    "WEBHOOK_ALLOWED_CIDRS",
    "WEBHOOK_REFUSED_HOSTS",
    "AWS_CALLS",
    "WEBHOOK_KEY_SECRET_ID",
  ],
  impact: "Apps receive their webhooks late: they wait in the delivery queue.",
} as const satisfies FunctionSpec;

export const requeueDeliveriesSpec = {
  invokedBy: {
    kind: "schedule",
    urgency: "ticket",
    isWorker: true,
    idleRun: { calls: ["Query", "Query", "Query"], readUnits: 1.5, logBytes: 130 },
  },
  memoryMb: 512,
  timeoutS: REQUEUE_FUNCTION_TIMEOUT_S,
  tables: {
    ledger: {
      reads: ["account", "wallet", "key-usage", "delivery", "parked", "endpoint-health", "subscription"],
      PutItem: ["parked", "subscription"],
    },
  },
  queries: ["by_open"],
  sendsTo: ["delivery"],
  environment: ["LEDGER_TABLE", "DELIVERY_QUEUE_URL", "AWS_CALLS"],
  impact:
    "Apps receive some webhooks late: those that wait for longer than 15 minutes, those of endpoints that are down, `wallet.low` and `limit.near`.",
} as const satisfies FunctionSpec;

export const sendQueuedOrdersSpec = {
  invokedBy: {
    kind: "schedule",
    urgency: "page",
    isWorker: true,
    idleRun: { calls: ["Query"], readUnits: 0.5, metric: "OldestQueuedSeconds", logBytes: 400 },
  },
  memoryMb: 512,
  timeoutS: SEND_FUNCTION_TIMEOUT_S,
  egress: true,
  tables: {
    ledger: {
      reads: ["transaction", "wallet"],
      PutItem: ["refund"],
      UpdateItem: ["transaction", "wallet", "key-usage"],
      ConditionCheckItem: ["wallet"],
    },
    cache: {
      reads: ["catalog", "purchases", "purchases-parts", "upstream-pace", "upstream-refusal"],
      UpdateItem: ["upstream-refusal", "upstream-pace"],
    },
  },
  queries: ["by_open"],
  sendsTo: ["outcomes"],
  environment: [
    "LEDGER_TABLE",
    "CACHE_TABLE",
    "OUTCOMES_QUEUE_URL",
    "UPSTREAM_BASE_URL",
    "UPSTREAM_PROFILE",
    "UPSTREAM_COSTS",
    "PURCHASES_INITIALLY",
    "QUEUE_MINUTES",
    "AWS_CALLS",
    "UPSTREAM_KEY_SECRET_ID",
  ],
  impact: "Orders that wait for the upstream's rate limit are neither sent nor refunded.",
} as const satisfies FunctionSpec;

/** It settles nothing: answers go to the outcomes queue. So it may write neither wallets nor transactions. */
export const askUpstreamSpec = {
  invokedBy: {
    kind: "schedule",
    urgency: "ticket",
    isWorker: true,
    idleRun: readingOpenLists({ calls: ["GetItem"], readUnits: 0.5, logBytes: 140 }),
  },
  asksUpstream: true,
  memoryMb: 256,
  timeoutS: ASK_FUNCTION_TIMEOUT_S,
  egress: true,
  tables: {
    ledger: { reads: ["transaction"] },
    cache: {
      reads: ["upstream-lookup", "upstream-balance"],
      UpdateItem: ["upstream-lookup", "upstream-balance"],
    },
  },
  queries: ["by_open"],
  sendsTo: ["outcomes"],
  environment: [
    "LEDGER_TABLE",
    "CACHE_TABLE",
    "OUTCOMES_QUEUE_URL",
    "UPSTREAM_BASE_URL",
    "UPSTREAM_PROFILE",
    "UPSTREAM_COSTS",
    "AWS_CALLS",
    "UPSTREAM_KEY_SECRET_ID",
  ],
  impact:
    "The upstream is not asked for orders without an outcome: they stay open until an event or an operator settles them. Its balance is not read.",
} as const satisfies FunctionSpec;

export const refreshCatalogSpec = {
  invokedBy: {
    kind: "schedule",
    urgency: "ticket",
    isWorker: false,
    idleRun: { calls: ["GetItem"], readUnits: 0.5, logBytes: 110 },
  },
  memoryMb: 512,
  timeoutS: REFRESH_FUNCTION_TIMEOUT_S,
  egress: true,
  tables: { cache: { reads: ["catalog", "catalog-candidate"], PutItem: ["catalog", "catalog-candidate"] } },
  // The keys of subscriptions name the accounts that get `catalog.updated`.
  queries: ["by_open"],
  sendsTo: ["delivery"],
  environment: [
    "LEDGER_TABLE",
    "CACHE_TABLE",
    "DELIVERY_QUEUE_URL",
    "UPSTREAM_BASE_URL",
    "UPSTREAM_PROFILE",
    "AWS_CALLS",
    "UPSTREAM_KEY_SECRET_ID",
  ],
  impact: "Plans and prices become stale; after 24 hours no data bundle is sold.",
} as const satisfies FunctionSpec;

export const reconcileLedgerSpec = {
  invokedBy: {
    kind: "schedule",
    urgency: "page",
    isWorker: true,
    idleRun: readingOpenLists({
      // After these the list of queued orders, and that of the accounts.
      calls: ["Query", "Query", "BatchGetItem", "GetItem", "GetItem", "GetItem"],
      readUnits: 4.5,
      metric: "OldestOpenSeconds",
      logBytes: 480,
    }),
  },
  memoryMb: 512,
  timeoutS: RECONCILE_FUNCTION_TIMEOUT_S,
  tables: {
    ledger: {
      reads: [
        ...(["transaction", "wallet", "funding", "adjustment", "checkpoint", "order-sums", "float"] as const),
        ...(["period", "period-lines", "period-verification"] as const),
        ...(["phone-retention", "consent", "event", "delivery"] as const),
      ],
      PutItem: ["refund", "checkpoint", "phone-retention", "order-sums", "period-verification"],
      UpdateItem: ["transaction", "wallet", "key-usage", "consent", "event", "delivery", "order-day", "float"],
    },
  },
  queries: ["by_list", "by_open"],
  environment: ["LEDGER_TABLE", "PHONE_RETENTION_DAYS", "CONSENT_RETENTION_DAYS", "TIME_ZONE", "AWS_CALLS"],
  impact: "Abandoned identity checks are not refunded, and stuck transactions and wrong balances are not noticed.",
} as const satisfies FunctionSpec;

/** It opens connections to hosts that people choose: it may write nothing that other functions trust. */
export const sendNotificationsSpec = {
  invokedBy: {
    kind: "schedule",
    urgency: "ticket",
    isWorker: true,
    idleRun: { calls: ["Query"], readUnits: 0.5, logBytes: 110 },
  },
  needsConsole: true,
  memoryMb: 256,
  timeoutS: NOTIFY_FUNCTION_TIMEOUT_S,
  egress: true,
  tables: {
    ledger: {
      reads: [
        ...(["recipient", "notified", "person", "owner", "account"] as const),
        ...(["wallet", "endpoint-health", "period"] as const),
      ],
      // Neither a phone number nor what is made from it.
      readsInPart: {
        kinds: ["transaction"],
        attributes: ["account_id", "type", "mode", "status", "amount_kobo", "network", "created_at", "sent_at"],
      },
      PutItem: ["notified"],
    },
  },
  queries: ["by_list", "by_open"],
  queriesKeysOnly: true,
  notifications: "publishes",
  environment: [
    "LEDGER_TABLE",
    "NOTIFICATIONS_TOPIC_ARN",
    "CONSOLE_URL",
    "WEBHOOK_ALLOWED_CIDRS",
    "WEBHOOK_REFUSED_HOSTS",
    "TIME_ZONE",
    "AWS_CALLS",
    "WEBHOOK_KEY_SECRET_ID",
  ],
  impact: "People are not notified of what they chose in the console, such as a low wallet; no app is affected.",
} as const satisfies FunctionSpec;

export const serveDocsSpec = {
  invokedBy: { kind: "routes" },
  memoryMb: 256,
  timeoutS: 10,
  environment: ["CALLERS_URL"],
  impact: "The API documentation is not served.",
} as const satisfies FunctionSpec;

export const notFoundSpec = {
  invokedBy: { kind: "default-route" },
  memoryMb: 256,
  timeoutS: 10,
  impact: "Unknown paths return 500 instead of 404.",
} as const satisfies FunctionSpec;

export const consoleApiSpec = {
  invokedBy: { kind: "routes" },
  memoryMb: 512,
  timeoutS: API_FUNCTION_TIMEOUT_S,
  // `webhook test` leaves from the same addresses as webhooks do, and `upstream probe` from those of orders.
  egress: true,
  tables: {
    access: { reads: ["key"], PutItem: ["key"], UpdateItem: ["key"] },
    ledger: {
      reads: [
        ...(["account", "owner", "person", "wallet", "key-usage", "transaction", "consent", "reference-key"] as const),
        ...(["funding", "adjustment", "float", "float-payment", "order-sums", "order-day", "statement"] as const),
        ...(["checkpoint", "period", "period-lines", "period-replacement", "proposal"] as const),
        ...(["event", "delivery", "parked", "endpoint-health", "recipient", "notified"] as const),
      ],
      PutItem: [
        "account",
        "price-list",
        "wallet",
        "funding",
        "adjustment",
        "float-payment",
        "refund",
        "checkpoint",
        "period",
        "period-lines",
        "period-replacement",
        "parked",
        "subscription",
        "recipient",
        "proposal",
      ],
      UpdateItem: [
        "transaction",
        "wallet",
        "key-usage",
        "event",
        "upstream-reference",
        "owner",
        "person",
        "float",
        "proposal",
      ],
      ConditionCheckItem: ["period", "period-replacement"],
    },
    audit: { Query: ["entry", "attestation"], PutItem: ["entry"] },
    cache: {
      reads: [
        ...(["purchases", "purchases-parts", "upstream-pace", "upstream-refusal"] as const),
        ...(["catalog", "catalog-candidate", "upstream-lookup", "upstream-balance", "statistics", "balances"] as const),
      ],
      PutItem: ["purchases", "purchases-parts", "catalog"],
      UpdateItem: ["searches", "resends", "upstream-lookup"],
    },
  },
  queries: ["by_list", "by_upstream_reference", "by_open", "by_phone", "by_time", "by_about"],
  sendsTo: ["outcomes", "delivery"],
  redrives: ["outcomes", "delivery"],
  notifications: "subscribes",
  environment: [
    "ACCESS_TABLE",
    "LEDGER_TABLE",
    "AUDIT_TABLE",
    "CACHE_TABLE",
    "OUTCOMES_QUEUE_URL",
    "DELIVERY_QUEUE_URL",
    "NOTIFICATIONS_TOPIC_ARN",
    "WEBHOOK_ALLOWED_CIDRS",
    "WEBHOOK_REFUSED_HOSTS",
    "UPSTREAM_BASE_URL",
    "UPSTREAM_PROFILE",
    "UPSTREAM_COSTS",
    "IDENTITY_PRICES",
    "PURCHASES_INITIALLY",
    "QUEUE_MINUTES",
    "OPERATOR_ACT_MAX_NAIRA",
    "FOUR_EYES",
    "FLOAT_ALARM_HOURS",
    "TIME_ZONE",
    "WORKERS",
    "SELLS",
    "CONSOLE",
    "AWS_CALLS",
    "REFERENCE_KEY_SECRET_ID",
    "CHECKSUM_KEY_SECRET_ID",
    "WEBHOOK_KEY_SECRET_ID",
    "UPSTREAM_TEST_KEY_SECRET_ID",
  ],
  impact: "People cannot use the console, nor operators the same actions; no app is affected.",
} as const satisfies FunctionSpec;

/** An import of a statement must not be able to move money, so it is no part of console-api, which can. */
export const reconcileStatementSpec = {
  invokedBy: { kind: "routes" },
  memoryMb: 512,
  timeoutS: API_FUNCTION_TIMEOUT_S,
  tables: {
    ledger: {
      reads: ["transaction", "reference-key", "statement", "statement-rows", "statement-case"],
      PutItem: ["statement", "statement-rows", "statement-case"],
    },
    audit: { Query: ["entry", "attestation"], PutItem: ["entry"] },
  },
  queries: ["by_list"],
  environment: [
    "LEDGER_TABLE",
    "AUDIT_TABLE",
    "QUEUE_MINUTES",
    "UPSTREAM_COSTS",
    "CONSOLE",
    "AWS_CALLS",
    "REFERENCE_KEY_SECRET_ID",
  ],
  impact: "The upstream's statements can be neither imported nor compared; no app is affected.",
} as const satisfies FunctionSpec;

/** It may hash a person's number, so it is no part of console-api, which many people may ask much of. */
export const answerSubjectsSpec = {
  invokedBy: { kind: "routes" },
  memoryMb: 512,
  timeoutS: API_FUNCTION_TIMEOUT_S,
  tables: {
    ledger: {
      reads: ["reference-key", "account", "transaction", "consent", "event", "delivery"],
      UpdateItem: ["transaction", "consent", "event", "delivery"],
      // What it erases: no status, amount or token of an order.
      updatedAttributes: [
        ...["fingerprint", "phone_number", "phone_key", "description"],
        ...["subject", "subject_key", "phone_masked", "attempts"],
      ],
    },
    audit: { Query: ["entry", "attestation"], PutItem: ["entry"] },
    cache: { UpdateItem: ["searches"] },
  },
  queries: ["by_list", "by_phone", "by_subject", "by_about"],
  environment: [
    "LEDGER_TABLE",
    "AUDIT_TABLE",
    "CACHE_TABLE",
    "IDENTITY_KEY_ARN",
    "CONSOLE",
    "AWS_CALLS",
    "REFERENCE_KEY_SECRET_ID",
  ],
  impact: "Requests of persons to see or erase their data cannot be answered; no app is affected.",
} as const satisfies FunctionSpec;

export const serveConsoleSpec = {
  invokedBy: { kind: "routes" },
  needsConsole: true,
  memoryMb: 256,
  timeoutS: 10,
  environment: ["CONSOLE"],
  impact: "The console's pages are not served; no app is affected.",
} as const satisfies FunctionSpec;

export const countTransactionsSpec = {
  invokedBy: { kind: "stream", stream: "statistics" },
  needsConsole: true,
  memoryMb: 256,
  timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
  tables: { cache: { UpdateItem: ["statistics", "balances"] } },
  environment: ["CACHE_TABLE", "TIME_ZONE", "AWS_CALLS"],
  impact: "The console's charts miss the orders of this time; no app is affected.",
} as const satisfies FunctionSpec;

export const attestAuditSpec = {
  invokedBy: { kind: "stream", stream: "attestations" },
  memoryMb: 256,
  timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
  // `console-api`, which writes the entries, may not write these, and this function writes no entries.
  tables: { audit: { Query: ["attestation"], PutItem: ["attestation"] } },
  environment: ["AUDIT_TABLE", "AWS_CALLS"],
  impact: "Nobody notices when an audit entry is overwritten; no app is affected.",
} as const satisfies FunctionSpec;

export const copyAuditSpec = {
  invokedBy: { kind: "stream", stream: "copies" },
  copiesAudit: true,
  memoryMb: 256,
  timeoutS: QUEUE_FUNCTION_TIMEOUT_S,
  environment: ["AUDIT_COPY_BUCKET"],
  impact: "New audit entries have no copy that nobody can delete; no app is affected.",
} as const satisfies FunctionSpec;

/**
 * Every function: one entry for each folder beside this file. Its role, environment, alarms, invocations and budgets,
 * the local service and the tables of the docs are made from its spec. A bundle contains its own spec alone.
 */
export const functionSpecs = {
  "list-catalog": listCatalogSpec,
  purchase: purchaseSpec,
  "check-identity": checkIdentitySpec,
  "read-account": readAccountSpec,
  "receive-upstream-event": receiveUpstreamEventSpec,
  "apply-upstream-event": applyUpstreamEventSpec,
  "enqueue-webhooks": enqueueWebhooksSpec,
  "deliver-webhook": deliverWebhookSpec,
  "requeue-deliveries": requeueDeliveriesSpec,
  "send-queued-orders": sendQueuedOrdersSpec,
  "ask-upstream": askUpstreamSpec,
  "refresh-catalog": refreshCatalogSpec,
  "reconcile-ledger": reconcileLedgerSpec,
  "send-notifications": sendNotificationsSpec,
  "serve-docs": serveDocsSpec,
  "not-found": notFoundSpec,
  "console-api": consoleApiSpec,
  "reconcile-statement": reconcileStatementSpec,
  "answer-subjects": answerSubjectsSpec,
  "serve-console": serveConsoleSpec,
  "count-transactions": countTransactionsSpec,
  "attest-audit": attestAuditSpec,
  "copy-audit": copyAuditSpec,
} as const satisfies Record<string, FunctionSpec>;
