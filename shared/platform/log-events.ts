import type { LogCatalog } from "./log-catalog.ts";

const thrown = { error: "string", at: "string?" } as const;
/** Of an event that may also have a reason of its own. */
const mayThrow = { error: "string?", at: "string?" } as const;
/** What a message is about: the id in our reference of a transaction, and the upstream's reference. */
const message = { message_id: "string", transaction: "string?", upstream_reference: "string?" } as const;

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
      upstream_ms: "number?",
    },
    meaning: "A request was answered. `upstream_ms`: the part of `duration_ms` that the upstream took.",
  },
  "request.outcome_unknown": {
    level: "warn",
    fields: { request_id: "string?", route: "string?", ...thrown },
    meaning: "A caller got a 5xx without `X-Error-Code`: the outcome of its order is unknown to it.",
    action: "None: the caller sends the same reference again, and the order settles by itself.",
  },
  "request.not_served": {
    level: "warn",
    fields: { request_id: "string?", ...thrown },
    meaning: "A caller got a 500 because AWS did not answer a call, or throttled it.",
    action: "None: the caller sends its request again. If it goes on, ServerErrors is raised.",
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
      "An action was answered. `person` is the subject that the identity provider gave, or the ARN of the operator's AWS identity; `role` is in what capacity the person did it.",
  },
  "console.failed": {
    level: "alarm",
    fields: { request_id: "string", route: "string?", ...thrown },
    meaning:
      "An action was answered with 500. `UnverifiedTokenError`: a token is not the one that API Gateway verified.",
    action: "Search the logs for the request_id. After an UnverifiedTokenError, check the console's authorizer.",
  },
  "order.outcome_not_recorded": {
    level: "alarm",
    fields: { reference: "string", ...thrown },
    meaning: "A customer's money is debited, and neither the ledger nor the outcomes queue took the outcome.",
    action: "admin transactions list --open, then ask the upstream and resolve it.",
  },
  "reference_key.differs": {
    level: "alarm",
    stopsSales: true,
    fields: {},
    meaning:
      "Orders get a 500 without X-Error-Code, and lookups a 500: the present reference key is not the one that the ledger was written with, so that no earlier reference would be found.",
    action: 'Make the ledger\'s own key current again: "Reference key" in docs/runbook.md.',
  },
  "checksum_key.unreadable": {
    level: "warn",
    fields: thrown,
    meaning: "Invented API keys cost a write each: the key of the checksums could not be read.",
    action: "None: it is read again after a minute. Check Secrets Manager if it repeats.",
  },
  "identity_key.unusable": {
    level: "alarm",
    stopsSales: true,
    repeated: true,
    fields: thrown,
    meaning:
      "Identity checks are refused (503) and not charged: KMS did not hash the number of the person who is checked.",
    action: 'Check KMS, the key and its policy: "Identity key" in docs/runbook.md.',
  },
  "purchases.unreadable": {
    level: "alarm",
    stopsSales: true,
    repeated: true,
    fields: thrown,
    meaning: "Orders are refused (503): whether purchases are on could not be read from the cache table.",
    action: "Check DynamoDB.",
  },
  "purchases.still_off": {
    level: "alarm",
    stopsSales: true,
    fields: { since: "string" },
    meaning: "Orders are refused (503): purchases have been off for more than an hour.",
    action: "admin purchases show, then admin purchases on, unless a restore is under way.",
  },
  "purchases.part_still_off": {
    level: "alarm",
    fields: { part: "string", since: "string" },
    meaning: "Orders of a network or a kind are refused (503): it has been off for more than an hour.",
    action: "admin purchases show, then admin purchases on --part PART, unless it is to stay off.",
  },
  "order.claim_lookup_failed": {
    level: "warn",
    fields: { write_token: "string", ...thrown },
    meaning: "A queued order may be claimed or not: the write had no answer, and reading the order failed too.",
    action: "None: the outcomes queue makes it wait again. Check DynamoDB if it repeats.",
  },
  "order.queue_lookup_failed": {
    level: "warn",
    fields: { write_token: "string", ...thrown },
    meaning: "An order could not begin to wait: reading its account's queue failed.",
    action: "None: the outcomes queue makes it wait. Check DynamoDB if it repeats.",
  },
  "order.turn_over": {
    level: "warn",
    fields: { reference: "string" },
    meaning:
      "A claimed order was not sent: its process stood still, or one before it was refused. It waits again, or is refunded if a later one may have been.",
    action: "None. If it repeats without upstream.rate_limited, give send-queued-orders more memory.",
  },
  "order.refunded_restricted": {
    level: "warn",
    fields: { reference: "string", waited_s: "number" },
    meaning: "A queued order of a restricted account was refunded: its time was over.",
    action: "None.",
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
  "queued_orders.unreadable": {
    level: "alarm",
    urgency: "page",
    fields: { account: "string?", record: "string?", ...thrown },
    meaning: "An account's queued orders are neither sent nor refunded: this release cannot read one of them.",
    action: "Deploy the release that wrote them. admin transactions list --account ACCOUNT.",
  },
  "open_order.unreadable": {
    level: "alarm",
    urgency: "page",
    fields: { record: "string", ...thrown },
    meaning: "An open order is not asked for, and a check not refunded: this release cannot read it. Others are.",
    action: "Deploy the release that wrote it.",
  },
  "queued_orders.not_read": {
    level: "warn",
    fields: { account: "string?", record: "string?", ...thrown },
    meaning: "An account's queued orders were not sent in this run, because they could not be read. Others were.",
    action: "None: the next run tries again. Check DynamoDB if it repeats.",
  },
  "queued_orders.missing": {
    level: "alarm",
    fields: { account: "string" },
    meaning: "A wallet counts a queued order that is not listed, as after a restore: the orders after it are sent now.",
    action:
      "admin transactions list --account ACCOUNT --status processing, then resolve as failed the one that still waits.",
  },
  "queued_orders.turn_not_ended": {
    level: "warn",
    fields: { account: "string", ...thrown },
    meaning: "New orders of the account wait, although none has to: the end of its turn could not be written.",
    action: "None: the next run ends it. Check DynamoDB if it repeats.",
  },
  "upstream_pace.not_noted": {
    level: "warn",
    fields: thrown,
    meaning: "The upstream takes no purchases now, or takes them again, and the other instances do not know it.",
    action: "None: each learns it by the upstream's answers. Check DynamoDB if it repeats.",
  },
  "upstream_refusal.not_noted": {
    level: "warn",
    fields: thrown,
    meaning: "The console and `doctor` do not know that the upstream refuses orders, or that it accepts them again.",
    action: "None: the next order is noted. Check DynamoDB if it repeats.",
  },
  "debit.not_voided": {
    level: "warn",
    fields: { write_token: "string", ...thrown },
    meaning: "A debit had no answer, or an order is cancelled, and the write that voids the debit failed.",
    action:
      "None: the outcomes queue voids or refunds a debit, and a cancellation is answered as unknown. Check DynamoDB if it repeats.",
  },
  "ledger.write_indeterminate": {
    level: "warn",
    fields: { write_token: "string?", ...thrown },
    meaning: "A write to the ledger had no answer. It is sent again under the same token, so that it has one effect.",
    action: "None. Check DynamoDB if it repeats.",
  },
  "settlement.attempt_failed": {
    level: "warn",
    fields: { write_token: "string", ...thrown },
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
    urgency: "page",
    fields: { transaction: "string?", ours: "number?", theirs: "number?", upstream_reference: "string?" },
    meaning: "The upstream states another amount for an order than is expected: it may cost more than it should.",
    action: "Ask the upstream, then correct identityPrices or upstreamCosts in stages.ts.",
  },
  "upstream.outcome_unknown": {
    level: "warn",
    fields: { reference: "string", reason: "string" },
    meaning: "The upstream gave no answer that says whether an order was carried out.",
    action: "None: its event settles a purchase, and an identity check is refunded.",
  },
  "upstream.refused": {
    level: "warn",
    fields: { reference: "string", reason: "string" },
    meaning: "The upstream refused an order for certain, with the HTTP status in `reason`: it was refunded.",
    action: "None. If most are refused, PurchasesFail is raised.",
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
    stopsSales: true,
    fields: { reference: "string?", reason: "string" },
    meaning: "Nothing is sold: the upstream's key is absent, or the upstream refuses it, our address or our balance.",
    action: "admin doctor.",
  },
  "upstream.unreachable": {
    level: "alarm",
    stopsSales: true,
    repeated: true,
    fields: { reference: "string", reason: "string" },
    meaning: "Orders are refunded (502) again and again: no connection to the upstream can be made.",
    action: 'Ask the upstream; the reason says why: "Upstream unreachable" in docs/runbook.md.',
  },
  "upstream.not_sent": {
    level: "warn",
    fields: { reference: "string", reason: "string" },
    meaning: "An order was refunded (502): its request had no time left to send it.",
    action: "None. Check DynamoDB if it repeats.",
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
    urgency: "page",
    fields: { reference: "string", reason: "string" },
    meaning:
      "A customer's purchase stays `processing`, or a check is refunded: an answer came that is not the upstream's own.",
    action:
      "Check upstreamBaseUrl in stages.ts; if it repeats, admin purchases off. Ask the upstream about each reference.",
  },
  "upstream.not_ready": {
    level: "warn",
    fields: { reason: "string" },
    meaning:
      "An order was refused before its debit (503), or an open order was not asked for: the upstream cannot be sent a request now.",
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
  "limit.near": {
    level: "warn",
    fields: { account: "string", key: "string?", limit: "string", max: "number" },
    meaning:
      "The live orders of an account, or with one of its keys, use more than 80 % of a limit of this day or month; orders beyond the limit are refused (422).",
    action:
      "Ask the app's owners whether the orders are meant, and raise the limit if they are: admin accounts limits.",
  },
  "identity.empty_checks": {
    level: "alarm",
    fields: { account: "string", in_a_row: "number" },
    meaning:
      "An account's live identity checks found no record, eight or more in a row: the caller may be guessing numbers, which is free.",
    action: 'Find out who, and restrict what the account may do: "Checks that find nobody" in docs/runbook.md.',
  },
  "identity.empty_check_not_counted": {
    level: "warn",
    fields: { account: "string", ...thrown },
    meaning: "A check that found nobody was refunded, but is missing in the count of those in a row.",
    action: "None. Check DynamoDB if it repeats.",
  },
  "identity.other_person": {
    level: "alarm",
    fields: { reference: "string" },
    meaning:
      "The upstream answered an identity check with a record of another NIN or BVN than was asked for. The caller got the result and was charged.",
    action: 'Ask the upstream, and tell the caller: "Record of another person" in docs/runbook.md.',
  },
  "identity.date_unreadable": {
    level: "warn",
    fields: { reference: "string", field: "string", shape: "string" },
    meaning: "A date of an identity record could not be read and is left out of the result.",
    action: "Compare its shape with dates in upstreamProfile.",
  },
  "identity_check.not_refunded": {
    level: "error",
    fields: { transaction: "string", ...mayThrow },
    meaning: "The refund of an abandoned identity check was not written. The next run tries again.",
    action: "None, until the alarm on OldestUnrefundedSeconds.",
  },
  "order_sums.not_advanced": {
    level: "error",
    fields: { account: "string", ...mayThrow },
    meaning: "What an account's orders cost was not added up. The next run tries again.",
    action: "None, unless it repeats: margins and the float then count these orders as read each time.",
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
  },
  "catalog.refresh_delayed": {
    level: "warn",
    fields: { answer: "string?" },
    meaning: "The upstream did not answer for its catalog, or was busy. The previous one is served.",
    action: "None: the next run tries again. If it goes on for 15 minutes, catalog.refresh_failed is raised.",
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
      "Plans and prices become stale: the upstream's catalog did not come or was rejected. The previous one is served.",
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
  "catalog.network_codes_removed": {
    level: "alarm",
    fields: { networks: "string" },
    meaning:
      "A network is no longer sold, or has another code in the upstream's catalog. Switches, prices and discounts of the old code do not count for it.",
    action: 'admin catalog show: "Network code removed" in docs/runbook.md.',
  },
  "catalog.stale": {
    level: "alarm",
    urgency: "page",
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
  "catalog.announcement_delayed": {
    level: "warn",
    fields: thrown,
    meaning: "A change of the catalog was not announced yet, because AWS did not answer a call, or throttled it.",
    action: "None: the next run tries again. If it goes on for 15 minutes, catalog.change_not_announced is raised.",
  },
  "catalog.change_not_announced": {
    level: "alarm",
    fields: { reason: "string?", ...mayThrow },
    meaning:
      "Subscribed apps did not get `catalog.updated` yet: the event of a change could not be enqueued for all. Each run tries again; " +
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
  },
  "reconcile-ledger.ran": {
    level: "info",
    fields: {
      open: "number",
      refunded: "number",
      mismatches: "number",
      unreached: "number?",
      phones_masked: "number",
      float_measured: "boolean",
      months_verified: "number",
    },
    meaning:
      "The ledger's run of this minute has ended. `unreached`: wallets for which there was no time; the next run begins with others.",
  },
  "requeue-deliveries.ran": {
    level: "info",
    fields: { endpoints: "number", requeued: "number", low_balances: "number", near_limits: "number" },
    meaning:
      "The run of this minute over endpoints with parked deliveries, balances that may be low, and limits of which little may be left has ended.",
  },
  "ask-upstream.ran": {
    level: "info",
    fields: {
      ...{ open: "number", due: "number", unread: "number?", asked: "number", ended: "number" },
      balance_read: "boolean",
    },
    meaning:
      "The run of this minute that asks the upstream for open orders has ended. `unread`: orders for which there was no time; the next run begins with others.",
  },
  "upstream.balance_not_read": {
    level: "warn",
    fields: { reason: "string" },
    meaning: "The upstream was asked for our balance there, and its answer has none. It is asked again in 10 minutes.",
    action: "None, unless it lasts: then compare the profile's balance with the answer (docs/upstream.md).",
  },
  "upstream.asked": {
    level: "info",
    fields: { reference: "string", finding: "string", details: "string?" },
    meaning: "The upstream was asked for an open order.",
  },
  "send-queued-orders.ran": {
    level: "info",
    fields: { queued: "number", sent: "number", refunded: "number" },
    meaning: "The run of this minute over queued orders has ended.",
  },
  "wallet.reconciliation_delayed": {
    level: "warn",
    fields: { account: "string", ...thrown },
    meaning: "A wallet was not reconciled in this run, because AWS did not answer a call, or throttled it.",
    action: "None: the next run tries again. After 25 hours, wallet.not_reconciled is raised.",
  },
  "wallet.not_reconciled": {
    level: "alarm",
    fields: { account: "string", reason: "string?", ...mayThrow },
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
  "period.differs": {
    level: "alarm",
    fields: { month: "string", account: "string?", differences: "number" },
    meaning: "Lines, sums or hashes of a month that finance has closed were changed. `account` is the first.",
    action: "admin periods verify names the first line of each account that differs.",
  },
  "period.verification_delayed": {
    level: "warn",
    fields: thrown,
    meaning: "The daily verification of closed months stopped, because AWS did not answer a call, or throttled it.",
    action: "None: the next run continues it. If it has not ended in two days, period.not_verified is raised.",
  },
  "float.measurement_delayed": {
    level: "warn",
    fields: thrown,
    meaning: "The float was not measured, because AWS did not answer a call, or throttled it.",
    action: "None: the next run tries again. If it goes on for three hours, float.not_measured is raised.",
  },
  "float.not_measured": {
    level: "alarm",
    fields: { reason: "string?", ...mayThrow },
    meaning:
      "A float that is nearly used up would not be noticed: its measurement failed, or has had no time for three hours, and the last one is reported.",
    action: "Read the log of reconcile-ledger, then admin float show.",
  },
  "period.not_verified": {
    level: "alarm",
    fields: thrown,
    meaning: "A change of a closed month would not be noticed: the daily verification failed.",
    action: "Read the log of reconcile-ledger, then admin periods verify.",
  },
  "phone_numbers.masking_delayed": {
    level: "warn",
    fields: { list: "string?", ...thrown },
    meaning: "The daily masking of phone numbers stopped, because AWS did not answer a call, or throttled it.",
    action: "None: the next run continues it. If it has not ended in three days, phone_numbers.not_masked is raised.",
  },
  "phone_numbers.not_masked": {
    level: "alarm",
    fields: { list: "string?", record: "string?", ...thrown },
    meaning: "Phone numbers stay in the ledger for longer than the stage allows. No customer loses anything.",
    action: "Read the log of reconcile-ledger.",
  },
  "message.handled": {
    level: "info",
    fields: { ...message, kind: "string", outcome: "string?", reason: "string?", after_s: "number?" },
    meaning: "A message of a queue was handled, or is retried. `transaction`: what follows the `_` in our reference.",
  },
  "message.failed": {
    level: "error",
    fields: { ...message, ...thrown },
    meaning: "A message of a queue failed and is retried, until it becomes a dead letter.",
    action: "None, until the alarm on dead letters.",
  },
  "message.not_postponed": {
    level: "error",
    fields: { ...message, ...thrown },
    meaning: "A message could not be postponed: it is retried when its visibility timeout ends.",
    action: "None. Check SQS if it repeats.",
  },
  "change.handled": {
    level: "info",
    fields: { outcome: "string", reference: "string?", status: "string?", network: "string?", code: "string?" },
    meaning: "A change of the ledger's stream was handled: a transaction became final.",
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
  },
  "audit.attested": {
    level: "info",
    fields: { changes: "number", attested: "number" },
    meaning: "The hashes of new audit entries were kept.",
  },
  "audit.copied": {
    level: "info",
    fields: { changes: "number", copied: "number" },
    meaning: "New audit entries were copied to the bucket of `auditCopy`.",
  },
  "audit.tampered": {
    level: "alarm",
    urgency: "page",
    fields: { audit_log: "string", sequence: "string", change: "string" },
    meaning:
      "An audit entry was overwritten, removed, unreadable or out of place. No code of the service does that; only out_of_order can follow once from a restore or from entries that attest-audit lost.",
    action: "admin audit verify, then find out whose credentials wrote it (docs/runbook.md).",
  },
  "proposal.broke_glass": {
    level: "alarm",
    urgency: "page",
    fields: { proposal: "string", action: "string", account: "string?" },
    meaning: "One person carried out alone what two people decide: money, or a limit of an account.",
    action: 'admin proposals list --state all, then speak with the person: "Break-glass" in docs/runbook.md.',
  },
  "webhook.attempted": {
    level: "info",
    fields: {
      account: "string",
      endpoint: "string",
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
  },
  "webhook.exhausted": {
    level: "warn",
    fields: { account: "string", endpoint: "string" },
    meaning: "An app did not receive a webhook in any of its attempts.",
    action: "Tell the app's owner. admin deliveries recover sends it again.",
  },
  "webhook.endpoint_down": {
    level: "warn",
    fields: { account: "string", endpoint: "string" },
    meaning: "An app's endpoint is down: its webhooks wait, and one at a time is sent as a probe.",
    action: "Tell the app's owner if it lasts. admin webhook show.",
  },
  "deliveries.requeue_delayed": {
    level: "warn",
    fields: { account: "string", endpoint: "string", ...thrown },
    meaning: "An app's parked deliveries wait longer, because AWS did not answer a call, or throttled it.",
    action: "None: the next run tries again. If it goes on for 15 minutes, deliveries.not_requeued is raised.",
  },
  "deliveries.not_requeued": {
    level: "alarm",
    fields: {
      ...{ account: "string", endpoint: "string", record: "string?", reason: "string?" },
      ...mayThrow,
    },
    meaning:
      "An app's webhooks wait: its parked deliveries could not be put back into the queue. The next run tries again.",
    action: "Read the log of requeue-deliveries.",
  },
  "subscriptions.not_checked": {
    level: "alarm",
    fields: {
      ...{ webhook: "string", account: "string?", record: "string?", reason: "string?" },
      ...mayThrow,
    },
    meaning:
      "An app's `wallet.low` or `limit.near` is late: its balance or its limits could not be read. The next run tries again.",
    action: "Read the log of requeue-deliveries.",
  },
  "webhook.switched_off": {
    level: "alarm",
    fields: { account: "string", endpoint: "string", reason: "string" },
    meaning: "An app receives no webhooks: its endpoint was switched off, because it is gone or kept failing.",
    action: "Tell the app's owner. admin webhook show.",
  },
  "send-notifications.ran": {
    level: "info",
    fields: {
      ...{ recipients: "number", sent: "number", not_sent: "number" },
      ...{ unchecked: "number?", unreached: "number?" },
    },
    meaning:
      "People were notified of what they chose in the console. `unchecked`, `unreached`: accounts and people for which there was no time; the next run begins with others.",
  },
  "notification.not_sent": {
    level: "warn",
    fields: { recipient: "string", channel: "string", reason: "string", attempts: "number" },
    meaning: "A person was not notified: SNS or the person's chat did not take the message. A later run tries again.",
    action: "None: after 8 attempts notification.given_up is raised.",
  },
  "notification.given_up": {
    level: "alarm",
    fields: { recipient: "string", channel: "string", reason: "string", attempts: "number" },
    meaning:
      "A person is no longer notified of what they chose: SNS or the person's chat took no message for 11 hours.",
    action: 'admin notifications list says who: "Notification given up" in docs/runbook.md.',
  },
  "notification.record_unreadable": {
    level: "alarm",
    fields: { record: "string", ...thrown },
    meaning: "A person is not notified of what this record would show: this release cannot read it. Others are.",
    action: "Deploy the release that wrote it.",
  },
  "notification.not_unsubscribed": {
    level: "warn",
    fields: { recipient: "string", ...thrown },
    meaning: "An address that nobody is notified at is still in the topic of notifications. Nothing is sent to it.",
    action: "Remove the subscription in SNS.",
  },
  "rate_counters.not_removed": {
    level: "warn",
    fields: thrown,
    meaning: "Old rate counters of a key could not be removed. Its next request tries again.",
    action: "None.",
  },
} as const satisfies LogCatalog;
export type LogEvents = typeof logEvents;
