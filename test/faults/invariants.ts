import { isDeepStrictEqual } from "node:util";
import { paginateScan } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { requireAccount } from "../../shared/access/account-store.ts";
import { type AccountEventName, accountEventName } from "../../shared/contract/webhook-events.ts";
import { openTransactions, readTransactions } from "../../shared/ledger/find-transactions.ts";
import { ledgerEntrySchema } from "../../shared/ledger/ledger-entry.ts";
import { proposalSchema } from "../../shared/ledger/proposal.ts";
import { listKeys, queryOpen, queuedKeys } from "../../shared/ledger/query-index.ts";
import { openList, PROPOSALS_LIST, QUEUED, queuedOrders } from "../../shared/ledger/schema.ts";
import { isIdentityCheck, isQueuedOrder, referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import { stateOf, type Transition, transitions } from "../../shared/ledger/transaction-state.ts";
import { nearLimits } from "../../shared/ledger/usage.ts";
import { readWallet, walletSchema } from "../../shared/ledger/wallet.ts";
import { queuedNumbers, queueOf } from "../../shared/queued-orders/order-queue.ts";
import { reconcileWallet } from "../../shared/reconciliation/reconcile-wallet.ts";
import { unmappedAttributes } from "../../tools/docs/data-map.ts";
import { LIMITED_RECIPIENT } from "../../tools/simulator/fulfilment.ts";
import { readStatement } from "../builders/ledger/statement.ts";
import { wrongUsage } from "../builders/ledger/usage.ts";
import type { Received } from "../builders/webhooks/receiver.ts";
import { wrongSealedPeriods } from "./sealed-periods.ts";
import type { StateChange } from "./system/event-sources.ts";
import type { Answer, System } from "./system/system.ts";
import { accountsOf, type SentRequest, type TestAccount } from "./test-account.ts";
import { carriesReference, likenessOf, ordersAbout } from "./upstream-orders.ts";

const EVER = { from: "0000", to: "9999" };

/** Checks what must hold once everything has settled. Returns a sentence for each violation. */
export const violations = async (account: TestAccount): Promise<readonly string[]> => {
  const wrong: string[] = [];
  for (const each of accountsOf(account)) wrong.push(...(await violationsOf(each)));
  return wrong;
};

const violationsOf = async (account: TestAccount): Promise<readonly string[]> => {
  const transactions = await transactionsOf(account);
  return [
    ...(await wrongMoney(account, transactions)),
    ...(await wrongProposals(account)),
    ...(await wrongUsage(account.system.ledger, account.accountId, transactions)),
    ...(await wrongSealedPeriods(account)),
    ...transactions
      .filter((transaction) => carriesReference(account.system, transaction))
      .flatMap((transaction) => wrongUpstreamOrder(account, transaction)),
    ...wrongOrdersWithoutReference(account, transactions),
    ...transactions.flatMap((transaction) => wrongHistory(account, transaction)),
    ...(await wrongWebhooks(account, transactions)),
    ...(await wrongAccountEvents(account)),
    ...account.requests.flatMap((request) => wrongAnswers(request, transactions)),
    ...(await unlisted(account, transactions)),
    ...(await wrongWaits(account, transactions)),
    ...overtaken(account, transactions),
    ...account.system.observed.lines.filter(({ line }) => isPersonal(line)).map(({ line }) => `Was logged: ${line}`),
    ...(await account.system.eventSources.deadLetters()).map((body) => `There is a dead letter: ${body}`),
  ];
};

const read = async ({ system }: TestAccount, pk: string): Promise<unknown> => {
  const { db, table } = system.ledger;
  return (await db.get({ TableName: table, Key: { pk }, ConsistentRead: true })).Item;
};

const readAll = async (account: TestAccount, list: string): Promise<unknown[]> => {
  const keys = await listKeys(account.system.ledger, list, EVER);
  return Promise.all(keys.map(({ pk }) => read(account, pk)));
};

export const transactionsOf = async (account: TestAccount): Promise<readonly Transaction[]> => {
  const { ledger } = account.system;
  const lists = [`${account.accountId}#live`, `${account.accountId}#test`];
  const keys = await Promise.all(lists.map((list) => listKeys(ledger, list, EVER)));
  return readTransactions(ledger, keys.flat());
};

const amounts = z.array(z.object({ amount_kobo: z.int() }));
const balance = z.object({ balance_kobo: z.int() });

/**
 * The balance is fundings and adjustments less all transactions that are not failed; the reconciliation agrees, and so
 * does the statement, which has one refund for each debit that failed.
 */
const wrongMoney = async (account: TestAccount, transactions: readonly Transaction[]): Promise<string[]> => {
  const { balance_kobo } = balance.parse(await read(account, `wallet#${account.accountId}`));
  const entries = amounts.parse(await readAll(account, `${account.accountId}#entries`));
  const charged = transactions.filter(({ mode, status }) => mode === "live" && status !== "failed");
  const expected = sum(entries) - sum(charged);
  const reconciliation = await reconcileWallet(account.system.ledger, account.accountId);
  const { lines, closing_kobo } = await readStatement(account.system.ledger, account.accountId, EVER);
  const refunds = lines.filter(({ kind }) => kind === "refund").map(({ id }) => id);
  const refunded = transactions.filter(
    ({ mode, status, debit }) => mode === "live" && status === "failed" && debit === undefined,
  );
  return [
    ...(balance_kobo === closing_kobo
      ? []
      : [`The balance is ${balance_kobo}, and its statement ends ${closing_kobo}`]),
    ...(refunds.length === refunded.length && refunded.every((each) => refunds.includes(referenceOf(each)))
      ? []
      : [
          `The statement has the refunds ${refunds.join(", ")}, and should have ${refunded.map(referenceOf).join(", ")}`,
        ]),
    ...(balance_kobo === expected ? [] : [`The balance is ${balance_kobo} and should be ${expected}`]),
    ...(balance_kobo < 0 ? [`The balance is negative: ${balance_kobo}`] : []),
    ...(reconciliation?.difference_kobo === 0 ? [] : [`The reconciliation returned ${JSON.stringify(reconciliation)}`]),
  ];
};

/** A funding that was proposed is made if, and only if, its proposal is approved. */
const wrongProposals = async (account: TestAccount): Promise<string[]> => {
  const { accountId } = account;
  const proposals = z.array(proposalSchema).parse(await readAll(account, PROPOSALS_LIST));
  const entries = z.array(ledgerEntrySchema).parse(await readAll(account, `${accountId}#entries`));
  return proposals
    .filter(({ account_id, action }) => account_id === accountId && action === "wallet fund")
    .flatMap(({ proposal_id, state, input }) => {
      const isMade = entries.some(({ entry_id }) => input.includes(JSON.stringify(entry_id)));
      return isMade === (state === "approved")
        ? []
        : [`${proposal_id} is ${state}, and its funding is${isMade ? "" : " not"} made`];
    });
};

const sum = (items: readonly { readonly amount_kobo: number }[]): number =>
  items.reduce((total, { amount_kobo }) => total + amount_kobo, 0);

/** At most one order, and no final status that the upstream contradicts. A check without a result is refunded. */
const wrongUpstreamOrder = ({ system }: TestAccount, transaction: Transaction): string[] => {
  const reference = referenceOf(transaction);
  const seen = system.upstream.requests.filter(
    (request) => request.reference === reference && request.outcome !== LIMITED_RECIPIENT,
  );
  const order = system.upstream.purchases.find((purchase) => purchase.reference === reference);
  if (transaction.mode === "test") return seen.length > 0 ? [`${reference} of the sandbox went upstream`] : [];
  return [
    ...(seen.length > 1 ? [`${reference} went upstream ${seen.length} times`] : []),
    ...(order?.status === "success" && transaction.status === "failed" && !isIdentityCheck(transaction)
      ? [`${reference} was delivered and refunded`]
      : []),
    ...(order?.status === "failed" && transaction.status === "success"
      ? [`${reference} was not delivered but charged`]
      : []),
    ...(order === undefined && transaction.status === "success" ? [`${reference} was never ordered but charged`] : []),
    ...(order !== undefined && ![undefined, order.upstreamReference].includes(transaction.upstream_reference)
      ? [`${reference} has the upstream reference of another order`]
      : []),
  ];
};

/**
 * Orders without our reference are counted: those that look the same are as many as their transactions at most, each that
 * was delivered is charged, and each that is final has one of its own.
 */
const wrongOrdersWithoutReference = ({ system }: TestAccount, transactions: readonly Transaction[]): string[] => {
  const own = transactions.filter((each) => each.mode === "live" && !carriesReference(system, each));
  return [...Map.groupBy(own, (each) => JSON.stringify(likenessOf(each)))].flatMap(([likeness, alike]) => {
    const [first] = alike;
    const orders = first === undefined ? [] : ordersAbout(system, first);
    const isCheck = alike.some(isIdentityCheck);
    const count = (list: readonly { readonly status: string }[], status: string): number =>
      list.filter((each) => each.status === status).length;
    const delivered = count(orders, "success");
    const named = alike.flatMap(({ upstream_reference }) => upstream_reference ?? []);
    return [
      ...(orders.length > alike.length ? [`${likeness} went upstream ${orders.length} times`] : []),
      ...(!isCheck && delivered > alike.length - count(alike, "failed")
        ? [`${likeness} was delivered ${delivered} times, and refunded ${count(alike, "failed")} times`]
        : []),
      ...(count(alike, "success") > delivered ? [`${likeness} was not delivered as often as charged`] : []),
      ...(new Set(named).size < named.length ||
      named.some((name) => orders.every((order) => order.upstreamReference !== name))
        ? [`${likeness} has the upstream reference of another order`]
        : []),
    ];
  });
};

const wrongHistory = ({ system }: TestAccount, transaction: Transaction): string[] => {
  const history = system.eventSources.changes.filter(({ pk }) => pk === transaction.pk);
  const last = history.at(-1)?.to;
  const state = stateOf(transaction);
  return [
    ...history
      .filter((change) => !isTransition(change))
      .map(({ from, to }) => `${transaction.pk} went from ${from} to ${to}`),
    ...(last === state ? [] : [`${transaction.pk} is ${state}, and its stream ends with ${last}`]),
  ];
};

/** Whether the product has this edge. */
const isTransition = ({ from, to }: StateChange): boolean =>
  Object.values<Transition>(transitions).some(
    (edge) => edge.to === to && (from === undefined ? edge.from.length === 0 : edge.from.includes(from)),
  );

const webhook = z.object({ data: z.object({ reference: z.string(), status: z.string() }) });

/** Each endpoint of an account gets every webhook, whatever the others answer. */
const wrongWebhooks = async (account: TestAccount, transactions: readonly Transaction[]): Promise<string[]> => {
  const endpoints = await endpointsOf(account);
  return transactions.flatMap((transaction) =>
    endpoints.flatMap(({ id, received }) =>
      wrongWebhooksAt(received, transaction).map((wrong) => `endpoint ${id}: ${wrong}`),
    ),
  );
};

/** The endpoints of an account, and what each of them received. */
const endpointsOf = async ({ system: { accounts }, receiver, accountId }: TestAccount) =>
  (await requireAccount(accounts, accountId)).endpoints.map(({ id, url, events }) => ({
    ...{ id, events },
    received: receiver.received.filter(({ path }) => path === new URL(url).pathname),
  }));

const wrongWebhooksAt = (received: readonly Received[], transaction: Transaction): string[] => {
  const reference = referenceOf(transaction);
  const webhooks = received.filter(({ body }) => body.includes(reference));
  const statuses = webhooks.map(({ body }) => webhook.parse(JSON.parse(body)).data.status);
  const isEnded = transaction.status !== "processing";
  return [
    ...(isEnded && webhooks.length === 0 ? [`${reference} ended ${transaction.status}, and no webhook was sent`] : []),
    ...statuses
      .filter((status) => status !== transaction.status)
      .map((status) => `a webhook of ${reference} says ${status}`),
    ...(new Set(webhooks.map(({ headers }) => headers.id)).size > 1
      ? [`${reference} has webhooks with several ids`]
      : []),
    ...(new Set(webhooks.map(({ body }) => body)).size > 1 ? [`${reference} has webhooks with several bodies`] : []),
  ];
};

const namedEvent = z.object({ event: z.string() });

/** A subscribed account gets what is due. Each is one event: no scenario brings one about twice. */
const wrongAccountEvents = async (account: TestAccount): Promise<string[]> => {
  const {
    system: { ledger, accounts },
    receiver,
    accountId,
  } = account;
  const { endpoints, order_limits } = await requireAccount(accounts, accountId);
  const subscribed: readonly string[] = endpoints.flatMap(({ events }) => events);
  const wallet = await readWallet(ledger, accountId);
  const due: Readonly<Record<AccountEventName, boolean>> = {
    "wallet.low": wallet.balance_kobo < (wallet.low_balance_threshold_kobo ?? 0),
    "limit.near": nearLimits(wallet, order_limits).length > 0,
    // A scenario that subscribes to it changes the catalog.
    "catalog.updated": true,
  };
  return accountEventName.options.flatMap((name) => {
    const copies = receiver.received.filter(({ body }) => namedEvent.parse(JSON.parse(body)).event === name);
    const isDue = subscribed.includes(name) && due[name];
    return [
      ...(isDue && copies.length === 0 ? [`${name} was not sent`] : []),
      ...(!subscribed.includes(name) && copies.length > 0 ? [`${name} was sent without a subscription`] : []),
      ...(new Set(copies.map(({ headers }) => headers.id)).size > 1 ? [`${name} was sent with several ids`] : []),
      ...(new Set(copies.map(({ body }) => body)).size > 1 ? [`${name} was sent with several bodies`] : []),
    ];
  });
};

const CODE = "x-error-code";

const success = z.object({ data: z.object({ transaction: z.object({ status: z.string() }) }) });

/** An error means that its request charged nothing and left no open transaction; a success, that it charged. */
const wrongAnswers = ({ route, body, mode, answers }: SentRequest, transactions: readonly Transaction[]): string[] => {
  const transaction = transactions.find((known) => known.caller_reference === body.reference && known.mode === mode);
  return answers.flatMap((answer, position) => {
    if (answer === undefined) return [];
    const code = answer.headers[CODE];
    const what = `${route.path} ${body.reference}, answer ${position + 1}`;
    const isCharged = transaction !== undefined && transaction.status !== "failed";
    if (code === undefined) {
      const { status } = success.parse(answer.body).data.transaction;
      // A `processing` transaction may have settled since.
      const isTrue = transaction !== undefined && (status === "processing" || status === transaction.status);
      return isTrue ? [] : [`${what}: ${status}, and the transaction is ${transaction?.status}`];
    }
    // The result of an earlier check expires: then the error is about its reference.
    const isEarlier =
      position > 0 && transaction !== undefined && isIdentityCheck(transaction) && code === "reference_reused";
    // One that names no transaction says nothing about later requests with its reference.
    const later = "x-transaction-reference" in answer.headers ? [] : answers.slice(position + 1);
    const isOfLater = later.some((other) => other === undefined || isFirstSuccess(other));
    return isCharged && !isEarlier && !isOfLater
      ? [`${what}: ${code}, and the transaction is ${transaction.status}`]
      : [];
  });
};

const isFirstSuccess = ({ headers }: Answer): boolean => !(CODE in headers) && !("idempotent-replayed" in headers);

/** The operator's list has every open live transaction, except those that wait: the sender's list has these. */
const unlisted = async (
  { system, accountId }: TestAccount,
  transactions: readonly Transaction[],
): Promise<string[]> => {
  const { keys: waiting } = await queryOpen(system.ledger, queuedOrders(accountId), EVER);
  const { setAside } = await queuedKeys(system.ledger);
  const seen = new Set([...(await openTransactions(system.ledger, EVER)), ...waiting, ...setAside].map(({ pk }) => pk));
  const open = transactions.filter(({ mode, status }) => mode === "live" && status === "processing");
  return open.filter(({ pk }) => !seen.has(pk)).map(({ pk }) => `${pk} is open and not in the list`);
};

/**
 * The wallet has the numbers of the orders in its queue, and is listed while it has some; each order has a number of its
 * own; and only an open live order waits.
 */
const wrongWaits = async (account: TestAccount, transactions: readonly Transaction[]): Promise<string[]> => {
  const { accountId } = account;
  const wallet = walletSchema.parse(await read(account, `wallet#${accountId}`));
  const waiting = transactions.filter(isQueuedOrder);
  const numbers = waiting.flatMap(({ queued: { number } }) => number ?? []).toSorted((one, other) => one - other);
  const counted = [...queuedNumbers(queueOf(wallet))];
  const openKey = ({ pk, mode, status, queued: wait }: Transaction): string | undefined => {
    if (mode === "test" || status !== "processing") return undefined;
    if (wait === undefined) return openList({ pk });
    return wait.number === undefined ? QUEUED : queuedOrders(accountId);
  };
  return [
    ...(isDeepStrictEqual(counted, numbers)
      ? []
      : [`${accountId} has the numbers ${counted} in its queue, and its queued orders ${numbers}`]),
    ...(numbers.length === 0 || wallet.open === QUEUED ? [] : [`${accountId} has queued orders and is not listed`]),
    ...waiting
      .filter(({ mode, status }) => mode === "test" || status !== "processing")
      .map(({ pk, status }) => `${pk} waits and is ${status}`),
    ...transactions
      .filter((transaction) => transaction.open !== openKey(transaction))
      .map(({ pk, open: key }) => `${pk} is in the index of open transactions as ${key}`),
  ];
};

/**
 * An order that was answered as waiting is sent before those that its account placed after the answer, unless the
 * upstream refused it once more: those may have been under way.
 */
const overtaken = ({ system, requests }: TestAccount, transactions: readonly Transaction[]): string[] => {
  const ownReference = ({ body, mode }: SentRequest): string | undefined => {
    const own = transactions.find((each) => each.caller_reference === body.reference && each.mode === mode);
    return own && referenceOf(own);
  };
  const sentAt = (request: SentRequest): number => {
    const own = ownReference(request);
    return system.upstream.requests.findIndex(({ reference }) => reference !== null && reference === own);
  };
  const isRefusedAfterAnswer = (request: SentRequest): boolean => {
    const own = ownReference(request) ?? "";
    const lines = system.observed.lines.filter(({ atMs }) => atMs >= request.answeredMs);
    return lines.some(({ line }) => line.includes("_limited") && line.includes(own));
  };
  return requests.flatMap((first) => {
    const isAnswered = first.answers[0]?.headers["x-estimated-delivery"] !== undefined;
    const position = sentAt(first);
    if (!isAnswered || position < 0 || isRefusedAfterAnswer(first)) return [];
    // Checks never wait.
    const later = requests.filter(({ placedMs, route }) => placedMs >= first.answeredMs && route.group === "vtu");
    const earlier = later.filter((other) => sentAt(other) >= 0 && sentAt(other) < position);
    return earlier.map(({ body }) => `${body.reference} was sent before ${first.body.reference}, which waited`);
  });
};

/** The NINs of these checks, which an amount may end like, and the family names of the simulator's people. */
const PERSONAL =
  /(?<!\d)(12345678900|0000000000\d)|Mockson|Sampleton|Testerman|Specimen|Fictive|Standin|Dummyworth|Exampleson/;
const isPersonal = (text: string): boolean => PERSONAL.test(text);

/** Stored items with personal data of checked people, and attributes that are not in docs/data-map.md. */
export const keptPersonalData = async ({ db, tables }: System): Promise<readonly string[]> => {
  const kept: string[] = [];
  const unmapped = new Set<string>();
  for (const [table, TableName] of tables) {
    for await (const { Items = [] } of paginateScan({ client: db }, { TableName })) {
      kept.push(...Items.map((item) => JSON.stringify(item)).filter(isPersonal));
      for (const name of Items.flatMap((item) => unmappedAttributes(item, table))) unmapped.add(name);
    }
  }
  return [...kept, ...unmapped];
};
