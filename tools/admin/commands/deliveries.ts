import type { Command } from "commander";
import * as z from "zod";
import { requireAccount } from "../../../shared/access/account-store.ts";
import { readTransactions } from "../../../shared/ledger/find-transactions.ts";
import { getItems } from "../../../shared/ledger/get-item.ts";
import { ALL_TIMES, ownedKeys } from "../../../shared/ledger/query-index.ts";
import { deliveriesOwner } from "../../../shared/ledger/schema.ts";
import { referenceOf } from "../../../shared/ledger/transaction.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { type Delivery, deliverySchema } from "../../../shared/webhooks/delivery.ts";
import { deliveryQueue, finalStatus } from "../../../shared/webhooks/delivery-queue.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import { type AdminContext, recordAudited } from "../context.ts";
import { accountField, whyField } from "../fields.ts";
import { requireTransaction } from "../lookup.ts";
import { deliveriesOf } from "../transaction-history.ts";
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
    summary: "Show every delivery attempt of one transaction",
    example: "show DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    input: z.object({ reference: z.string() }),
    run: show,
  });
  addCommand(group, {
    usage: "replay <reference>",
    summary: "Resend the webhook of a final transaction, with the same webhook id",
    example: "replay DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    options: [why],
    input: z.object({ reference: z.string(), why: whyField.optional() }),
    run: replay,
  });
};

const view = (delivery: Delivery) => ({
  webhook_id: delivery.webhook_id,
  status: delivery.status,
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
  const pks = [...new Set(deliveries.map(({ transaction }) => transaction))].map((pk) => ({ pk }));
  const references = new Map((await readTransactions(context.ledger, pks)).map((each) => [each.pk, referenceOf(each)]));
  const views = deliveries.map((delivery) => ({
    reference: references.get(delivery.transaction) ?? null,
    ...view(delivery),
  }));
  return {
    json: { deliveries: views },
    text: table(
      ["reference", "status", "state", "attempts", "next attempt", "created", "resend"],
      views.map((each) => [
        ...[each.reference, each.status, stateText(each), each.attempts.length],
        ...[each.next_attempt_at, each.created_at, each.repeat],
      ]),
    ),
  };
};

const show = async (context: AdminContext, { reference }: { readonly reference: string }): Promise<Report> => {
  const deliveries = (await deliveriesOf(context, await requireTransaction(context, reference))).map(view);
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
  const transaction = await requireTransaction(context, reference);
  const status = finalStatus.safeParse(transaction.status).data;
  if (status === undefined)
    throw new OperatorError(`${reference} is still ${transaction.status}. Its webhook is sent when it is final`);
  const repeat = `replay-${isoTime(context.ledger.clock())}`;
  await recordAudited(context, transaction.pk, { action: "deliveries replay", why, details: { repeat } });
  const queue = deliveryQueue(context.sqs, context.target.environment.DELIVERY_QUEUE_URL);
  await queue.send({ transaction: transaction.pk, status, repeat }, transaction.account_id);
  const json = { reference, status, repeat };
  return { json, text: fields(json) };
};
