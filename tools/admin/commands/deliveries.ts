import type { Command } from "commander";
import * as z from "zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { recordAudited } from "../../../shared/actions/action-context.ts";
import { requireTransaction } from "../../../shared/actions/lookup.ts";
import { deliveriesOf } from "../../../shared/actions/transaction-history.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { readTransactions } from "../../../shared/ledger/find-transactions.ts";
import { getItem, getItems } from "../../../shared/ledger/get-item.ts";
import { ALL_TIMES, ownedKeys } from "../../../shared/ledger/query-index.ts";
import { accountEventDeliveryPk, deliveriesOwner } from "../../../shared/ledger/schema.ts";
import { referenceOf } from "../../../shared/ledger/transaction.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { type Delivery, deliverySchema, messageOf } from "../../../shared/webhooks/delivery.ts";
import { type AddressedMessage, deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { finalStatus, TRANSACTION_UPDATED } from "../../../shared/webhooks/webhook-event.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField } from "../fields.ts";
import { fields, table } from "../views/print.ts";

/** How many deliveries the list shows. */
const LATEST = 50;

export const addDeliveries = (program: Command): void => {
  const group = addGroup(program, "deliveries", "Inspect and resend webhook deliveries");
  addCommand(group, {
    usage: "list <account>",
    readOnly: true,
    summary: `List an account's latest ${LATEST} deliveries, newest first`,
    example: "list acc_0123456789abcdef01",
    input: z.object({ account: accountField }),
    run: list,
  });
  addCommand(group, {
    usage: "show <reference>",
    readOnly: true,
    summary: "Show every delivery attempt of one transaction, or of one event on request by its webhook id",
    example: "show DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    input: z.object({ reference: z.string() }),
    run: show,
  });
  addCommand(group, {
    usage: "replay <reference>",
    summary: "Resend the webhook of a final transaction, or an event on request, with the same webhook id",
    example: "replay DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    options: [why],
    input: z.object({ reference: z.string(), why: whySchema.optional() }),
    run: replay,
  });
};

const view = (delivery: Delivery) => ({
  event: delivery.event,
  webhook_id: delivery.webhook_id,
  status: delivery.event === TRANSACTION_UPDATED ? delivery.status : null,
  state: delivery.state,
  parked: delivery.open !== undefined,
  repeat: delivery.repeat ?? null,
  created_at: delivery.created_at,
  next_attempt_at: delivery.next_attempt_at ?? null,
  attempts: delivery.attempts,
});

/** A parked delivery waits in its record, not in the queue. */
const stateText = ({ state, parked }: Pick<ReturnType<typeof view>, "state" | "parked">): string =>
  parked ? `${state} (parked)` : state;

const list = async (context: AdminContext, { account }: { readonly account: string }): Promise<Report> => {
  await requireAccount(context.accounts, account);
  const keys = await ownedKeys(context.ledger, deliveriesOwner(account), ALL_TIMES);
  const deliveries = await getItems(context.ledger, keys.slice(-LATEST).toReversed(), deliverySchema);
  const transactionOf = (delivery: Delivery): string[] =>
    delivery.event === TRANSACTION_UPDATED ? [delivery.transaction] : [];
  const pks = [...new Set(deliveries.flatMap(transactionOf))].map((pk) => ({ pk }));
  const references = new Map((await readTransactions(context.ledger, pks)).map((each) => [each.pk, referenceOf(each)]));
  const views = deliveries.map((delivery) => ({
    reference: transactionOf(delivery).map((pk) => references.get(pk))[0] ?? null,
    ...view(delivery),
  }));
  return {
    json: { deliveries: views },
    text: table(
      ["reference", "event", "status", "state", "attempts", "next attempt", "created", "resend"],
      views.map((each) => [
        ...[each.reference ?? each.webhook_id, each.event, each.status, stateText(each), each.attempts.length],
        ...[each.next_attempt_at, each.created_at, each.repeat],
      ]),
    ),
  };
};

const show = async (context: AdminContext, { reference }: { readonly reference: string }): Promise<Report> => {
  const stored = isWebhookId(reference)
    ? await accountEventDeliveries(context, reference)
    : await deliveriesOf(context, await requireTransaction(context, reference));
  const deliveries = stored.map(view);
  return {
    json: { reference, deliveries },
    text: table(
      ["webhook id", "status", "state", "resend", "attempt", "at", "outcome", "http", "ms"],
      deliveries.flatMap((delivery) => {
        const first = [delivery.webhook_id, delivery.status, stateText(delivery), delivery.repeat];
        if (delivery.attempts.length === 0) return [[...first, 0]];
        return delivery.attempts.map(({ number, at, outcome, http_status, duration_ms }) => [
          ...first,
          ...[number, at, outcome, http_status, duration_ms],
        ]);
      }),
    ),
  };
};

const replay = async (
  context: AdminContext,
  { reference, why }: { readonly reference: string; readonly why?: string | undefined },
): Promise<Report> => {
  const repeat = `replay-${isoTime(context.ledger.clock())}`;
  const { subject, status, accountId, message } = isWebhookId(reference)
    ? await accountEventReplay(context, reference, repeat)
    : await transactionReplay(context, reference, repeat);
  await recordAudited(context, subject, { action: "deliveries replay", why, details: { reference, repeat } });
  const queue = deliveryQueue(context.sqs, context.target.environment.DELIVERY_QUEUE_URL);
  await queue.send(message, accountId);
  const json = { reference, status, repeat };
  return { json, text: fields(json) };
};

/** A message to send, and the subject of its audit entry. */
type Replay = AddressedMessage & { readonly subject: string; readonly status: string | null };

const transactionReplay = async (context: AdminContext, reference: string, repeat: string): Promise<Replay> => {
  const { pk, account_id: accountId, status: known } = await requireTransaction(context, reference);
  const status = finalStatus.safeParse(known).data;
  if (status === undefined)
    throw new OperatorError(`${reference} is still ${known}. Its webhook is sent when it is final`);
  return { subject: pk, status, accountId, message: { event: TRANSACTION_UPDATED, transaction: pk, status, repeat } };
};

const accountEventReplay = async (context: AdminContext, id: string, repeat: string): Promise<Replay> => {
  const [first] = await accountEventDeliveries(context, id);
  if (first === undefined) throw noAccountEvent(id);
  const { account_id: accountId } = first;
  return { subject: accountId, status: null, accountId, message: { ...messageOf(first, false), repeat } };
};

/** No reference of the service looks like one. */
const isWebhookId = (text: string): boolean => /^evt_[0-9a-f]{32}$/.test(text);

/** The first delivery of an event on request, and its resends, oldest first. */
const accountEventDeliveries = async ({ ledger }: AdminContext, id: string): Promise<readonly Delivery[]> => {
  const first = await getItem(ledger, accountEventDeliveryPk(id), deliverySchema);
  if (first === undefined) throw noAccountEvent(id);
  const range = { from: first.created_at, to: ALL_TIMES.to };
  const keys = await ownedKeys(ledger, deliveriesOwner(first.account_id), range);
  const resends = keys.filter(({ pk }) => pk.startsWith(accountEventDeliveryPk(id, "")));
  return [first, ...(await getItems(ledger, resends, deliverySchema))];
};

const noAccountEvent = (id: string): OperatorError =>
  new OperatorError(
    `There is no delivery of an event on request with the id ${id}. A transaction's are found by its reference`,
  );
