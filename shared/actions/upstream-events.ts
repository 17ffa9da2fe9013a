import type { upstreamEventsActions } from "../contract/actions/upstream-events.ts";
import { readTransaction } from "../ledger/find-transactions.ts";
import { ALL_TIMES } from "../ledger/query-index.ts";
import { referenceOf, sentAt, transactionToView } from "../ledger/transaction.ts";
import { orNull } from "../platform/format.ts";
import { nairaNumber } from "../platform/money.ts";
import { findCandidates } from "../upstream-events/candidates.ts";
import { differencesOf, discardEvent, matchEvent } from "../upstream-events/operator-resolution.ts";
import { eventSummary, listEvents, type StoredEvent, storedEventId } from "../upstream-events/stored-event.ts";
import type { ActionContext } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { requireEvent, requireTransaction } from "./lookup.ts";
import { resolvedView } from "./resolved-transaction.ts";

export const upstreamEventsRuns: ActionRuns<typeof upstreamEventsActions> = {
  "events list": async (context, { state }) => {
    const events = await listEvents(context.ledger, ALL_TIMES.from);
    const selected = events.filter((event) => state === "all" || event.state === state);
    return { events: await Promise.all(selected.map((event) => view(context, event))) };
  },
  "events candidates": async (context, { event: id }) => {
    const event = await requireEvent(context, id);
    const candidates = await findCandidates(context.ledger, event);
    return {
      event: await view(context, event),
      candidates: candidates.map((transaction) => {
        const { reference, status, type, amount, network, phone_number, created_at } = transactionToView(transaction);
        return {
          ...{ reference, account_id: transaction.account_id, mode: transaction.mode, status, type, amount },
          ...{ network, phone_number, upstream_reference: transaction.upstream_reference ?? null, created_at },
          sent_before_s: Math.round((Date.parse(event.created_at) - Date.parse(sentAt(transaction))) / 1_000),
          differences: event.reason === "unreadable" ? [] : [...differencesOf(event, transaction)],
        };
      }),
    };
  },
  "events match": async (context, { event: id, reference, accepts_differences: acceptsDifferences, why }) => {
    const event = await requireEvent(context, id);
    const transaction = await requireTransaction(context, reference);
    const decision = { ...context.actor(), why };
    const differences = await matchEvent(context.ledger, event, transaction, decision, { acceptsDifferences });
    return { ...(await resolvedView(context, transaction)), differences: [...differences] };
  },
  "events discard": async (context, { event, why }) => {
    await discardEvent(context.ledger, await requireEvent(context, event), { ...context.actor(), why });
    return { event, state: "discarded" };
  },
};

const view = async (context: ActionContext, event: StoredEvent) => ({
  event: storedEventId(event),
  at: event.created_at,
  state: event.state,
  reason: event.reason,
  upstream_reference: event.reference ?? null,
  says: eventSummary(event),
  ...detailsOf(event),
  transaction: await referenceAbout(context, event),
  amount: event.reason === "unreadable" ? null : orNull(event.amount_kobo, nairaNumber),
});

const detailsOf = (event: StoredEvent) =>
  event.reason === "unreadable"
    ? { type: null, phone_number: null }
    : { type: event.type ?? null, phone_number: event.phone_masked ?? null };

/** The reference of the transaction that an event is about; null if that is unknown. */
const referenceAbout = async ({ ledger }: ActionContext, { transaction: pk }: StoredEvent): Promise<string | null> => {
  const transaction = pk === undefined ? undefined : await readTransaction(ledger, pk);
  return transaction === undefined ? null : referenceOf(transaction);
};
