import { randomUUID } from "node:crypto";
import { OutcomeUnknown, ServiceError } from "../contract/errors.ts";
import type { TransactionType } from "../contract/transaction.ts";
import type { Caller } from "../platform/api-handler.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import type { Kobo } from "../platform/money.ts";
import { isoTime } from "../platform/time.ts";
import type { StatusMessage, StatusQueue } from "../status/status-queue.ts";
import type { Ledger } from "../wallet/ledger.ts";
import { findByCallerReference } from "../wallet/lookup.ts";
import type { Naming } from "../wallet/naming.ts";
import { openTransaction, type RecordItem } from "../wallet/open.ts";
import { settledRow, settleTransaction, type Verdict } from "../wallet/settle.ts";
import { ownerOf, referenceOf, type TransactionRow, transactionPk } from "../wallet/transaction.ts";

export type OrderDeps = {
  readonly ledger: Ledger;
  readonly naming: () => Promise<Naming>;
  readonly statusQueue: StatusQueue;
  /** `off` refuses every order before the debit. */
  readonly purchases: "on" | "off";
};

/** What a caller asks for, and how it is had. */
export type Wish<Priced extends Quote = Quote> = {
  readonly caller: Caller;
  readonly type: TransactionType;
  readonly reference: string | undefined;
  /** The request's normalised fields: a repeat of the same order has the same ones. */
  readonly fields: readonly string[];
  /** What is bought and for how much. Throws a ServiceError where it cannot be had now; nothing has happened then. */
  readonly quote: () => Promise<Priced>;
  /** Further items that are put in the debit's own write. */
  readonly alongside?: (row: TransactionRow, naming: Naming) => readonly RecordItem[];
  /** Called once, after the debit, with the row that stands in the ledger. */
  readonly fulfil: (row: TransactionRow, quote: Priced) => Promise<Fulfilment>;
};
export type Quote = {
  readonly amountKobo: Kobo;
  readonly description: string;
  readonly network?: string;
  readonly phoneNumber?: string;
};

/** What is known once the provider answered: nothing, or what the ledger is to be told, now or `after_s` from now. */
export type Fulfilment = {
  readonly verdict?: Verdict;
  readonly later?: { readonly verdict: Verdict; readonly after_s: number };
};

/** The transaction as it stands when the answer leaves. */
export type Placed = { readonly row: TransactionRow; readonly replayed: boolean };

/** The verdict on an order that was never sent waits this long: by then a debit that was on its way has arrived. */
const NEVER_SENT_DELAY_S = 60;

/**
 * Every order: quote, one write that debits and opens, the provider once, one write that settles.
 *
 * Until the debit, whatever goes wrong is an error and has changed nothing. From the debit on there are only two ways to
 * answer: with the transaction as it is known to stand, or as `processing`.
 */
export const placeOrder = async <Priced extends Quote>(
  deps: OrderDeps,
  wish: Wish<Priced>,
  deadline: Deadline,
): Promise<Placed> => {
  const naming = await deps.naming();
  const fingerprint = naming.fingerprint([wish.type, ...wish.fields]);
  const quote = await quoteOrEarlier(deps, naming, wish, fingerprint);
  if (quote.kind === "earlier") return { row: quote.row, replayed: true };

  const row = newRow(deps.ledger, naming, wish, quote.priced, fingerprint);
  const opening = await openTransaction(deps.ledger, row, wish.alongside?.(row, naming) ?? []);
  switch (opening.kind) {
    case "exists":
      return repeated(opening.row, fingerprint);
    case "insufficient_balance":
      throw new ServiceError("insufficient_balance");
    case "busy":
      throw new ServiceError("provider_unavailable", { retryAfterS: 1 });
    case "doubt":
      await takeBack(deps.statusQueue, row, deadline);
      if (wish.reference !== undefined && !opening.lookedUp) {
        // The caller may be asking for an order that was delivered: an error would say that it was not.
        throw new OutcomeUnknown("A debit is in doubt, and an earlier order may stand under its reference");
      }
      throw new ServiceError("provider_unavailable", { transactionReference: referenceOf(row) });
    case "opened":
      return { row: await fulfil(deps, () => wish.fulfil(row, quote.priced), row, deadline), replayed: false };
  }
};

/** The quote; or, where this order cannot be had any more, the same order as it was made before. */
const quoteOrEarlier = async <Priced extends Quote>(
  { ledger, purchases }: OrderDeps,
  naming: Naming,
  wish: Wish<Priced>,
  fingerprint: string,
): Promise<
  { readonly kind: "priced"; readonly priced: Priced } | { readonly kind: "earlier"; readonly row: TransactionRow }
> => {
  try {
    if (purchases === "off") throw new ServiceError("provider_unavailable", { retryAfterS: 300 });
    return { kind: "priced", priced: await wish.quote() };
  } catch (refusal) {
    // A plan that is gone, or an upstream that is down, says nothing about an order that was made before.
    const row = wish.reference && (await findByCallerReference(ledger, naming, wish.caller, wish.reference));
    if (row && row.fingerprint === fingerprint) return { kind: "earlier", row };
    throw refusal;
  }
};

const repeated = (row: TransactionRow, fingerprint: string): Placed => {
  if (row.fingerprint === fingerprint) return { row, replayed: true };
  throw new ServiceError("reference_reused", {
    fields: { reference: ["Was used for a different request: choose another"] },
  });
};

const newRow = (
  { clock }: Ledger,
  naming: Naming,
  { caller, type, reference }: Pick<Wish, "caller" | "type" | "reference">,
  { amountKobo, description, network, phoneNumber }: Quote,
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
    ...(network !== undefined && { network }),
    ...(phoneNumber !== undefined && { phone_number: phoneNumber }),
    ...(caller.mode === "live" && { open: "live" }),
    created_at: now,
    updated_at: now,
  };
};

/** From the provider's answer to the row as it stands. Throws nothing: the money is taken, so that no error may leave. */
const fulfil = async (
  { ledger, statusQueue }: OrderDeps,
  outcome: () => Promise<Fulfilment>,
  row: TransactionRow,
  deadline: Deadline,
): Promise<TransactionRow> => {
  try {
    const { verdict, later } = await outcome();
    if (later !== undefined) await statusQueue.send(messageOf(row, later.verdict), later.after_s, deadline);
    if (verdict === undefined) return row;
    const settlement = await settleTransaction(ledger, row, verdict, deadline);
    if (settlement.kind === "applied") return settledRow(row, verdict);
    if (settlement.kind === "stands") return settlement.row;
    await statusQueue.send(messageOf(row, verdict), 0, deadline);
  } catch (error) {
    log.alarm("order.left_open", { reference: referenceOf(row), ...errorFields(error) });
  }
  return row;
};

/**
 * The debit is in doubt and nothing was sent: should it have arrived, it is given back. Only when the queue has that verdict
 * may an error leave.
 */
const takeBack = async (queue: StatusQueue, row: TransactionRow, deadline: Deadline): Promise<void> => {
  const verdict: Verdict = { status: "failed", failure: { code: "provider_unavailable" } };
  try {
    await queue.send(messageOf(row, verdict), NEVER_SENT_DELAY_S, deadline);
  } catch (error) {
    throw new OutcomeUnknown("A debit is in doubt and could not be queued for its refund", { cause: error });
  }
};

const messageOf = (row: TransactionRow, verdict: Verdict): StatusMessage => ({
  kind: "verdict",
  mode: row.mode,
  transaction: row.pk,
  attempt: row.attempt,
  verdict,
});
