import { expect, vi } from "vitest";
import { setEndpoint } from "../../shared/webhooks/endpoint.ts";
import { startReceiver } from "../builders/receiver.ts";
import { type StrictName, strictSettings } from "../strict/settings.ts";
import { createCallers } from "./callers.ts";
import { createClient } from "./client.ts";
import { expectBalancesWereNeverNegative, expectMoneyIsExact, readLedgerState } from "./ledger-state.ts";
import {
  byReference,
  expectAnswersMatch,
  expectFinalStatusesAreDelivered,
  expectUpstreamAgrees,
  webhooksOf,
} from "./purchase-assertions.ts";
import { inParallel, reportResults, spread, tally } from "./results.ts";
import { type LoadAccount, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import {
  openNow,
  resolveRest,
  sendMissingEvents,
  waitForDecisions,
  waitForRefunds,
  waitForUpstreamEvents,
} from "./settle-purchases.ts";
import { expectNoUnexpectedErrors, strainOf } from "./unexpected-errors.ts";

const WALLETS = 20;
/** The last ones run out of money half-way. */
const POOR_WALLETS = 2;
/** Every 11th request repeats an order: 10 % of the orders. */
const REPEAT_EVERY = 11;
/** A message whose delivery AWS disturbed comes again after 3 minutes. */
const ANNOUNCED_MS_MAX = 300_000;
/** Below the limit of 60 a minute even if all came in one minute, with room for repeats. */
const ORDERS_PER_KEY = 40;

/**
 * So many purchases at once, with repeats and with upstreamFault at the upstream. `settles` says whether the run goes on until nothing is
 * open any more, which takes more than 3 minutes, for so long an unknown event waits.
 */
export const runPurchases = async (options: {
  readonly orders: number;
  readonly concurrency: number;
  readonly settles: boolean;
  /** How AWS behaves towards the service; the seed decides the details. */
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
    const requests = Math.floor((orders * REPEAT_EVERY) / (REPEAT_EVERY - 1));
    const begun = performance.now();
    await inParallel(requests, concurrency, async (index) => {
      const turn = index % REPEAT_EVERY;
      if (turn < REPEAT_EVERY - 1) return callers.place(Math.floor(index / REPEAT_EVERY) * (REPEAT_EVERY - 1) + turn);
      return callers.repeatOne();
    });
    const seconds = (performance.now() - begun) / 1_000;
    expect(simulator.state.faults.list(), "Every fault was met").toEqual([]);

    const sentAgain = await waitForUpstreamEvents(admin.ledger, simulator.state);
    await waitForRefunds(admin.ledger, callers.reportedFailed());
    const open = await openNow(admin.ledger);
    if (settles) await waitForDecisions(admin.ledger, await sendMissingEvents(simulator.state, open));
    const resolved = settles ? await resolveRest(admin.ledger, simulator.state) : 0;

    const state = await readLedgerState(admin.ledger);
    const transactionsByReference = byReference(state.transactions);
    const ended = state.transactions.filter(({ status }) => status !== "processing").length;
    await vi.waitFor(() => expect(webhooksOf(receiver.received).statuses.size).toBe(ended), {
      timeout: ANNOUNCED_MS_MAX,
      interval: 100,
    });
    expectMoneyIsExact(state);
    await expectBalancesWereNeverNegative(admin.ledger);
    expectAnswersMatch(callers.placed, transactionsByReference);
    expectUpstreamAgrees(simulator.state, transactionsByReference);
    expectFinalStatusesAreDelivered(receiver.received, transactionsByReference);
    const stillOpen = await openNow(admin.ledger);
    expect(stillOpen.length, "What is open is seen by the operator").toBe(state.transactions.length - ended);
    if (settles) expect(stillOpen).toEqual([]);
    expectNoUnexpectedErrors(service);

    reportResults(settings === undefined ? "purchases" : `purchases, AWS: ${aws?.setting}, seed ${aws?.seed}`, {
      orders,
      requests: callers.outcomes.length,
      wallets: WALLETS,
      concurrency,
      seconds: Math.round(seconds),
      "requests a second": Math.round(callers.outcomes.length / seconds),
      ...spread(callers.durationsMs),
      answers: tally(callers.outcomes),
      "upstream orders": simulator.state.purchases.length,
      "events sent again": sentAgain,
      "left open by the answers": open.length,
      "ended by a late event": open.length - resolved - (settles ? 0 : open.length),
      "ended by the operator": resolved,
      lost: 0,
      double: 0,
      announced: ended,
      webhooksOf: receiver.received.length,
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
