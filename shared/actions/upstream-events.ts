import type { upstreamEventsActions } from "../contract/actions/upstream-events.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import { sendingOf, sentAt, transactionToView } from "../ledger/transaction.ts";
import { expectedAmount } from "../ledger/upstream-costs.ts";
import { orNull } from "../platform/or-null.ts";
import { findCandidates } from "../upstream-events/candidates.ts";
import { differencesOf, discardEvent, matchEvent } from "../upstream-events/operator-resolution.ts";
import {
  eventSummary,
  isReadable,
  latestEvents,
  openEvents,
  receivedAt,
  type StoredEvent,
  storedEventId,
} from "../upstream-events/stored-event.ts";
import type { ActionContext } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { referencesOf, requireEvent, requireTransaction } from "./require-transaction.ts";
import { settledView } from "./resolved-transaction.ts";

export const upstreamEventsRuns: ActionRuns<typeof upstreamEventsActions> = {
  "events list": async (context, { state }) => {
    const events = state === "open" ? await openEvents(context.ledger) : await latestEvents(context.ledger);
    const selected = events.filter((event) => state === "all" || event.state === state);
    const about = await referencesAbout(context, selected);
    return { events: selected.map((event) => view(event, about)) };
  },
  "events candidates": async (context, { event: id }) => {
    const event = await requireEvent(context, id);
    const candidates = await findCandidates(context, event);
    return {
      event: view(event, await referencesAbout(context, [event])),
      candidates: candidates.map((transaction) => {
        const { reference, status, type, amount, network, phone_number, created_at } = transactionToView(transaction);
        return {
          ...{ reference, account_id: transaction.account_id, mode: transaction.mode, status, type, amount },
          expected_amount: nairaFromKobo(expectedAmount(context.costs, transaction)),
          ...{ network, phone_number, upstream_reference: transaction.upstream_reference ?? null, created_at },
          sending: sendingOf(transaction),
          sent_before_s: Math.round((Date.parse(receivedAt(event)) - Date.parse(sentAt(transaction))) / 1_000),
          differences: isReadable(event) ? [...differencesOf(context.costs, event, transaction)] : [],
        };
      }),
    };
  },
  "events match": async (context, { event: id, reference, sending, accepts_differences, why }) => {
    const event = await requireEvent(context, id);
    const transaction = await requireTransaction(context, reference);
    const decision = { ...context.actor(), why };
    const decided = { acceptsDifferences: accepts_differences, seen: sending };
    const settled = await settledView(context, transaction, { event: id }, () =>
      matchEvent(context, event, transaction, decision, decided),
    );
    const differences = isReadable(event) ? differencesOf(context.costs, event, transaction) : [];
    return { ...settled, differences: [...differences] };
  },
  "events discard": async (context, { event, why }) => {
    await discardEvent(context.ledger, await requireEvent(context, event), { ...context.actor(), why });
    return { event, state: "discarded" };
  },
};

const view = (event: StoredEvent, about: ReadonlyMap<string, string>) => ({
  event: storedEventId(event),
  at: receivedAt(event),
  state: event.state,
  reason: event.reason,
  upstream_reference: event.reference ?? null,
  says: eventSummary(event),
  ...detailsOf(event),
  transaction: about.get(event.transaction_pk ?? "") ?? null,
  amount: isReadable(event) ? orNull(event.amount_kobo, nairaFromKobo) : null,
});

const detailsOf = (event: StoredEvent) =>
  isReadable(event)
    ? { type: event.type ?? null, phone_number: event.phone_masked ?? null }
    : { type: null, phone_number: null };

/** The references of the transactions that events are about, by their keys. */
const referencesAbout = (context: ActionContext, events: readonly StoredEvent[]) =>
  referencesOf(
    context,
    events.flatMap(({ transaction_pk: pk }) => pk ?? []),
  );
