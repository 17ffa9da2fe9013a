import { requireAccount } from "../access/account-store.ts";
import { type deliveriesActions, LATEST_DELIVERIES } from "../contract/actions/deliveries.ts";
import { readAuditAbout } from "../ledger/audit.ts";
import { readTransactions } from "../ledger/find-transactions.ts";
import { getItem, getItems } from "../ledger/get-item.ts";
import { ALL_TIMES, queryList } from "../ledger/query-index.ts";
import { accountEventDeliveryPk, deliveriesList } from "../ledger/schema.ts";
import { referenceOf } from "../ledger/transaction.ts";
import { NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import { type Delivery, type DeliveryAttempt, deliverySchema, messageOf } from "../webhooks/delivery.ts";
import { type AddressedMessage, deliveryQueue } from "../webhooks/delivery-queue.ts";
import { readEndpointState } from "../webhooks/endpoint-health.ts";
import { unsignedHeaders } from "../webhooks/signature.ts";
import { type FinalStatus, finalStatus, TRANSACTION_UPDATED } from "../webhooks/webhook-event.ts";
import { type ActionContext, recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { requireTransactionOf } from "./lookup.ts";
import { deliveriesOf, readDeliveries, repeatsIn } from "./transaction-history.ts";
import { noEndpoint } from "./webhook.ts";

export const deliveriesRuns: ActionRuns<typeof deliveriesActions> = {
  "deliveries list": async (context, { account }) => {
    await requireAccount(context.accounts, account);
    const { keys } = await queryList(context.ledger, deliveriesList(account), ALL_TIMES, undefined, {
      newest: LATEST_DELIVERIES,
    });
    const deliveries = await getItems(context.ledger, keys, deliverySchema);
    const pks = [...new Set(deliveries.flatMap(transactionsOf))].map((pk) => ({ pk }));
    const transactions = await readTransactions(context.ledger, pks);
    const references = new Map(transactions.map((each) => [each.pk, referenceOf(each)]));
    return {
      deliveries: deliveries.map((delivery) => ({
        reference: transactionsOf(delivery).map((pk) => references.get(pk))[0] ?? null,
        ...view(delivery, context.ledger.clock()),
        attempts: delivery.attempts.map(withoutHeaders),
      })),
    };
  },
  "deliveries show": async (context, { account, reference }) => {
    const deliveries = isWebhookId(reference)
      ? await accountEventDeliveries(context, account, reference)
      : await deliveriesOf(context, await requireTransactionOf(context, account, reference));
    return {
      reference,
      deliveries: deliveries.map((delivery) => ({
        ...view(delivery, context.ledger.clock()),
        attempts: delivery.attempts.map((attempt) => ({
          ...withoutHeaders(attempt),
          request_headers: unsignedHeaders({ id: delivery.webhook_id, atMs: Date.parse(attempt.at) }),
          response_headers: attempt.response_headers ?? null,
        })),
      })),
    };
  },
  "deliveries replay": async (context, { account, reference, why }) => {
    const repeat = `replay-${isoTime(context.ledger.clock())}`;
    const { about, status, accountId, message } = isWebhookId(reference)
      ? await accountEventReplay(context, account, reference, repeat)
      : await transactionReplay(context, account, reference, repeat);
    await assertEndpointEnabled(context, accountId);
    const auditFields = { about, action: "deliveries replay", why, details: { reference, repeat } };
    await recordAudited(context, accountId, auditFields);
    // A probe is posted also while the endpoint is down.
    await deliveryQueue(context.sqs, context.queues.delivery).send({ ...message, probe: true }, accountId);
    return { reference, status, repeat };
  },
};

const transactionsOf = (delivery: Delivery): string[] =>
  delivery.event === TRANSACTION_UPDATED ? [delivery.transaction_pk] : [];

const view = (delivery: Delivery, nowMs: number) => ({
  event: delivery.event,
  webhook_id: delivery.webhook_id,
  status: delivery.event === TRANSACTION_UPDATED ? delivery.status : null,
  state: delivery.state,
  parked: delivery.open !== undefined,
  repeat: delivery.repeat ?? null,
  created_at: delivery.created_at,
  next_attempt_at: nextAttemptAt(delivery, nowMs) ?? null,
});

/** A time that has passed says nothing: the attempt is due, or waits for the endpoint. */
const nextAttemptAt = ({ state, next_attempt_at: at }: Delivery, nowMs: number): string | undefined =>
  state === "pending" && at !== undefined && at > isoTime(nowMs) ? at : undefined;

const withoutHeaders = ({ response_headers: _headers, ...attempt }: DeliveryAttempt) => attempt;

const assertEndpointEnabled = async ({ accounts, ledger }: ActionContext, accountId: string): Promise<void> => {
  const endpoint = await readEndpointState(ledger, await requireAccount(accounts, accountId));
  if (endpoint?.url === undefined) throw noEndpoint(accountId);
  if (endpoint.status === "on") return;
  throw new OperatorError(`The endpoint of account ${accountId} is disabled: nothing is sent to it`, {
    command: "Enable it with webhook enable",
  });
};

/** A message to send, and the key of the transaction or the id of the event that it is about. */
type Replay = AddressedMessage & { readonly about: string; readonly status: FinalStatus | null };

const transactionReplay = async (
  context: ActionContext,
  account: string | undefined,
  reference: string,
  repeat: string,
): Promise<Replay> => {
  const { pk, status: known, account_id: accountId } = await requireTransactionOf(context, account, reference);
  const status = finalStatus.safeParse(known).data;
  if (status === undefined)
    throw new OperatorError(`${reference} is still ${known}. Its webhook is sent when it is final`);
  return {
    about: pk,
    status,
    accountId,
    message: { event: TRANSACTION_UPDATED, transaction_pk: pk, status, repeat },
  };
};

const accountEventReplay = async (
  context: ActionContext,
  account: string | undefined,
  id: string,
  repeat: string,
): Promise<Replay> => {
  const first = await requireAccountEvent(context, id, account);
  return {
    about: id,
    status: null,
    accountId: first.account_id,
    message: { ...messageOf(first, "due"), repeat },
  };
};

/** No reference of the service looks like one. */
const isWebhookId = (text: string): boolean => /^evt_[0-9a-f]{32}$/.test(text);

/** The first delivery of an event on request; of another account than a given one it does not exist. */
const requireAccountEvent = async (
  { ledger }: ActionContext,
  id: string,
  account: string | undefined,
): Promise<Delivery> => {
  const first = await getItem(ledger, accountEventDeliveryPk(id), deliverySchema);
  if (first !== undefined && (account === undefined || first.account_id === account)) return first;
  throw new NotFoundError(
    `There is no delivery of an event on request with the id ${id}. A transaction's are found by its reference`,
  );
};

/** The first delivery of an event on request, and its resends, oldest first. */
const accountEventDeliveries = async (
  context: ActionContext,
  account: string | undefined,
  id: string,
): Promise<readonly Delivery[]> => {
  const first = await requireAccountEvent(context, id, account);
  const replays = await readAuditAbout(context.ledger, first.account_id, id, first.created_at);
  const resends = repeatsIn(replays).map((repeat) => accountEventDeliveryPk(id, repeat));
  return [first, ...(await readDeliveries(context.ledger, resends))];
};
