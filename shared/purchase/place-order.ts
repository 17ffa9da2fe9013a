import { randomUUID } from "node:crypto";
import { OutcomeUnknown, ServiceError } from "../contract/errors.ts";
import type { Mode, TransactionType } from "../contract/transaction.ts";
import type { Caller } from "../platform/api-handler.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import type { Kobo } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import type { StatusQueue } from "../status/status-queue.ts";
import type { Order, Outcome, Provider } from "../upstream/provider.ts";
import type { Ledger } from "../wallet/ledger.ts";
import { findByCallerReference } from "../wallet/lookup.ts";
import type { Naming } from "../wallet/naming.ts";
import { openTransaction } from "../wallet/open.ts";
import { settleTransaction, type Verdict } from "../wallet/settle.ts";
import { ownerOf, referenceOf, type TransactionRow, transactionPk } from "../wallet/transaction.ts";

export type PurchaseDeps = {
  readonly ledger: Ledger;
  readonly naming: () => Promise<Naming>;
  readonly providers: Readonly<Record<Mode, Provider>>;
  readonly statusQueue: StatusQueue;
  /** `off` refuses every order before the debit. */
  readonly purchases: "on" | "off";
};

/** What a caller asks for, before it is known whether it can be had. */
export type Wish = {
  readonly caller: Caller;
  readonly type: TransactionType;
  readonly reference: string | undefined;
  /** The request's normalised fields: the same order under the same reference has the same ones. */
  readonly fields: readonly string[];
  /** Resolves what is bought and for how much; throws a ServiceError where it cannot be had. */
  readonly quote: () => Promise<Quote>;
};
export type Quote = {
  readonly order: Order;
  readonly amountKobo: Kobo;
  readonly description: string;
  readonly network: string;
};

/** The transaction as it stands when the answer leaves. */
export type Placed = { readonly row: TransactionRow; readonly replayed: boolean };

/** The verdict on an order that was never sent waits this long: by then a debit that was on its way has arrived. */
const NEVER_SENT_DELAY_S = 60;

/**
 * The purchase: quote, one write that debits and opens, the upstream once, one write that settles.
 *
 * Until the debit, whatever goes wrong is an error and has changed nothing. From the debit on there are only two ways to
 * answer: with the transaction as it is known to stand, or as `processing`.
 */
export const placeOrder = async (deps: PurchaseDeps, wish: Wish, deadline: Deadline): Promise<Placed> => {
  const naming = await deps.naming();
  const fingerprint = naming.fingerprint([wish.type, ...wish.fields]);
  const provider = deps.providers[wish.caller.mode];
  const quote = await quoteOrRepeat(deps, naming, wish, provider, deadline);
  if ("row" in quote) return repeated(quote.row, fingerprint);

  const row = newRow(deps.ledger, naming, wish, quote, fingerprint);
  const opening = await openTransaction(deps.ledger, row);
  switch (opening.kind) {
    case "exists":
      return repeated(opening.row, fingerprint);
    case "insufficient_balance":
      throw new ServiceError("insufficient_balance");
    case "busy":
      throw new ServiceError("provider_unavailable", { retryAfterS: 1 });
    case "doubt":
      await takeBack(deps.statusQueue, row, deadline);
      throw new ServiceError("provider_unavailable", { transactionReference: referenceOf(row) });
    case "opened":
      return { row: await fulfil(deps, provider, row, quote.order, deadline), replayed: false };
  }
};

/** The quote; or, where nothing can be quoted any more, the order that already stands under this reference. */
const quoteOrRepeat = async (
  { ledger, purchases }: PurchaseDeps,
  naming: Naming,
  wish: Wish,
  provider: Provider,
  deadline: Deadline,
): Promise<Quote | { readonly row: TransactionRow }> => {
  try {
    if (purchases === "off") throw new ServiceError("provider_unavailable", { retryAfterS: 300 });
    const quote = await wish.quote();
    await provider.assertReady(quote.order, deadline);
    return quote;
  } catch (refusal) {
    // A plan that is gone, or an upstream that is down, says nothing about an order that was made before.
    const earlier = wish.reference && (await findByCallerReference(ledger, naming, wish.caller, wish.reference));
    if (earlier) return { row: earlier };
    throw refusal;
  }
};

const repeated = (row: TransactionRow, fingerprint: string): Placed => {
  if (row.fingerprint !== fingerprint) {
    throw new ServiceError("reference_reused", {
      fields: { reference: ["Was used for a different request: choose another"] },
    });
  }
  return { row, replayed: true };
};

const newRow = (
  { clock }: Ledger,
  naming: Naming,
  { caller, type, reference }: Wish,
  { order, amountKobo, description, network }: Quote,
  fingerprint: string,
): TransactionRow => {
  const now = isoTime(clock());
  return {
    pk: transactionPk(naming.id({ ...caller, ...(reference !== undefined && { reference }) })),
    owner: ownerOf(caller.accountId, caller.mode),
    account_id: caller.accountId,
    key_id: caller.keyId,
    mode: caller.mode,
    type,
    status: "processing",
    attempt: randomUUID(),
    fingerprint,
    ...(reference !== undefined && { caller_reference: reference }),
    amount_kobo: amountKobo,
    description,
    network,
    phone_number: order.phoneNumber,
    ...(caller.mode === "live" && { open: "live" }),
    created_at: now,
    updated_at: now,
  };
};

/** From the upstream's answer to the row as it stands. Throws nothing: the money is taken, so that no error may leave. */
const fulfil = async (
  deps: PurchaseDeps,
  provider: Provider,
  row: TransactionRow,
  order: Order,
  deadline: Deadline,
): Promise<TransactionRow> => {
  try {
    const outcome = await buy(provider, order, row, deadline);
    const verdict = verdictOn(outcome);
    if (outcome.kind === "unknown" && outcome.later !== undefined) {
      const later: Verdict =
        outcome.later.status === "success"
          ? { status: "success" }
          : { status: "failed", failure: { code: "delivery_failed" } };
      await deps.statusQueue.send(messageOf(row, later), outcome.later.after_s, deadline.remaining_ms());
    }
    if (verdict === undefined) return row;
    const settlement = await settleTransaction(deps.ledger, row, verdict, deadline);
    if (settlement.kind !== "not_known") return settlement.row;
    await deps.statusQueue.send(messageOf(row, verdict), 0, deadline.remaining_ms());
  } catch (error) {
    log.error("purchase.left_open", { reference: referenceOf(row), ...errorFields(error) });
  }
  return row;
};

const buy = async (provider: Provider, order: Order, row: TransactionRow, deadline: Deadline): Promise<Outcome> => {
  const outcome = await provider.buy(order, referenceOf(row), deadline);
  const reason = "reason" in outcome ? outcome.reason : undefined;
  log.info("upstream.answered", { reference: referenceOf(row), outcome: outcome.kind, reason });
  if (outcome.kind === "ours") log.error("upstream.trouble_is_ours", { reason });
  return outcome;
};

/** What an outcome does to the ledger; undefined where it teaches nothing that is worth a write. */
const verdictOn = (outcome: Outcome): Verdict | undefined => {
  const facts = { upstream_reference: outcome.upstreamReference, upstream_amount_kobo: outcome.upstreamAmountKobo };
  switch (outcome.kind) {
    case "delivered":
      return { status: "success", ...facts };
    case "unknown":
      return outcome.upstreamReference === undefined ? undefined : { status: "processing", ...facts };
    case "ours":
      return { status: "failed", failure: { code: "provider_unavailable" }, ...facts };
    case "refused":
      return { status: "failed", failure: refusal(outcome.fields), ...facts };
  }
};

const refusal = (fields: readonly string[]) => {
  if (fields.length === 0) return { code: "delivery_failed" as const };
  return {
    code: fields.includes("plan_id") ? ("plan_unavailable" as const) : ("validation_failed" as const),
    fields: [...fields],
  };
};

/**
 * The debit is in doubt and nothing was sent: should it have arrived, it is given back. Only when the queue has that verdict
 * may an error leave.
 */
const takeBack = async (queue: StatusQueue, row: TransactionRow, deadline: Deadline): Promise<void> => {
  const verdict: Verdict = { status: "failed", failure: { code: "provider_unavailable" } };
  try {
    await queue.send(messageOf(row, verdict), NEVER_SENT_DELAY_S, deadline.remaining_ms());
  } catch (error) {
    throw new OutcomeUnknown("A debit is in doubt and could not be queued for its refund", { cause: error });
  }
};

const messageOf = (row: TransactionRow, verdict: Verdict) =>
  ({ kind: "verdict", mode: row.mode, transaction: row.pk, attempt: row.attempt, verdict }) as const;
