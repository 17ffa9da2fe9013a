import { requireAccount } from "../access/account-store.ts";
import { type deliveriesActions, LATEST_DELIVERIES } from "../contract/actions/deliveries.ts";
import { type FinalStatus, finalStatus } from "../contract/final-status.ts";
import { type EndpointEventName, TRANSACTION_UPDATED } from "../contract/webhook-events.ts";
import { SERVICE } from "../ledger/audit.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ALL_TIMES, accountIdsOf, type IndexKey, queryList, type TimeRange } from "../ledger/query-index.ts";
import { accountEventDeliveryPk, deliveriesList, endpointOfDelivery } from "../ledger/schema.ts";
import type { Transaction } from "../ledger/transaction.ts";
import { NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import { type Delivery, type DeliveryState, deliverySchema, messageOf, withoutAnswer } from "../webhooks/delivery.ts";
import { deliveryQueue, sendAll } from "../webhooks/delivery-queue.ts";
import { chosenEndpoint } from "../webhooks/endpoint.ts";
import { readEndpointStates } from "../webhooks/endpoint-health.ts";
import { unsignedHeaders } from "../webhooks/signature.ts";
import { webhookBody } from "../webhooks/webhook-body.ts";
import type { AccountEvent, TransactionEvent } from "../webhooks/webhook-event.ts";
import { endpointsMadeSchema, readAccounts } from "./accounts.ts";
import { type ActionContext, recordAudited } from "./action-context.ts";
import { countResend } from "./action-limits.ts";
import type { ActionRuns } from "./action-runs.ts";
import { referencesOf, requireTransactionOf } from "./require-transaction.ts";
import { requireTimeRange } from "./time-range.ts";
import { ANNOUNCE, deliveriesOf, endpointIdsOf, RECOVER, readDeliveries, repeatsOf } from "./transaction-history.ts";

export const deliveriesRuns: ActionRuns<typeof deliveriesActions> = {
  "deliveries list": async (context, { account, endpoint }) => {
    await requireAccount(context.accounts, account);
    const keys = await latestKeys(context.ledger, account, endpoint);
    const deliveries = await getItems(context.ledger, keys, deliverySchema);
    const references = await referencesOf(context, deliveries.flatMap(transactionsOf));
    return {
      deliveries: deliveries.map((delivery) => ({
        reference: transactionsOf(delivery).map((pk) => references.get(pk))[0] ?? null,
        ...view(delivery, context.ledger.clock()),
        attempts: delivery.attempts.map(withoutAnswer),
      })),
    };
  },
  "deliveries show": async (context, { account, reference }) => {
    const deliveries = isWebhookId(reference)
      ? await accountEventDeliveries(context, account, reference)
      : await transactionDeliveries(context, await requireTransactionOf(context, account, reference));
    return {
      reference,
      deliveries: deliveries.map(({ delivery, body }) => ({
        ...view(delivery, context.ledger.clock()),
        body,
        attempts: delivery.attempts.map((attempt) => ({
          ...withoutAnswer(attempt),
          request_headers: unsignedHeaders({ id: delivery.webhook_id, atMs: Date.parse(attempt.at) }),
          response_headers: attempt.response_headers ?? null,
          response_body: attempt.response_body ?? null,
        })),
      })),
    };
  },
  "deliveries replay": async (context, { account, reference, endpoint, why }) => {
    const repeat = `replay-${isoTime(context.ledger.clock())}`;
    const { about, status, accountId, message } = isWebhookId(reference)
      ? await accountEventReplay(context, account, reference)
      : await transactionReplay(context, account, reference);
    const endpoints = await enabledEndpoints(context, accountId, endpoint, message.event);
    const details = { reference, repeat, endpoints: endpoints.join(",") };
    await recordAudited(context, accountId, { about, action: "deliveries replay", why, details });
    // A probe is posted also while the endpoint is down.
    await sendAll(
      deliveryQueue(context.sqs, context.queues.delivery),
      endpoints.map((id) => ({ accountId, message: { ...message, endpoint: id, repeat, probe: true } })),
    );
    return { reference, endpoints: [...endpoints], status, repeat };
  },
  "deliveries recover": async (context, { account, from, endpoint, why }) => {
    const endpoints = await enabledEndpoints(context, account, endpoint);
    const { ledger } = context;
    const range = requireTimeRange(context, { from });
    await countResend(context.purchases, { accountId: account, by: "recovery" }, ledger.clock());
    const { keys: all, next } = await keysSince(ledger, account, range);
    const keys = all.filter(({ pk }) => endpoints.some((id) => id === endpointOfDelivery(pk)));
    const failed = failedOf(await getItems(ledger, keys, deliverySchema));
    const repeat = `recover-${isoTime(ledger.clock())}`;
    const details = { from: range.from, name: repeat, webhooks: failed.length, endpoints: endpoints.join(",") };
    await recordAudited(context, account, { about: RECOVER, action: "deliveries recover", why, details });
    // No probes: while the endpoint is down they are parked, and follow when it has recovered.
    await sendAll(
      deliveryQueue(context.sqs, context.queues.delivery),
      failed.map((delivery) => ({ accountId: account, message: { ...messageOf(delivery, "due"), repeat } })),
    );
    return { account_id: account, recovered: failed.length, repeat, next_from: next?.created_at ?? null };
  },
  announce: async (context, { from, to, name, why }) => {
    const now = isoTime(context.ledger.clock());
    const details = { ...requireTimeRange(context, { from, to: to ?? now }), name: name ?? `announce-${now}` };
    await recordAudited(context, SERVICE, { about: ANNOUNCE, action: "announce", why, details });
    return details;
  },
};

/** How many deliveries are looked through for the latest of one endpoint. */
const SEARCHED_MAX = 2_000;

/** The keys of the latest deliveries, of all endpoints or one. */
const latestKeys = async (ledger: Ledger, account: string, endpoint: string | undefined) => {
  const list = deliveriesList(account);
  if (endpoint === undefined) {
    return (await queryList(ledger, list, ALL_TIMES, undefined, { newest: LATEST_DELIVERIES })).keys;
  }
  const { keys } = await queryList(ledger, list, ALL_TIMES, undefined, { newest: SEARCHED_MAX });
  return keys.filter(({ pk }) => endpointOfDelivery(pk) === endpoint).slice(0, LATEST_DELIVERIES);
};

/** How many deliveries one recovery reads: reading and sending them takes some 10 of a request's 29 seconds. */
const RECOVERED_MAX = 10_000;

const keysSince = async (ledger: Ledger, account: string, range: TimeRange) => {
  const keys: IndexKey[] = [];
  let next: IndexKey | undefined;
  do {
    const oldest = RECOVERED_MAX - keys.length;
    const page = await queryList(ledger, deliveriesList(account), range, next, { oldest });
    keys.push(...page.keys);
    next = page.next;
  } while (next !== undefined && keys.length < RECOVERED_MAX);
  return { keys, next };
};

/**
 * One delivery of each webhook and endpoint that ended without being delivered, and of which no copy was delivered or
 * waits. A copy is on record from its first attempt: a record before its message could be left without one.
 */
const failedOf = (deliveries: readonly Delivery[]): readonly Delivery[] => {
  const states: readonly DeliveryState[] = ["delivered", "pending"];
  const webhookOf = ({ webhook_id, endpoint }: Delivery) => `${webhook_id} ${endpoint}`;
  const done = new Set(deliveries.filter(({ state }) => states.includes(state)).map(webhookOf));
  const failed = deliveries.filter((each) => !done.has(webhookOf(each)));
  return [...new Map(failed.map((each) => [webhookOf(each), each])).values()];
};

/** A delivery, and what it posts. */
type Shown = { readonly delivery: Delivery; readonly body: string };

const transactionDeliveries = async (context: ActionContext, transaction: Transaction): Promise<readonly Shown[]> =>
  (await deliveriesOf(context, transaction)).flatMap((delivery) =>
    delivery.event === TRANSACTION_UPDATED ? [{ delivery, body: webhookBody(transaction, delivery.status) }] : [],
  );

const transactionsOf = (delivery: Delivery): string[] =>
  delivery.event === TRANSACTION_UPDATED ? [delivery.transaction_pk] : [];

const view = (delivery: Delivery, nowMs: number) => ({
  endpoint: delivery.endpoint,
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

/** The enabled endpoints of an account that get this event, or the given one. Throws if there is none. */
const enabledEndpoints = async (
  { accounts, ledger }: ActionContext,
  accountId: string,
  endpoint: string | undefined,
  event?: EndpointEventName,
): Promise<readonly string[]> => {
  const account = await requireAccount(accounts, accountId);
  const chosen =
    endpoint === undefined && account.endpoints.length > 1
      ? account.endpoints.filter(({ events }) => event === undefined || events.includes(event))
      : [chosenEndpoint(account, endpoint)];
  const states = await readEndpointStates(ledger, [{ ...account, endpoints: [...chosen] }]);
  const enabled = states.filter(({ status }) => status === "on").map(({ id }) => id);
  if (enabled.length > 0) return enabled;
  if (chosen.length === 0) throw new OperatorError(`No endpoint of account ${accountId} gets ${event}`);
  throw new OperatorError(`No endpoint of account ${accountId} is enabled: nothing is sent`, {
    command: "Enable one with webhook enable",
  });
};

/** What to send, and the key of the transaction or the id of the event that it is about. */
type Replay = {
  readonly accountId: string;
  readonly message: TransactionEvent | AccountEvent;
  readonly about: string;
  readonly status: FinalStatus | null;
};

const transactionReplay = async (
  context: ActionContext,
  account: string | undefined,
  reference: string,
): Promise<Replay> => {
  const { pk, status: known, account_id: accountId } = await requireTransactionOf(context, account, reference);
  const status = finalStatus.safeParse(known).data;
  if (status === undefined)
    throw new OperatorError(`${reference} is still ${known}. Its webhook is sent when it is final`);
  return {
    about: pk,
    status,
    accountId,
    message: { event: TRANSACTION_UPDATED, transaction_pk: pk, status },
  };
};

const accountEventReplay = async (context: ActionContext, account: string | undefined, id: string): Promise<Replay> => {
  const { event, account_id, occurrence, body } = await requireAccountEvent(context, id, account);
  return { about: id, status: null, accountId: account_id, message: { event, account_id, occurrence, body } };
};

type AccountEventDelivery = Exclude<Delivery, { readonly event: typeof TRANSACTION_UPDATED }>;

/** References of the service never have this form. */
const isWebhookId = (text: string): boolean => /^evt_[0-9a-f]{32}$/.test(text);

/** A first delivery of an event on request; of another account than a given one it does not exist. */
const requireAccountEvent = async (
  context: ActionContext,
  id: string,
  account: string | undefined,
): Promise<AccountEventDelivery> => {
  const [first] = await accountEventCopies(context, id, account, [undefined]);
  if (
    first !== undefined &&
    first.event !== TRANSACTION_UPDATED &&
    (account === undefined || first.account_id === account)
  )
    return first;
  throw new NotFoundError(
    `There is no delivery of an event on request with the id ${id}. A transaction's are found by its reference`,
  );
};

/** The deliveries of an event on request under these names of resends, oldest first. */
const accountEventCopies = async (
  context: ActionContext,
  webhook_id: string,
  account: string | undefined,
  repeats: readonly (string | undefined)[],
): Promise<readonly Delivery[]> => {
  const accountIds = account === undefined ? await accountIdsOf(context.ledger) : [account];
  const endpoints = endpointIdsOf(await readAccounts(context, accountIds, endpointsMadeSchema));
  return readDeliveries(
    context.ledger,
    repeats.flatMap((repeat) => endpoints.map((endpoint) => accountEventDeliveryPk({ endpoint, webhook_id, repeat }))),
  );
};

/** The first deliveries of an event on request, and their resends, oldest first. */
const accountEventDeliveries = async (
  context: ActionContext,
  account: string | undefined,
  id: string,
): Promise<readonly Shown[]> => {
  const first = await requireAccountEvent(context, id, account);
  const repeats = await repeatsOf(context, first.account_id, id, first.created_at);
  const deliveries = await accountEventCopies(context, id, first.account_id, [undefined, ...repeats]);
  return deliveries.map((delivery) => ({ delivery, body: first.body }));
};
