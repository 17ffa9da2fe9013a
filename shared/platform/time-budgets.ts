/**
 * How long each step may take, and what it leaves for the steps after it.
 * test/unit/shared/platform/time-budgets.test.ts asserts how they relate; docs/reliability.md has the table.
 */

import { MINUTE_MS } from "../contract/values/durations.ts";

/** After this API Gateway itself responds with 503. Source: AWS, "Quotas for configuring and running an HTTP API". */
export const API_GATEWAY_TIMEOUT_S = 30;
/** Longest that a function with an API route runs. */
export const API_FUNCTION_TIMEOUT_S = 29;
export const QUEUE_FUNCTION_TIMEOUT_S = 30;
export const REFRESH_FUNCTION_TIMEOUT_S = 60;
export const RECONCILE_FUNCTION_TIMEOUT_S = 300;
export const REQUEUE_FUNCTION_TIMEOUT_S = 60;
export const SEND_FUNCTION_TIMEOUT_S = 60;
export const NOTIFY_FUNCTION_TIMEOUT_S = 60;
export const ASK_FUNCTION_TIMEOUT_S = 60;

/** One call of the AWS SDK, which by default has no time-out. */
export const AWS_ATTEMPTS_MAX = 2;
export const AWS_CONNECT_MS_MAX = 1_000;
/** Until the response's headers; then again each time that its body stops. */
export const AWS_RESPONSE_MS_MAX = 2_000;

/** Reserved for the response, once the outcomes queue has the message. */
export const RESPONSE_RESERVE_MS = 500;
/** Reserved for queueing an outcome that could not be written (one attempt of the SDK) and for the response. */
export const QUEUE_RESERVE_MS = 3_000 + RESPONSE_RESERVE_MS;
/** Reserved for one write or read of the transaction, and for the queue that may be needed after it. */
export const SETTLE_RESERVE_MS = 1_500 + QUEUE_RESERVE_MS;
/** Reserved after the upstream's response: for storing an identity result for replays, then for the settlement. */
export const UPSTREAM_RESERVE_MS = 1_000 + SETTLE_RESERVE_MS;

/** Longest wait for the upstream's response. */
export const UPSTREAM_MS_MAX = 20_000;
/** Part of it in which the connection must be established. */
export const UPSTREAM_CONNECT_MS_MAX = 5_000;
/** No order is sent with less time than this. */
export const UPSTREAM_MS_MIN = 1_000;
/** Reserved for the upstream while a debit waits for a busy wallet: it responds to most orders within a few seconds. */
export const UPSTREAM_SHARE_MS = 10_000;

/** The clocks of two processes differ by less. */
export const CLOCK_DIFFERENCE_MS_MAX = 10_000;
/** Grace period in which an order's own request may still settle it, by the clock of the process that decides. */
export const ORDER_GRACE_MS = API_FUNCTION_TIMEOUT_S * 1_000 + CLOCK_DIFFERENCE_MS_MAX;

/** How long a key's request counter is retried: a change of the account holds the key's item for milliseconds. */
export const RATE_COUNT_RETRY_MS_MAX = 2_000;
/** How long a batch read is retried for the keys that DynamoDB left out. */
export const BATCH_READ_RETRY_MS_MAX = 3_000;
/** How long a write of one item is retried while another transaction holds the item. */
export const CONTENTION_RETRY_MS_MAX = 5_000;
export const OPERATOR_RETRY_MS_MAX = 10_000;

/**
 * How long work waits for a promise of another invocation, which never resolves if Lambda froze or ended that
 * invocation.
 */
export const JOIN_MS_MAX = 3_000;

/** One webhook attempt, from the host's resolution to the last byte of the response. Source: docs/interface.md 15.4. */
export const WEBHOOK_MS_MAX = 5_000;
/** Part of it for each address of the host. */
export const WEBHOOK_CONNECT_MS_MAX = 2_000;

/** How often the schedules invoke their functions. */
export const SCHEDULE_MS = MINUTE_MS;
/**
 * Wallets are reconciled in the first part of a run, phone numbers masked in the second: a run ends before the next one
 * starts.
 */
export const RECONCILE_WALLETS_MS_MAX = 30_000;
export const MASK_PHONES_MS_MAX = 30_000;
/** Once an hour, sums of orders are added up behind both. Two runs at a time do the same work twice, and nothing else. */
export const ADD_SUMS_MS_MAX = 30_000;
/** Once a day, closed months are verified after all of that. */
export const VERIFY_PERIODS_MS_MAX = 15_000;
/** One large wallet must not take the others' time: the next run continues where this one stopped. */
export const RECONCILE_WALLET_MS_MAX = 10_000;
/** One refund that cannot be written must not take the others' time: 3 s of attempts, and the reserve for the queue. */
export const REFUND_MS_MAX = 3_000 + QUEUE_RESERVE_MS;
/** A run claims no queued order with less time: what it has claimed is sent and settled before the next run starts. */
export const SEND_QUEUED_RESERVE_MS = 35_000;
/** How long a run claims queued orders. */
export const SENDING_MS = SEND_FUNCTION_TIMEOUT_S * 1_000 - SEND_QUEUED_RESERVE_MS;
/** Part of it in which queues are read: most of it is for their orders. */
export const OPEN_LANES_MS_MAX = 10_000;
/**
 * The request of a claimed order begins within this time, counted from before its claim, or not at all: the claim's
 * attempts, the read that resolves it, and the connection.
 */
export const TURN_BEGIN_MS_MAX = 12_000;
/** The claim of one queued order: 3 s of attempts, and the reserve for the queue. */
export const CLAIM_MS_MAX = 3_000 + QUEUE_RESERVE_MS;
/** From its claim on, a queued order has as long as a request: after the grace period an operator may resolve it. */
export const CLAIMED_ORDER_MS_MAX = API_FUNCTION_TIMEOUT_S * 1_000;
/** No endpoint's parked deliveries are requeued later in a run, which then ends before the next one starts. */
export const REQUEUE_ENDPOINTS_MS_MAX = 30_000;
/** Balances are checked for this long behind them, and limits in the rest: many of one must not leave out the other. */
export const CHECK_BALANCES_MS_MAX = 10_000;
/** How long accounts are checked for what people are notified of: the messages are sent in the rest of the run. */
export const CHECK_ACCOUNTS_MS_MAX = 30_000;
/** Part of it for orders that are stuck. */
export const READ_STUCK_MS_MAX = 10_000;
/** How long a run reads open orders before it asks for the first ones: the rest of its time is for their answers. */
export const READ_OPEN_MS_MAX = 15_000;
/** How long the upstream has for the answer to a lookup. */
export const LOOKUP_MS_MAX = 5_000;
/** No lookup is begun with less time: its answer is queued and noted before the next run starts. */
export const ASK_RESERVE_MS = LOOKUP_MS_MAX + UPSTREAM_RESERVE_MS + 4_000;
/** Reserved for the end of a run. */
export const RUN_RESERVE_MS = 10_000;
