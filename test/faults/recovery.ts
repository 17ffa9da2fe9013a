import { requireAccount } from "../../shared/access/account-store.ts";
import { accountEventName } from "../../shared/contract/webhook-events.ts";
import { ALL_TIMES, dueParkedEndpointKeys, queryOpen, queuedKeys } from "../../shared/ledger/query-index.ts";
import {
  accountPk,
  endpointKeyOf,
  parkedDeliveries,
  parkedEndpointPk,
  subscriptionPk,
} from "../../shared/ledger/schema.ts";
import { isIdentityCheck } from "../../shared/ledger/transaction.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { resolveTransaction } from "../../shared/upstream-events/operator-resolution.ts";
import { openInTable } from "./open-transactions.ts";
import { advance } from "./system/clock.ts";
import type { System } from "./system/system.ts";
import { accountsOf, type TestAccount } from "./test-account.ts";
import { orderOf } from "./upstream-orders.ts";

/** Who helps after a fault: caller, upstream and operator, or only the queues, the stream and the schedules. */
export const recoveries = ["assisted", "unassisted"] as const;
export type Recovery = (typeof recoveries)[number];

/** Longer than a visibility timeout, and than the delay before the refund of an indeterminate debit. */
const ROUND_MS = 185_000;
/** While only parked deliveries are left: their waits are up to 11 hours. */
const PARKED_ROUND_MS = 1_800_000;
const ROUNDS_MAX = 100;
/** From this age on an unanswered check is refunded. */
const ABANDONED_MS = 6 * 60_000;

/** A limit of the upstream is free again by then, and the sender runs again. */
const NEXT_MINUTE_MS = 61_000;
const SENDER_RUNS_MAX = 20;

/** Lets everything settle that can, without further faults. */
export const recover = async (account: TestAccount, recovery: Recovery): Promise<void> => {
  const { system } = account;
  const accounts = accountsOf(account);
  system.plan = () => undefined;
  system.strict()?.calm();
  if (recovery === "assisted") {
    for (const each of accounts) {
      await resendUnanswered(each);
      await sendEvents(each);
    }
  }
  await deliverUntilIdle(system);
  await sendUntilNoneWaits(system);
  advance(ABANDONED_MS);
  await system.landLateWrites();
  await system.runSchedule("reconcile-ledger");
  await system.runSchedule("refresh-catalog");
  await system.runSchedule("requeue-deliveries");
  await deliverUntilIdle(system);
  if (recovery === "assisted") {
    for (const each of accounts) await resolveOpen(each);
    await deliverUntilIdle(system);
  }
};

/** Runs the sender of queued orders each minute, until none is listed, and no wallet that has some. */
export const sendUntilNoneWaits = async (system: System): Promise<void> => {
  for (let run = 0; run < SENDER_RUNS_MAX; run += 1) {
    const { wallets, setAside } = await queuedKeys(system.ledger);
    if (wallets.length + setAside.length === 0) return;
    advance(NEXT_MINUTE_MS);
    await system.runSchedule("send-queued-orders");
    await deliverUntilIdle(system);
  }
  throw new Error(`Orders wait after ${SENDER_RUNS_MAX} runs of the sender`);
};

/** Delivers until the queues and the stream are empty, and no delivery is parked. */
export const deliverUntilIdle = async (system: System): Promise<void> => {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await system.eventSources.deliver();
    const isQuiet = system.eventSources.waiting() === 0;
    if (isQuiet && !(await hasParked(system))) {
      system.strict()?.passLag();
      return;
    }
    advance(isQuiet ? PARKED_ROUND_MS : ROUND_MS);
    await system.runSchedule("requeue-deliveries");
  }
  throw new Error(`The queues are not empty, or deliveries are parked, after ${ROUNDS_MAX} rounds`);
};

const hasParked = async ({ ledger }: System): Promise<boolean> => {
  for await (const page of dueParkedEndpointKeys(ledger, ALL_TIMES.to)) {
    for (const { pk } of page) {
      const { keys } = await queryOpen(ledger, parkedDeliveries(endpointKeyOf(pk)), ALL_TIMES);
      if (keys.length > 0) return true;
    }
  }
  return false;
};

/** Caller and operator send again what got no answer. */
const resendUnanswered = async (account: TestAccount): Promise<void> => {
  for (const request of account.requests) {
    for (let tries = 0; request.answers.at(-1) === undefined && tries < 3; tries += 1) await account.resend(request);
  }
  for (const command of account.commands) {
    if (command.ending.kind !== "returned") command.ending = await account.system.run(command.work);
  }
};

/** The upstream settles its orders, and sends each event until it is received. */
const sendEvents = async ({ system, accountId }: TestAccount): Promise<void> => {
  const open = await openInTable(system);
  for (const transaction of open.filter(({ account_id }) => account_id === accountId)) {
    const order = orderOf(system, transaction);
    if (order === undefined || isIdentityCheck(transaction)) continue;
    system.upstream.settle(order, "success");
    const ended = order.status === "failed" ? "failed" : "success";
    for (let tries = 0; tries < 3; tries += 1) if (await system.sendEvent(order, ended)) break;
  }
};

/** The operator resolves open transactions as the upstream's records say. */
export const resolveOpen = async ({ system, accountId }: TestAccount): Promise<void> => {
  const open = await openInTable(system);
  for (const transaction of open.filter(({ account_id }) => account_id === accountId)) {
    const order = orderOf(system, transaction);
    const status = order?.status === "success" && !isIdentityCheck(transaction) ? "success" : "failed";
    try {
      await resolveTransaction(system.ledger, transaction, status, {
        by: "test",
        why: "as the upstream's records say",
      });
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
    }
  }
};

/** Leaves no open transaction that could match another account's event, and no account for later reconciliations. */
export const closeTestAccount = async (account: TestAccount): Promise<void> => {
  const { system, receiver, accountId, others } = account;
  for (const other of others) await closeTestAccount(other);
  await resolveOpen(account);
  await deliverUntilIdle(system);
  const { endpoints } = await requireAccount(system.accounts, accountId);
  const ofEndpoints = endpoints.flatMap(({ id: endpoint }) => [
    parkedEndpointPk({ accountId, endpoint }),
    ...accountEventName.options.map((event) => subscriptionPk(event, { accountId, endpoint })),
  ]);
  for (const pk of [accountPk(accountId), ...ofEndpoints]) {
    await system.db.delete({ TableName: system.accounts.ledgerTable, Key: { pk } });
  }
  system.upstream.reset();
  system.eventSources.changes.length = 0;
  for (const seen of Object.values(system.observed)) seen.length = 0;
  receiver.received.length = 0;
};
