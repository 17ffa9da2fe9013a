import { requestsPerSecondOf } from "../../infra/gateway.ts";
import { queues } from "../../infra/queues.ts";
import type { StageSettings } from "../../infra/stage-settings.ts";
import { rateGroups } from "../../shared/contract/limits.ts";
import { routes } from "../../shared/contract/routes.ts";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { BATCH_KEYS_MAX } from "../../shared/ledger/get-item.ts";
import { openLists } from "../../shared/ledger/schema.ts";
import { sum } from "../../shared/platform/sum.ts";
import {
  RECONCILE_WALLETS_MS_MAX,
  SCHEDULE_MS,
  SENDING_MS,
  WEBHOOK_MS_MAX,
} from "../../shared/platform/time-budgets.ts";
import { GATE_CACHE_MS } from "../../shared/queued-orders/order-gate.ts";
import { CONCURRENT_SENDS } from "../../shared/queued-orders/send-queued-orders.ts";
import { QUEUE_WAIT_MS_MAX, retryDelaysS } from "../../shared/webhooks/next-step.ts";
import { budgets } from "../costs/budgets.ts";
import { dollarsOf, MONTH_HOURS } from "../costs/prices.ts";
import { assumed as assumedTimes, functionLogBytes } from "../costs/request-usage.ts";
import type { Limit } from "./limit.ts";
import { PARTITION_READ_UNITS, PARTITION_UNITS } from "./simulated-table.ts";
import { sources } from "./sources.ts";
import {
  assumed,
  invocationS,
  invocationsOf,
  measured,
  purchaseBudgets,
  secretFetches,
  waiting,
  writeUnits,
} from "./usage.ts";

const TABLE_UNITS_AT_FIRST = 4_000;
const TABLE_UNITS_MAX = 40_000;
const API_REQUESTS = 10_000;
const LAMBDA_CONCURRENCY = 1_000;
const LAMBDA_GROWTH_IN_10_S = 1_000;
/** Connections a second from one address to one destination: some 55,000 a minute. */
const NAT_CONNECTIONS = 900;
const SECRET_REQUESTS = 10_000;
const LOG_REQUESTS = 5_000;
const IN_FLIGHT_MAX = 120_000;

const MINUTE_S = 60;
const HOUR_S = 3_600;

/** Fixed addresses from which the upstream is called; without egress there is no NAT gateway. */
const addressesOf = ({ egress }: StageSettings): number => {
  if (egress.kind === "none") return Number.POSITIVE_INFINITY;
  return egress.kind === "existing" ? egress.addresses.length : egress.zones.length;
};

/** Concurrent invocations of a webhook each second if all endpoints take as long as they may. */
const slowestDeliveryS = (): number =>
  invocationS("deliver-webhook", "full") +
  (WEBHOOK_MS_MAX - assumedTimes.waitMs.endpoint) / 1_000 / queues.delivery.batchSize;

const runShare = RECONCILE_WALLETS_MS_MAX / SCHEDULE_MS;
const halfGbDollars = dollarsOf({ lambdaGbSeconds: 0.5 * runShare * MONTH_HOURS * HOUR_S });
const zoneDollars = dollarsOf({ natHours: MONTH_HOURS, addressHours: MONTH_HOURS });
/** Longer waits of webhooks are parked in their records. */
const waitsInQueueS = sum(retryDelaysS.filter((delayS) => delayS * 1_000 <= QUEUE_WAIT_MS_MAX));

const slowed = "Debits wait and are retried; what waits until the upstream's share of the time begins is refused.";
const busy = { errors: ["provider_unavailable"], logEvents: ["request.answered"] } as const;
const unanswered = "API Gateway answers 5xx without X-Error-Code: callers send the same reference again.";

/** Every limit that grows with load. Of those that are reached at the same load, the first in this list counts. */
export const limits: readonly Limit[] = [
  {
    name: "the upstream's limit for our keys",
    affects: "purchases",
    unit: "orders/s",
    capacity: () => (assumed.upstreamKeys * rateGroups.vtu.requestsPerMinute) / MINUTE_S,
    perPurchase: 1,
    source: sources.upstream,
    assumed: `${assumed.upstreamKeys} key of the upstream. Each further one allows as much again (decision 0028)`,
    symptom: {
      text: "Purchases wait, debited and `processing`, and are sent at the limit's pace, by turns of their accounts; one that waited for 15 minutes is refunded. Identity checks are refused. The metric UpstreamRateLimited is on the dashboard.",
      errors: ["provider_unavailable"],
      logEvents: ["upstream.not_ready", "upstream.rate_limited", "order.waited_too_long"],
      alarms: ["Event-order.waited_too_long"],
    },
    remedy: {
      by: "agreement",
      text: "More keys of the upstream (`secrets set upstream-key`), which are used in turn; or agree on a higher limit for each. The service learns it from the upstream's answers",
      cost: "what the upstream asks for",
    },
  },
  {
    name: "the sender's pace",
    onlyIf: "while orders wait",
    affects: "purchases",
    unit: "orders/s",
    capacity: () => (CONCURRENT_SENDS * SENDING_MS) / (waiting.sendS * SCHEDULE_MS),
    perPurchase: 1,
    source: sources.queuedOrders,
    assumed: `a run of \`send-queued-orders\` sends ${CONCURRENT_SENDS} at a time for ${SENDING_MS / 1_000} s of each minute, and each takes ${waiting.sendS.toFixed(2)} s: as much as ${Math.floor((CONCURRENT_SENDS * SENDING_MS) / (waiting.sendS * MINUTE_MS))} keys of the upstream allow`,
    symptom: {
      text: "The number of queued orders does not fall although the upstream's limit has room. The metrics QueuedOrders and OldestQueuedSeconds show it.",
      logEvents: ["send-queued-orders.ran", "order.waited_too_long"],
      alarms: ["Event-order.waited_too_long"],
    },
    remedy: {
      by: "code",
      text: "More orders at a time (`CONCURRENT_SENDS` in `shared/queued-orders/send-queued-orders.ts`), or a function that runs longer",
    },
  },
  {
    name: "a key's purchases a minute",
    affects: "purchases",
    unit: "requests/s for each account",
    per: "account",
    capacity: () => (assumed.keysPerAccount * rateGroups.vtu.requestsPerMinute) / MINUTE_S,
    perPurchase: 1,
    source: sources.rateLimits,
    assumed: `${assumed.keysPerAccount} live key in each account`,
    symptom: {
      text: "The key's requests are refused until the minute is over.",
      errors: ["rate_limited"],
      logEvents: ["request.answered"],
    },
    remedy: {
      by: "agreement",
      text: "More keys for the account (`admin keys create`): the number is part of the interface",
    },
  },
  {
    name: "a key's item",
    affects: "purchases",
    unit: "write units/s for each key",
    per: "account",
    capacity: () => assumed.keysPerAccount * PARTITION_UNITS,
    perPurchase: writeUnits.access,
    source: sources.partition,
    symptom: {
      text: `The count of a request is retried for 2 s. ${unanswered}`,
      logEvents: ["request.failed", "request.outcome_unknown"],
      alarms: ["AccessWriteThrottles", "Event-request.failed", "PurchaseErrors"],
    },
    remedy: {
      by: "agreement",
      text: "More keys. A caller that ignores 429 does not reach it: what is beyond the key's limit is not counted",
    },
  },
  {
    name: "conflicts on a wallet",
    affects: "purchases",
    unit: "debits/s for each wallet",
    per: "account",
    capacity: () => measured.walletDebits.perS,
    perPurchase: 1,
    source: sources.busyWallets,
    assumed: `a debit holds its wallet for ${measured.walletDebits.holdMs} ms; at 8 ms the limit is 80, at 25 ms 24`,
    symptom: { text: `${slowed} Before that, \`duration_ms\` grows.`, ...busy },
    remedy: {
      by: "accounts",
      text: "Divide the caller into several accounts, each with a wallet",
    },
  },
  {
    name: "conflicts on a wallet",
    onlyIf: "while its orders wait",
    affects: "purchases",
    unit: "writes/s for each wallet",
    per: "account",
    capacity: () => measured.walletDebits.perS,
    perPurchase: waiting.walletWrites,
    source: sources.busyWallets,
    assumed: "the wait and the claim of an order hold its wallet as long as its debit does",
    symptom: {
      text: `${slowed} A claim that meets conflicts for 3 s is left for the next run, with the later orders of its account.`,
      ...busy,
    },
    remedy: {
      by: "accounts",
      text: "Divide the caller into several accounts, each with a wallet",
    },
  },
  {
    name: "a wallet's item",
    affects: "purchases",
    unit: "write units/s for each wallet",
    per: "account",
    capacity: () => PARTITION_UNITS,
    perPurchase: writeUnits.wallet,
    source: sources.partition,
    symptom: { text: slowed, ...busy, alarms: ["LedgerWriteThrottles"] },
    remedy: {
      by: "accounts",
      text: "Divide the caller into several accounts. A write in a transaction costs twice, and a refund as much again",
    },
  },
  {
    name: "index by_open",
    affects: "purchases",
    unit: "write units/s",
    capacity: () => openLists.length * PARTITION_UNITS,
    perPurchase: writeUnits.by_open,
    source: sources.partition,
    assumed: `an order is in one of ${openLists.length} lists, by the second character of its id, which is random; DynamoDB does not divide one list, whose entries are all new, and under load divides a partition that has several within minutes (decision 0061)`,
    symptom: {
      text: `A throttled index throttles the table. ${slowed} Settlements that are throttled go to the outcomes queue.`,
      errors: busy.errors,
      logEvents: ["request.answered", "message.handled"],
      alarms: ["LedgerByOpenWriteThrottles", "OutcomesDepth"],
    },
    remedy: {
      by: "code",
      text: "More lists of open orders (`openLists` in `shared/ledger/schema.ts`). Stored orders keep theirs until they are settled, so readers query the old and the new lists for a month",
      cost: "a query more for each list in every run of `reconcile-ledger` and `ask-upstream`",
    },
  },
  {
    name: "index by_open",
    onlyIf: "while all orders wait",
    affects: "purchases",
    unit: "write units/s",
    capacity: () => openLists.length * PARTITION_UNITS,
    perPurchase: waiting.by_open,
    source: sources.partition,
    assumed:
      "the lists of sent orders are the busiest: `queued` has units for each account in a run, and each account's own list `queued#` fewer",
    symptom: { text: slowed, ...busy, alarms: ["LedgerByOpenWriteThrottles"] },
    remedy: {
      by: "code",
      text: "As for by_open",
      cost: "as for by_open",
    },
  },
  {
    name: "index by_list",
    affects: "purchases",
    unit: "write units/s for each account",
    per: "account",
    capacity: () => PARTITION_UNITS,
    perPurchase: writeUnits.by_list.transaction,
    source: sources.partition,
    assumed: "DynamoDB does not split the partition of one key whose entries are all new",
    symptom: { text: slowed, ...busy, alarms: ["LedgerByListWriteThrottles"] },
    remedy: { by: "accounts", text: "Divide the caller into several accounts" },
  },
  {
    name: "ledger table",
    onlyIf: "while it is new",
    affects: "purchases",
    unit: "write units/s",
    capacity: () => TABLE_UNITS_AT_FIRST,
    perPurchase: writeUnits.ledger,
    source: sources.onDemand,
    symptom: {
      text: `${slowed} It ends without a change: the table takes twice its previous peak of the last 30 minutes.`,
      errors: busy.errors,
      logEvents: ["request.answered", "message.handled"],
      alarms: ["LedgerWriteThrottles"],
    },
    remedy: {
      by: "stage",
      text: "Raise the load over hours, or warm the table and its indexes before: `aws dynamodb update-table --warm-throughput`",
      cost: "once, by the units that are added; AWS's price list has the price",
    },
  },
  {
    name: "ledger table, quota",
    affects: "purchases",
    unit: "write units/s",
    capacity: () => TABLE_UNITS_MAX,
    perPurchase: writeUnits.ledger,
    source: sources.dynamoDbQuotas,
    symptom: { text: slowed, ...busy, alarms: ["LedgerWriteThrottles"] },
    remedy: { by: "stage", text: "The quota Table-level write throughput limit (DynamoDB)" },
  },
  {
    name: "rate limit of an order's route",
    affects: "purchases",
    unit: "requests/s",
    capacity: ({ requestsPerSecondMax }) => requestsPerSecondOf(routes.buyData, requestsPerSecondMax),
    perPurchase: 1,
    source: sources.routeLimits,
    assumed: "all purchases are of one kind, data or airtime",
    symptom: {
      text: "API Gateway answers 429 without X-Error-Code: callers send again.",
      alarms: ["GatewayThrottles"],
    },
    remedy: { by: "stage", setting: "requestsPerSecondMax", text: "Raise it" },
  },
  {
    name: "rate limit of the upstream's events",
    affects: "upstream events",
    unit: "requests/s",
    capacity: ({ requestsPerSecondMax }) => requestsPerSecondOf(routes.receiveUpstreamEvent, requestsPerSecondMax),
    perPurchase: 1,
    source: sources.routeLimits,
    assumed: "the upstream sends an event about every purchase",
    symptom: {
      text: "API Gateway answers the upstream 429. What it does not send again stays `processing`.",
      alarms: ["GatewayThrottles", "OpenFor15Minutes"],
    },
    remedy: {
      by: "stage",
      setting: "requestsPerSecondMax",
      text: "Raise it: this route has half of it",
    },
  },
  {
    name: "API Gateway, quota",
    affects: "purchases",
    unit: "requests/s",
    capacity: () => API_REQUESTS,
    perPurchase: purchaseBudgets.filter(({ responseBytes }) => responseBytes !== undefined).length,
    source: sources.apiGatewayQuotas,
    assumed: "no other API in the account; in some regions the quota is 2,500",
    symptom: { text: "API Gateway answers 429 without X-Error-Code.", alarms: ["GatewayThrottles"] },
    remedy: {
      by: "stage",
      text: "The quota Throttle rate (API Gateway), before you raise the setting",
    },
  },
  {
    name: "Lambda concurrency",
    onlyIf: "in a new AWS account",
    affects: "purchases",
    unit: "concurrent invocations",
    capacity: () => assumed.newAccountConcurrency,
    perPurchase: invocationS(),
    source: sources.lambdaQuotas,
    assumed: `the quota is ${assumed.newAccountConcurrency}: AWS says that it is reduced, and not to what`,
    symptom: { text: unanswered, alarms: ["PurchaseThrottles", "ServerErrors"] },
    remedy: {
      by: "stage",
      text: "The quota Concurrent executions (Lambda), before the first sale. `doctor` shows it",
    },
  },
  {
    name: "Lambda concurrency",
    affects: "purchases",
    unit: "concurrent invocations",
    capacity: () => LAMBDA_CONCURRENCY,
    perPurchase: invocationS(),
    source: sources.lambdaConcurrency,
    assumed: "no other functions in the account",
    symptom: { text: unanswered, alarms: ["PurchaseThrottles", "ServerErrors"] },
    remedy: {
      by: "stage",
      setting: "reservedConcurrency",
      text: "After the quota Concurrent executions (Lambda), as `doctor` says",
    },
  },
  {
    name: "Lambda's growth",
    onlyIf: "if the load begins at once",
    affects: "purchases",
    unit: "new instances in 10 s",
    capacity: () => LAMBDA_GROWTH_IN_10_S,
    perPurchase: invocationS("purchase"),
    source: sources.lambdaScaling,
    symptom: { text: `${unanswered} It ends after some tens of seconds.`, alarms: ["PurchaseThrottles"] },
    remedy: {
      by: "code",
      text: "Provisioned concurrency; or callers that raise their load over a minute",
      cost: "the instances, also while they are idle",
    },
  },
  {
    name: "NAT gateways",
    affects: "purchases",
    unit: "connections/s to one address",
    capacity: (settings) => NAT_CONNECTIONS * assumed.upstreamAddresses * addressesOf(settings),
    perPurchase: invocationsOf().filter(({ waitsFor }) => waitsFor === "upstream").length,
    source: sources.natGateway,
    assumed: `the upstream has ${assumed.upstreamAddresses} address, and functions run in all zones evenly. Every order has a connection of its own, by design`,
    symptom: {
      text: "Connections fail, so the orders are not sent: they are refunded. ErrorPortAllocation of the NAT gateway counts them.",
      errors: ["delivery_failed"],
      logEvents: ["upstream.unreachable"],
      alarms: ["Event-upstream.unreachable"],
    },
    remedy: {
      by: "stage",
      setting: "egress.zones",
      text: "Up to 3; beyond that `egress` of kind `existing`, with more addresses. The upstream whitelists them first",
      cost: `${zoneDollars.toFixed(2)} USD a month for each zone`,
    },
  },
  {
    name: "concurrency of deliver-webhook",
    affects: "webhooks",
    unit: "concurrent invocations",
    capacity: ({ maxConcurrency }) => maxConcurrency.delivery,
    perPurchase: invocationS("deliver-webhook", "full"),
    source: sources.settings,
    assumed: `an endpoint answers in ${assumedTimes.waitMs.endpoint} ms, and all messages come in batches of ${queues.delivery.batchSize}, which last as long as their slowest endpoint: if all take ${WEBHOOK_MS_MAX / 1_000} s, the limit is ${Math.floor(queues.delivery.concurrencyMax / slowestDeliveryS())}`,
    symptom: { text: "Webhooks are late; none is lost within 14 days.", alarms: ["DeliveryDepth", "DeliveryAge"] },
    remedy: {
      by: "stage",
      setting: "maxConcurrency.delivery",
      text: "Up to 1,000, within the quota of Lambda",
    },
  },
  {
    name: "concurrency of apply-upstream-event",
    affects: "upstream events",
    unit: "concurrent invocations",
    capacity: ({ maxConcurrency }) => maxConcurrency.outcomes,
    perPurchase: invocationS("apply-upstream-event"),
    source: sources.settings,
    assumed: "every message is alone in its batch",
    symptom: { text: "Settlements and refunds are late.", alarms: ["OutcomesDepth", "OutcomesAge"] },
    remedy: {
      by: "stage",
      setting: "maxConcurrency.outcomes",
      text: "Up to 1,000, within the quota of Lambda",
    },
  },
  {
    name: "messages in flight",
    onlyIf: "while most events fail",
    affects: "webhooks",
    unit: "messages in the queue",
    per: "account",
    capacity: () => IN_FLIGHT_MAX,
    perPurchase: waitsInQueueS,
    source: sources.sqs,
    assumed: `one account's endpoint fails for all but a few events, each of which waits in flight for ${Math.round(waitsInQueueS / 60)} minutes; those of an endpoint that fails for all are parked`,
    symptom: {
      text: "Beyond the quota SQS delivers nothing, to no account.",
      alarms: ["DeliveryInFlight", "DeliveryAge"],
    },
    remedy: {
      by: "stage",
      text: "Switch the endpoint off when the alarm is raised, at half of the quota (`admin webhook`)",
    },
  },
  {
    name: "shards of the ledger's stream",
    affects: "webhooks",
    unit: "batches at a time",
    capacity: () => assumed.streamShards,
    perPurchase: invocationS("enqueue-webhooks", "full"),
    source: sources.streamParameters,
    assumed: `${assumed.streamShards} shards, as many as partitions, each with one batch at a time`,
    symptom: {
      text: "Webhooks are late. After 23 hours changes become dead letters.",
      alarms: ["LedgerStreamBehind", "LedgerDeadLetters"],
    },
    remedy: {
      by: "code",
      text: "A parallelization factor of up to 10 for the mapping (`infra/streams.ts`), or more memory. The table has more shards by then",
    },
  },
  {
    name: "item of the purchases switch",
    affects: "purchases",
    unit: "read units/s",
    capacity: () => PARTITION_READ_UNITS,
    perPurchase: (invocationS("purchase") * 1_000) / GATE_CACHE_MS,
    source: sources.partition,
    assumed: "every instance is busy, and reads the item as often as its cache ends",
    symptom: {
      text: "Orders are refused before the debit.",
      errors: ["provider_unavailable"],
      logEvents: ["purchases.unreadable"],
      alarms: ["Event-purchases.unreadable"],
    },
    remedy: {
      by: "code",
      text: "Cache it for longer (`GATE_CACHE_MS`): a switch then takes effect later",
    },
  },
  {
    name: "Secrets Manager, quota",
    affects: "purchases",
    unit: "requests/s",
    capacity: () => SECRET_REQUESTS,
    perPurchase: secretFetches(),
    source: sources.secretsManager,
    symptom: {
      text: `Instances use what they have in memory. For an order that meets a new one: ${unanswered}`,
      logEvents: ["request.outcome_unknown"],
      alarms: ["PurchaseErrors"],
    },
    remedy: {
      by: "code",
      text: "AWS does not raise it: cache secrets for longer (`SECRET_CACHE_MS`)",
    },
  },
  {
    name: "CloudWatch Logs, requests",
    affects: "logs",
    unit: "requests/s",
    capacity: () => LOG_REQUESTS,
    perPurchase:
      invocationsOf().length + purchaseBudgets.filter(({ responseBytes }) => responseBytes !== undefined).length,
    source: sources.cloudWatchLogs,
    assumed:
      "every invocation and every access log line is a request of its own: an upper bound, because AWS collects lines and does not say how many. There is no quota on bytes",
    symptom: {
      text: "Lines are late or missing, and with them metrics that are made from lines; no purchase fails. There are fewer lines than API Gateway counts requests.",
      logEvents: ["request.answered"],
    },
    remedy: { by: "stage", text: "The quota PutLogEvents throttle limit (CloudWatch Logs)" },
  },
  {
    name: "reading for reconciliations",
    affects: "reconciliation",
    unit: "seconds of reading/s",
    capacity: () => runShare,
    perPurchase: measured.reconcileTransactionMs / 1_000,
    perAccount: assumedTimes.callMs / BATCH_KEYS_MAX / SCHEDULE_MS,
    source: sources.reconciliation,
    assumed: "a transaction is read in the time that docs/performance.md shows for the local emulator",
    symptom: {
      text: "Wallets are reconciled less often than daily. A wallet that a run does not reach raises no alarm, and counts in the run's `unreached`; one that it cannot finish raises one after 25 hours.",
      logEvents: ["wallet.not_reconciled", "reconcile-ledger.ran"],
      alarms: ["Event-wallet.not_reconciled"],
    },
    remedy: {
      by: "code",
      text: "More memory for `reconcile-ledger` (`functions/specs.ts`), or several invocations that divide the accounts",
      cost: `at most ${halfGbDollars.toFixed(2)} USD a month for 512 MB more`,
    },
  },
  {
    name: "alarm on log bytes of purchase",
    affects: "alarm only",
    unit: "bytes/s",
    capacity: ({ logBytesPerHourMax }) => logBytesPerHourMax / HOUR_S,
    perPurchase: functionLogBytes(budgets.purchase),
    source: sources.settings,
    symptom: {
      text: "The alarm is raised in a normal state. No customer loses anything.",
      alarms: ["PurchaseLogBytes"],
    },
    remedy: { by: "stage", setting: "logBytesPerHourMax", text: "Raise it" },
  },
];
