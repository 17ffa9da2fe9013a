import { expect, vi } from "vitest";
import { setEndpoint } from "../../shared/webhooks/endpoint.ts";
import { startReceiver } from "../../test/builders/webhooks/receiver.ts";
import { type StrictName, strictSettings } from "../../test/strict/settings.ts";
import { createCallers } from "./callers.ts";
import { createClient } from "./client.ts";
import { expectBalancesMatchEntries, expectBalancesWereNeverNegative, readLedgerState } from "./ledger-state.ts";
import {
  byReference,
  expectFinalStatusesAreDelivered,
  expectResponsesMatch,
  expectUpstreamAgrees,
  webhooksOf,
} from "./purchase-assertions.ts";
import { inParallel, reportResults, spread, tally } from "./results.ts";
import { type LoadAccount, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import {
  openNow,
  QUEUED_MS_MAX,
  resolveRest,
  sendMissingEvents,
  waitForDecisions,
  waitForRefunds,
  waitForUpstreamEvents,
} from "./settle-purchases.ts";
import { expectNoUnexpectedErrors, strainOf } from "./unexpected-errors.ts";

const WALLETS = 20;
/** The last wallets run out of money during the run. */
const POOR_WALLETS = 2;
/** Every 11th request replays an order: 10 % of the orders. */
const REPLAY_EVERY = 11;
/** Below the rate limit of 60 per minute, with room for replays. */
const ORDERS_PER_KEY = 40;

/**
 * Makes concurrent purchases with replays and upstream faults, and checks every balance, response, upstream order and
 * webhook. With `settles` the run continues until no transaction is open, for more than 6 minutes, because unmatched
 * events wait as long.
 */
export const runPurchases = async (options: {
  readonly orders: number;
  readonly concurrency: number;
  readonly settles: boolean;
  /** The behaviour of the strict DynamoDB layer. */
  readonly aws?: { readonly setting: StrictName; readonly seed: number };
}): Promise<void> => {
  const { orders, concurrency, settles, aws } = options;
  const settings = aws && strictSettings[aws.setting];
  const service = await startServiceProcess(settings && { strict: { settings, seed: aws.seed } });
  const receiver = await startReceiver();
  const client = createClient(service.baseUrl);
  try {
    const { admin, simulator } = service;
    const accounts = await openAccounts(service, orders);
    for (const { accountId } of accounts)
      await setEndpoint(admin.endpoints, admin.addressRules, accountId, receiver.url);

    const callers = createCallers(client, accounts, (fault) => simulator.state.faults.add(fault));
    const requests = Math.floor((orders * REPLAY_EVERY) / (REPLAY_EVERY - 1));
    const begun = performance.now();
    await inParallel(requests, concurrency, async (index) => {
      const turn = index % REPLAY_EVERY;
      if (turn < REPLAY_EVERY - 1) return callers.place(Math.floor(index / REPLAY_EVERY) * (REPLAY_EVERY - 1) + turn);
      return callers.replayOne();
    });
    const seconds = (performance.now() - begun) / 1_000;
    expect(simulator.state.faults.list(), "Every fault was used").toEqual([]);

    const resentEvents = await waitForUpstreamEvents(admin.ledger, simulator.state);
    await waitForRefunds(admin.ledger, callers.reportedFailed());
    const open = await openNow(admin.ledger);
    if (settles) await waitForDecisions(admin.ledger, await sendMissingEvents(simulator.state, open));
    const resolved = settles ? await resolveRest(admin.ledger, simulator.state) : 0;

    const state = await readLedgerState(admin.ledger);
    const transactionsByReference = byReference(state.transactions);
    const settled = state.transactions.filter(({ status }) => status !== "processing").length;
    await vi.waitFor(() => expect(webhooksOf(receiver.received).statuses.size).toBe(settled), {
      timeout: QUEUED_MS_MAX,
      interval: 100,
    });
    expectBalancesMatchEntries(state);
    await expectBalancesWereNeverNegative(admin.ledger);
    expectResponsesMatch(callers.placed, transactionsByReference);
    expectUpstreamAgrees(simulator.state, transactionsByReference);
    expectFinalStatusesAreDelivered(receiver.received, transactionsByReference);
    const stillOpen = await openNow(admin.ledger);
    expect(stillOpen.length, "The operator sees every open transaction").toBe(state.transactions.length - settled);
    if (settles) expect(stillOpen).toEqual([]);
    expectNoUnexpectedErrors(service);

    reportResults(settings === undefined ? "purchases" : `purchases, AWS: ${aws?.setting}, seed ${aws?.seed}`, {
      orders,
      requests: callers.outcomes.length,
      wallets: WALLETS,
      concurrency,
      seconds: Math.round(seconds),
      "requests per second": Math.round(callers.outcomes.length / seconds),
      ...spread(callers.durationsMs),
      answers: tally(callers.outcomes),
      "upstream orders": simulator.state.purchases.length,
      "events sent again": resentEvents,
      "open after the responses": open.length,
      "settled by a late event": open.length - resolved - (settles ? 0 : open.length),
      "resolved by the operator": resolved,
      settled,
      webhooks: receiver.received.length,
      ...strainOf(service),
    });
  } finally {
    client.close();
    await service.stop();
    await receiver.stop();
  }
};

const openAccounts = async (service: ServiceProcess, orders: number): Promise<readonly LoadAccount[]> => {
  const each = Math.ceil(orders / WALLETS);
  const keys = Math.ceil(each / ORDERS_PER_KEY);
  const accounts: LoadAccount[] = [];
  while (accounts.length < WALLETS) {
    const isPoor = accounts.length >= WALLETS - POOR_WALLETS;
    // An order costs 750 NGN at most, and 310 on average.
    accounts.push(await service.newAccount({ naira: each * (isPoor ? 150 : 750), keys }));
  }
  return accounts;
};
