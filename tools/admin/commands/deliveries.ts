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
import { deliveriesOf } from "../history.ts";
import { fields, table } from "../print.ts";
import { requireTransaction } from "../transactions.ts";

/** Deliveries that the list shows. */
const LATEST = 50;

export const addDeliveries = (program: Command): void => {
  const group = addGroup(program, "deliveries", "How accounts were told of their transactions' ends");
  addCommand(group, {
    usage: "list <account>",
    readOnly: true,
    summary: `an account's latest ${LATEST}, newest first`,
    example: "list acc_0123456789abcdef01",
    input: z.object({ account: accountField }),
    run: list,
  });
  addCommand(group, {
    usage: "show <reference>",
    readOnly: true,
    summary: "every attempt to tell one transaction's end",
    example: "show DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    input: z.object({ reference: z.string() }),
    run: show,
  });
  addCommand(group, {
    usage: "replay <reference>",
    summary: "tell one transaction's end again, as the same event",
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
  repeat: delivery.repeat ?? null,
  created_at: delivery.created_at,
  next_attempt_at: delivery.next_attempt_at ?? null,
  attempts: delivery.attempts,
});

const list = async (desk: AdminContext, { account }: { readonly account: string }): Promise<Report> => {
  await requireAccount(desk.accounts, account);
  const keys = await ownedKeys(desk.ledger, deliveriesOwner(account), ALL_TIMES);
  const deliveries = await getItems(desk.ledger, keys.slice(-LATEST).toReversed(), deliverySchema);
  const pks = [...new Set(deliveries.map(({ transaction }) => transaction))].map((pk) => ({ pk }));
  const references = new Map((await readTransactions(desk.ledger, pks)).map((row) => [row.pk, referenceOf(row)]));
  const views = deliveries.map((row) => ({ reference: references.get(row.transaction) ?? null, ...view(row) }));
  return {
    json: { deliveries: views },
    text: table(
      ["reference", "told", "state", "attempts", "next attempt", "began", "repeat"],
      views.map((row) => [
        row.reference,
        row.status,
        row.state,
        row.attempts.length,
        row.next_attempt_at,
        row.created_at,
        row.repeat,
      ]),
    ),
  };
};

const show = async (desk: AdminContext, { reference }: { readonly reference: string }): Promise<Report> => {
  const deliveries = (await deliveriesOf(desk, await requireTransaction(desk, reference))).map(view);
  return {
    json: { reference, deliveries },
    text: table(
      ["event", "told", "state", "repeat", "attempt", "at", "outcome", "http", "ms"],
      deliveries.flatMap(({ webhook_id, status, state, repeat, attempts }) =>
        attempts.length === 0
          ? [[webhook_id, status, state, repeat, 0]]
          : attempts.map(({ number, at, outcome, http_status, duration_ms }) => [
              ...[webhook_id, status, state, repeat, number],
              ...[at, outcome, http_status, duration_ms],
            ]),
      ),
    ),
  };
};

const replay = async (
  desk: AdminContext,
  { reference, why }: { readonly reference: string; readonly why?: string | undefined },
): Promise<Report> => {
  const transaction = await requireTransaction(desk, reference);
  const status = finalStatus.safeParse(transaction.status).data;
  if (status === undefined)
    throw new OperatorError(`${reference} is still ${transaction.status}: there is no end to tell yet`);
  const repeat = `replay-${isoTime(desk.ledger.clock())}`;
  await recordAudited(desk, transaction.pk, { action: "deliveries replay", why, details: { repeat } });
  const queue = deliveryQueue(desk.sqs, desk.target.environment.DELIVERY_QUEUE_URL);
  await queue.send({ transaction: transaction.pk, status, repeat }, transaction.account_id);
  const json = { reference, status, repeat };
  return { json, text: fields(json) };
};
