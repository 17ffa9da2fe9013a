import type { LogCatalog } from "./log.ts";

const thrown = { error: "string", at: "string?" } as const;

/**
 * Every event that a function logs. `meaning` begins with what a customer loses, where one does; both texts become the
 * event's alarm and its line in docs/operations.md. Functions import types of this module only, so no text of it is in
 * a bundle.
 */
export const logEvents = {
  "request.answered": {
    level: "info",
    fields: {
      request_id: "string",
      route: "string?",
      status: "number?",
      code: "string?",
      account: "string?",
      key: "string?",
      mode: "string?",
      reference: "string?",
      duration_ms: "number",
    },
    meaning: "A request was answered.",
    action: "None.",
  },
  "request.outcome_unknown": {
    level: "warn",
    fields: { request_id: "string?", route: "string?", ...thrown },
    meaning: "A caller got a 5xx without `X-Error-Code`: the outcome of its order is unknown to it.",
    action: "None: the caller sends the same reference again, and the order settles by itself.",
  },
  "request.failed": {
    level: "alarm",
    fields: { request_id: "string?", ...thrown },
    meaning: "A caller got a 500 for a fault of the service; the outcome of its order may be unknown to it.",
    action: "Search the logs for the request_id.",
  },
  "console.answered": {
    level: "info",
    fields: {
      request_id: "string",
      route: "string?",
      status: "number",
      code: "string?",
      role: "string?",
      account: "string?",
      person: "string?",
      duration_ms: "number",
    },
    meaning:
      "A request of the console was answered. `person` is the subject that the identity provider gave; `role` is in what capacity the person did it.",
    action: "None.",
  },
  "console.failed": {
    level: "alarm",
    fields: { request_id: "string", route: "string?", ...thrown },
    meaning:
      "A person got a 500 in the console. `UnverifiedTokenError`: a token is not the one that API Gateway verified.",
    action: "Search the logs for the request_id. After an UnverifiedTokenError, check the console's authorizer.",
  },
  "order.outcome_not_recorded": {
    level: "alarm",
    fields: { reference: "string", ...thrown },
    meaning: "A customer's money is debited, and neither the ledger nor the outcomes queue took the outcome.",
    action: "admin transactions list --open, then ask the upstream and resolve it.",
  },
  "purchases.unreadable": {
    level: "alarm",
    fields: thrown,
    meaning: "Orders are refused (503): whether purchases are on could not be read from the cache table.",
    action: "Check DynamoDB.",
  },
  "purchases.still_off": {
    level: "alarm",
    fields: { since: "string" },
    meaning: "Orders are refused (503): purchases have been off for more than an hour.",
    action: "admin purchases show, then admin purchases on, unless a restore is under way.",
  },
  "order.claim_lookup_failed": {
    level: "warn",
    fields: { attempt: "string", ...thrown },
    meaning: "A waiting order may be claimed or not: the write had no answer, and reading the order failed too.",
    action: "None: the outcomes queue makes it wait again. Check DynamoDB if it repeats.",
  },
  "order.waited_too_long": {
    level: "alarm",
    fields: { reference: "string", waited_s: "number" },
    meaning: "A customer's order was refunded: it waited for the upstream's limit longer than the stage allows.",
    action: "admin transactions list --waiting. Add an upstream key, or ask the upstream for a higher limit.",
  },
  "order.not_sent_after_restore": {
    level: "alarm",
    fields: { reference: "string" },
    meaning: "A restored ledger has an order that waited at the time of the backup: it may have been sent since.",
    action: "Ask the upstream about the reference, then admin transactions resolve.",
  },
  "order.sender_failed": {
    level: "alarm",
    fields: { reference: "string", ...thrown },
    meaning: "A customer waits: an order that waited could not be sent, refunded or made to wait again.",
    action: "admin transactions show. The next run tries again, unless the order was claimed; then ask the upstream.",
  },
  "waiting_orders.unreadable": {
    level: "alarm",
    fields: { account: "string", ...thrown },
    meaning: "An account's waiting orders are neither sent nor refunded: this release cannot read one of them.",
    action: "Deploy the release that wrote them. admin transactions list --account.",
  },
  "upstream_pace.not_noted": {
    level: "warn",
    fields: thrown,
    meaning: "The upstream's limit is spent, and the other instances do not know it.",
    action: "None: each learns it by a refusal, and its orders wait. Check DynamoDB if it repeats.",
  },
  "upstream_refusal.not_noted": {
    level: "warn",
    fields: thrown,
    meaning: "The console and `doctor` do not know that the upstream refuses orders, or that it accepts them again.",
    action: "None: the next order is noted. Check DynamoDB if it repeats.",
  },
  "debit.not_voided": {
    level: "warn",
    fields: { attempt: "string", ...thrown },
    meaning: "A debit had no answer, or an order is cancelled, and the write that voids the debit failed.",
    action:
      "None: the outcomes queue voids or refunds a debit, and a cancellation is answered as unknown. Check DynamoDB if it repeats.",
  },
  "ledger.write_indeterminate": {
    level: "warn",
    fields: { attempt: "string?", key: "string?", ...thrown },
    meaning: "A write to the ledger had no answer. It is sent again under the same token, so that it has one effect.",
    action: "None. Check DynamoDB if it repeats.",
  },
  "settlement.attempt_failed": {
    level: "warn",
    fields: { attempt: "string", ...thrown },
    meaning: "One attempt to settle a transaction failed. It is retried, or goes to the outcomes queue.",
    action: "None. Check DynamoDB if it repeats.",
  },
  "transaction.contradicted": {
    level: "alarm",
    fields: {
      transaction: "string",
      stands: "string",
      amount_kobo: "number",
      says: "string",
      upstream_reference: "string?",
      upstream_amount_kobo: "number?",
    },
    meaning: "A customer may be wrongly charged or refunded: the upstream reported the opposite of a final status.",
    action: "Nothing was changed. admin transactions show, then ask the upstream.",
  },
  "transaction.amount_differs": {
    level: "alarm",
    fields: { transaction: "string?", ours: "number?", theirs: "number?", upstream_reference: "string?" },
    meaning: "The upstream charges another amount for an order than the caller pays.",
    action: "Correct the price in infra/stages.ts, or ask the upstream.",
  },
  "upstream.outcome_unknown": {
    level: "warn",
    fields: { reference: "string", reason: "string" },
    meaning: "The upstream gave no answer that says what became of an order.",
    action: "None: its event settles a purchase, and an identity check is refunded.",
  },
  "upstream.rate_limited": {
    level: "warn",
    fields: { reference: "string", reason: "string" },
    meaning: "The upstream's rate limit refused an order: it waits, or is refunded where orders do not wait.",
    action: "If it repeats, ask the upstream for more keys or a higher limit.",
  },
  "upstream.order_limited": {
    level: "warn",
    fields: { reference: "string", reason: "string" },
    meaning: "The upstream refused one order with 429 although its limit is not spent: the order waits, others do not.",
    action: "None: it is sent again, and refunded after some refusals. If it repeats, ask the upstream for its rule.",
  },
  "upstream.account_error": {
    level: "alarm",
    fields: { reference: "string", reason: "string" },
    meaning: "Nothing is sold: the upstream refuses the service's key, its address or its balance.",
    action: "admin doctor.",
  },
  "upstream.key_rejected": {
    level: "alarm",
    fields: { upstream_key: "string", status: "number", group: "string" },
    meaning: "Fewer orders a minute can be sent: the upstream refuses one of the service's keys. The others are used.",
    action:
      "Ask the upstream about the key with the id upstream_key, or set the others: admin secrets set upstream-key.",
  },
  "upstream.answer_unrecognized": {
    level: "alarm",
    fields: { reference: "string", reason: "string" },
    meaning:
      "A customer's purchase stays `processing`, or a check is refunded: an answer came that is not the upstream's own.",
    action:
      "Check upstreamBaseUrl in infra/stages.ts; if it repeats, admin purchases off. Ask the upstream about each reference.",
  },
  "upstream.not_ready": {
    level: "warn",
    fields: { reason: "string" },
    meaning: "An order was refused before its debit (503): the upstream cannot take it now.",
    action: "None, unless it lasts: then admin doctor.",
  },
  "upstream_event.refused": {
    level: "alarm",
    fields: { request_id: "string" },
    meaning: "Open purchases do not settle by themselves: the upstream sends events that are no JSON object.",
    action: "Ask the upstream what it sends.",
  },
  "upstream_event.escalated": {
    level: "alarm",
    fields: { reason: "string", problem: "string?", upstream_reference: "string?", transaction: "string?" },
    meaning: "A customer may wait for an outcome: an event of the upstream needs an operator's decision.",
    action: "admin events list.",
  },
  "identity.date_unreadable": {
    level: "warn",
    fields: { reference: "string", field: "string", shape: "string" },
    meaning: "A date of an identity record could not be read and is left out of the result.",
    action: "Compare its shape with the setting upstreamDates.",
  },
  "identity_check.not_refunded": {
    level: "error",
    fields: { transaction: "string", error: "string?", at: "string?" },
    meaning: "The refund of an abandoned identity check was not written. The next run tries again.",
    action: "None, until the alarm on OldestUnrefundedSeconds.",
  },
  "replay.not_stored": {
    level: "warn",
    fields: { reference: "string", ...thrown },
    meaning: "An identity result could not be stored: a replay of its request cannot show it.",
    action: "None. Check DynamoDB and Secrets Manager if it repeats.",
  },
  "catalog.replaced": {
    level: "info",
    fields: { plans: "number", added: "string", removed: "string", repriced: "string" },
    meaning: "A new catalog is served.",
    action: "None.",
  },
  "catalog.refresh_failed": {
    level: "alarm",
    fields: {
      reason: "string",
      answer: "string?",
      at: "string?",
      dropped: "string?",
      bytes: "number?",
      plans: "number?",
      plans_before: "number?",
    },
    meaning:
      "Plans and prices grow old: the upstream's catalog did not come or was rejected. The previous one is served.",
    action: "admin catalog diff.",
  },
  "catalog.entries_dropped": {
    level: "alarm",
    fields: { dropped: "string" },
    meaning:
      "Some networks or plans are not sold: entries of the upstream's catalog cannot be read. The others are sold.",
    action: "admin catalog show.",
  },
  "catalog.entries_still_dropped": {
    level: "warn",
    fields: { dropped: "string" },
    meaning: "The same entries of the upstream's catalog as in the last refresh cannot be read.",
    action: "admin catalog show.",
  },
  "catalog.stale": {
    level: "alarm",
    fields: { filled: "boolean" },
    meaning: "No data bundle is sold: the catalog is older than 24 hours, or was never fetched.",
    action: "admin doctor.",
  },
  "catalog.read_failed": {
    level: "warn",
    fields: thrown,
    meaning: "The catalog could not be read from the cache table. The copy in memory is served.",
    action: "None. Check DynamoDB if it repeats.",
  },
  "catalog.change_not_announced": {
    level: "alarm",
    fields: { reason: "string?", error: "string?", at: "string?" },
    meaning:
      "Subscribed apps did not get `catalog.updated` yet: the event of a change could not be enqueued. Each run tries again; " +
      "with the reason too_many, an old change was given up.",
    action: "Read the log of refresh-catalog.",
  },
  "catalog.unreadable": {
    level: "error",
    fields: thrown,
    meaning: "This version cannot read the stored catalog. The refresh replaces it.",
    action: "None, unless it repeats.",
  },
  "refresh-catalog.ran": {
    level: "info",
    fields: { kind: "string", plans: "number?", reason: "string?" },
    meaning: "The catalog's run of this minute has ended.",
    action: "None.",
  },
  "reconcile-ledger.ran": {
    level: "info",
    fields: { open: "number", refunded: "number", mismatches: "number", phones_masked: "number" },
    meaning: "The ledger's run of this minute has ended.",
    action: "None.",
  },
  "requeue-deliveries.ran": {
    level: "info",
    fields: { accounts: "number", requeued: "number", low_balances: "number" },
    meaning:
      "The run of this minute over accounts with parked deliveries, and over balances that may be low, has ended.",
    action: "None.",
  },
  "send-waiting-orders.ran": {
    level: "info",
    fields: { waiting: "number", sent: "number", refunded: "number" },
    meaning: "The run of this minute over waiting orders has ended.",
    action: "None.",
  },
  "wallet.not_reconciled": {
    level: "alarm",
    fields: { account: "string", reason: "string?", error: "string?", at: "string?" },
    meaning: "A wrong balance would not be noticed: a wallet could not be reconciled.",
    action: "Read the log of reconcile-ledger, then admin wallet verify.",
  },
  "wallet.difference": {
    level: "warn",
    fields: { account: "string", difference_kobo: "number" },
    meaning: "A wallet's balance differed from its entries once. The next run reads it again.",
    action: "None: a confirmed difference is a wallet.mismatch.",
  },
  "wallet.mismatch": {
    level: "error",
    fields: { account: "string", difference_kobo: "number" },
    meaning: "A customer's balance is wrong: it differed from its entries in two runs.",
    action: "Follow the alarm on LedgerMismatches: admin wallet verify.",
  },
  "phone_numbers.not_masked": {
    level: "alarm",
    fields: { owner: "string?", ...thrown },
    meaning: "Phone numbers stay in the ledger for longer than the stage allows. No customer loses anything.",
    action: "Read the log of reconcile-ledger.",
  },
  "message.handled": {
    level: "info",
    fields: { message_id: "string", kind: "string", outcome: "string?", reason: "string?", after_s: "number?" },
    meaning: "A message of a queue was handled, or is retried.",
    action: "None.",
  },
  "message.failed": {
    level: "error",
    fields: thrown,
    meaning: "A message of a queue failed and is retried, until it becomes a dead letter.",
    action: "None, until the alarm on dead letters.",
  },
  "message.not_postponed": {
    level: "error",
    fields: thrown,
    meaning: "A message could not be postponed: it is retried when its visibility timeout ends.",
    action: "None. Check SQS if it repeats.",
  },
  "change.handled": {
    level: "info",
    fields: { sequence_number: "string", outcome: "string" },
    meaning: "A change of the ledger's stream was handled.",
    action: "None.",
  },
  "change.failed": {
    level: "error",
    fields: { sequence_number: "string", ...thrown },
    meaning: "A change of the ledger's stream failed. The stream is retried from there.",
    action: "None, until the alarm on the stream's age.",
  },
  "changes.counted": {
    level: "info",
    fields: { changes: "number", ended: "number", balances: "number" },
    meaning: "A batch of the ledger's stream was added to the statistics.",
    action: "None.",
  },
  "webhook.attempted": {
    level: "info",
    fields: {
      account: "string",
      webhook_id: "string",
      number: "number",
      at: "string",
      outcome: "string",
      http_status: "number?",
      answer_bytes: "number?",
      duration_ms: "number",
      next_step: "string",
    },
    meaning: "A webhook was sent once to an app's endpoint.",
    action: "None.",
  },
  "webhook.exhausted": {
    level: "warn",
    fields: { account: "string" },
    meaning: "An app did not receive a webhook in any of its attempts.",
    action: "Tell the app's owner. admin announce sends it again.",
  },
  "webhook.endpoint_down": {
    level: "warn",
    fields: { account: "string" },
    meaning: "An app's endpoint is down: its webhooks wait, and one at a time is sent as a probe.",
    action: "Tell the app's owner if it lasts. admin webhook show.",
  },
  "deliveries.not_requeued": {
    level: "alarm",
    fields: { account: "string", ...thrown },
    meaning:
      "An app's webhooks wait: its parked deliveries could not be put back into the queue. The next run tries again.",
    action: "Read the log of requeue-deliveries.",
  },
  "low_balances.not_checked": {
    level: "alarm",
    fields: { account: "string?", reason: "string?", error: "string?", at: "string?" },
    meaning:
      "An app's `wallet.low` is late: its balance could not be compared with its threshold. The next run tries again.",
    action: "Read the log of requeue-deliveries.",
  },
  "webhook.switched_off": {
    level: "alarm",
    fields: { account: "string", reason: "string" },
    meaning: "An app receives no webhooks: its endpoint was switched off, because it is gone or kept failing.",
    action: "Tell the app's owner. admin webhook.",
  },
  "rate_counters.not_removed": {
    level: "warn",
    fields: thrown,
    meaning: "Old rate counters of a key could not be removed. Its next request tries again.",
    action: "None.",
  },
} as const satisfies LogCatalog;
export type LogEvents = typeof logEvents;
