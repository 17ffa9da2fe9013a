import type { Command } from "commander";
import * as z from "zod";
import { requireEvent, requireTransaction } from "../../../shared/actions/lookup.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { readTransaction } from "../../../shared/ledger/find-transactions.ts";
import { referenceOf } from "../../../shared/ledger/transaction.ts";
import { nairaNumber } from "../../../shared/platform/money.ts";
import { discardEvent, matchEvent } from "../../../shared/upstream-events/operator-resolution.ts";
import {
  eventSummary,
  listEvents,
  type StoredEvent,
  storedEventId,
} from "../../../shared/upstream-events/stored-event.ts";
import { addCommand, addGroup, type Report, whyRequired } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { afterFlight } from "../in-flight.ts";
import { fields, naira, orNull, table } from "../views/print.ts";
import { resolvedView } from "./transactions.ts";

const listInput = z.object({
  state: z.enum(["open", "matched", "discarded", "all"], "Must be open, matched, discarded or all"),
});

const matchInput = z.object({
  event: z.string(),
  reference: z.string(),
  why: whySchema,
  althoughDifferent: z.boolean().default(false),
});

export const addEvents = (program: Command): void => {
  const group = addGroup(program, "events", "Resolve upstream events that could not be applied automatically");
  addCommand(group, {
    usage: "list",
    readOnly: true,
    summary: "List the events that wait for an operator, oldest first, with the reason",
    example: "list",
    options: [{ flags: "--state <state>", text: "open, matched, discarded or all", fallback: "open" }],
    input: listInput,
    run: list,
  });
  addCommand(group, {
    usage: "match <event> <reference>",
    summary: "Settle a transaction with the outcome of an event",
    example: 'match event_mZ0 DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ --why "same number and minute, ticket 88"',
    options: [
      whyRequired,
      { flags: "--although-different", text: "match even if type, amount or phone number differ" },
    ],
    input: matchInput,
    run: match,
  });
  addCommand(group, {
    usage: "discard <event>",
    summary: "Close an event without applying it",
    example: 'discard event_mZ0 --why "the upstream tested, ticket 89"',
    options: [whyRequired],
    input: z.object({ event: z.string(), why: whySchema }),
    run: async (context, { event, why }) => {
      await discardEvent(context.ledger, await requireEvent(context, event), { ...context.actor(), why });
      const json = { event, state: "discarded" };
      return { json, text: fields(json) };
    },
  });
};

const match = async (context: AdminContext, input: z.output<typeof matchInput>): Promise<Report> => {
  const { reference, why, althoughDifferent: acceptsDifferences } = input;
  const json = await afterFlight(reference, async () => {
    const event = await requireEvent(context, input.event);
    const transaction = await requireTransaction(context, reference);
    const decision = { ...context.actor(), why };
    const differences = await matchEvent(context.ledger, event, transaction, decision, { acceptsDifferences });
    return { ...(await resolvedView(context, transaction)), differences };
  });
  const list = json.differences.map(
    ({ field, event, transaction }) => `${field} (event ${event}, transaction ${transaction})`,
  );
  return { json, text: fields({ ...json, differences: list.join(", ") || "none" }) };
};

/** The reference of the transaction that an event is about; null if that is unknown. */
const referenceAbout = async ({ ledger }: AdminContext, { transaction: pk }: StoredEvent): Promise<string | null> => {
  const transaction = pk === undefined ? undefined : await readTransaction(ledger, pk);
  return transaction === undefined ? null : referenceOf(transaction);
};

const detailsOf = (event: StoredEvent) =>
  event.reason === "unreadable"
    ? { type: null, amount_kobo: undefined, phone_number: null }
    : { type: event.type ?? null, amount_kobo: event.amount_kobo, phone_number: event.phone_masked ?? null };

const list = async (context: AdminContext, { state }: z.output<typeof listInput>): Promise<Report> => {
  const events = (await listEvents(context.ledger, "0000")).filter((event) => state === "all" || event.state === state);
  const views = await Promise.all(
    events.map(async (event) => ({
      event: storedEventId(event),
      at: event.created_at,
      state: event.state,
      reason: event.reason,
      upstream_reference: event.reference ?? null,
      says: eventSummary(event),
      ...detailsOf(event),
      transaction: await referenceAbout(context, event),
    })),
  );
  return {
    json: {
      events: views.map(({ amount_kobo, ...view }) => ({
        ...view,
        amount: orNull(amount_kobo, nairaNumber),
      })),
    },
    text: table(
      ["event", "at", "reason", "upstream reference", "reports", "type", "amount", "phone number", "transaction"],
      views.map((view) => [
        view.event,
        view.at,
        view.state === "open" ? view.reason : view.state,
        view.upstream_reference,
        view.says,
        view.type,
        orNull(view.amount_kobo, naira),
        view.phone_number,
        view.transaction,
      ]),
    ),
  };
};
