import type { ScheduledFunction } from "../../infra/functions.ts";
import { requireAccount } from "../../shared/access/account-store.ts";
import { setAccountLimits, setAccountStatus } from "../../shared/access/accounts.ts";
import { createKey, revokeKey, rotateKey, setKeyLimits } from "../../shared/access/keys.ts";
import type { ActionContext } from "../../shared/actions/action-context.ts";
import { fourEyesSettings } from "../../shared/actions/four-eyes.ts";
import { proposalsRuns, propose } from "../../shared/actions/proposals.ts";
import type { OrderLimits } from "../../shared/contract/order-limits.ts";
import { routes } from "../../shared/contract/routes.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { dateIn, dayBounds } from "../../shared/contract/values/time-zone.ts";
import { type AccountEventName, accountEventName } from "../../shared/contract/webhook-events.ts";
import { auditEntry, auditPut } from "../../shared/ledger/audit.ts";
import { adjustWallet, fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { setLowBalanceThreshold } from "../../shared/ledger/low-balance-threshold.ts";
import { latestProposals } from "../../shared/ledger/proposal.ts";
import { sealWallet } from "../../shared/ledger/wallet-seal.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { DECISION_AGE_MS } from "../../shared/upstream-events/apply-upstream-event.ts";
import { discardEvent, matchEvent, resolveTransaction } from "../../shared/upstream-events/operator-resolution.ts";
import { latestEvents } from "../../shared/upstream-events/stored-event.ts";
import { addEndpoint, enableEndpoint, requireEndpoint, rotateWebhookSecret } from "../../shared/webhooks/endpoint.ts";
import { DOWN_EVENTS, recordEndpointHealth } from "../../shared/webhooks/endpoint-health.ts";
import { emulatorClient } from "../builders/dynamodb/tables.ts";
import { anActionContext, anOwnersRequest } from "../builders/ledger/action-context.ts";
import { checksumKey } from "../builders/ledger/secrets.ts";
import { anOrder } from "../builders/service/service.ts";
import { aCatalog } from "../builders/upstream/catalog.ts";
import { FACE_VALUES } from "../builders/upstream/upstream-costs.ts";
import { firstEndpoint } from "../builders/webhooks/endpoint.ts";
import { subscribe } from "../builders/webhooks/subscribe.ts";
import { transactionsOf } from "./invariants.ts";
import { sealUntil } from "./sealed-periods.ts";
import { advance, now } from "./system/clock.ts";
import type { Concurrency } from "./system/event-sources.ts";
import type { System } from "./system/system.ts";
import { openTestAccount, type TestAccount, webhookRules } from "./test-account.ts";

/** A minute, and a second in which the limit's minute is over too. */
const OVER_A_MINUTE_MS = 61_000;

/** What one account does; its effects are counted, and then each is hit by a fault. */
export type Scenario = {
  /** Runs without faults, and its effects are not counted. */
  readonly prepare?: (account: TestAccount) => Promise<void>;
  readonly act: (account: TestAccount) => Promise<void>;
  /** The statuses of its transactions after a run without faults. */
  readonly statuses: readonly string[];
  /** It has more effects than others, so that the short forms hit fewer of them. */
  readonly isLong?: true;
};

/** Phone numbers by what the upstream does with an order for them. */
const phoneNumbers = {
  failed: "08000000001",
  succeedsLater: "08000000002",
  failsLater: "08000000003",
  insufficientBalance: "08000000005",
  unavailable: "08000000006",
  noAnswer: "08000000007",
};

const order = (reference: string, phoneNumber = "08031234567") => ({
  ...anOrder({ phone_number: phoneNumber }),
  reference,
});
const topUp = (reference: string, phone_number = "08031234567") => ({
  ...{ network: "mtn", amount: 100 },
  ...{ phone_number, reference },
});
const check = (reference: string, nin = "12345678900") => ({ nin, is_consent: true, reference });
const decision = { by: "operator", why: "the upstream's support said so" };

type Act = Scenario["act"];
/** One after another. */
const sequence =
  (...acts: readonly Act[]): Act =>
  async (account) => {
    for (const act of acts) await act(account);
  };

const deliver: Act = ({ system }) => system.eventSources.deliver();
/** One order, whose number decides what the upstream does. */
const place =
  (phone?: string): Act =>
  async (account) =>
    void (await account.send(routes.buyData, order("order-1", phone)));
/** Orders for the usual number. */
const placeEach =
  (...references: readonly string[]): Act =>
  async (account) => {
    for (const reference of references) await account.send(routes.buyData, order(reference));
  };
const topUps =
  (phone: string | undefined, ...references: readonly string[]): Act =>
  async (account) => {
    for (const reference of references) await account.send(routes.buyAirtime, topUp(reference, phone));
  };
const buy = (phone?: string): Act => sequence(place(phone), deliver);
const verify = (nin?: string): Act =>
  sequence(async (account) => void (await account.send(routes.verifyNin, check("check-1", nin))), deliver);

/** An operator's action on the system's tables, in a stage where two people decide. */
const contextOf = ({ ledger, accounts }: System, sub: string): ActionContext => {
  const actor = { by: sub, person: { issuer: "https://login.example.com/", sub } };
  const names = { accessTable: "", ledgerTable: "", auditTable: "", cacheTable: "", checksumKey };
  return {
    ...anActionContext({ ...names, db: emulatorClient() }, { by: actor }),
    ...anOwnersRequest({ actor, by: sub, roles: ["operator"] }),
    capacity: "operator",
    fourEyes: fourEyesSettings.parse({}),
    ledger,
    accounts,
  };
};

/** The endpoint has failed for this many events. */
const reportFailures =
  (events: number): Act =>
  async ({ system, accountId }) => {
    const key = firstEndpoint(accountId);
    const { generation } = await requireEndpoint(system.endpoints, accountId, key.endpoint);
    for (let event = 1; event <= events; event += 1) {
      const since = isoTime(Date.now());
      const health = { kind: "failing", since, event: `evt_${event}` } as const;
      await recordEndpointHealth(system.ledger, { ...key, generation }, health);
    }
  };

/** So much later, this run, and what follows from it. */
const runAfter =
  (ms: number, schedule: ScheduledFunction): Act =>
  async ({ system }) => {
    advance(ms);
    await system.runSchedule(schedule);
    await system.eventSources.deliver();
  };
const requeueAfter = (ms: number): Act => runAfter(ms, "requeue-deliveries");
/** The sender's next run. */
const sendAfter = (ms = OVER_A_MINUTE_MS): Act => runAfter(ms, "send-queued-orders");
/** The next run that asks the upstream for open orders. */
const askAgain = runAfter(OVER_A_MINUTE_MS, "ask-upstream");
const deliverAfter =
  (ms: number): Act =>
  async ({ system }) => {
    advance(ms);
    await system.eventSources.deliver();
  };

/** The upstream's limit refuses the next orders, each for a minute. */
const refuseByLimit =
  (times: number): Act =>
  async ({ system: { upstream } }) =>
    upstream.faults.add({ kind: "rate_limited", path: "/vtu", method: "POST", times, retry_after_s: 60 });

/** The upstream refuses the next orders by themselves: its limit is not spent. */
const refuseOrders =
  (times: number): Act =>
  async ({ system: { upstream } }) =>
    upstream.faults.add({ kind: "status", path: "/vtu", method: "POST", times, status: 429 });

const failNext =
  (count: number): Act =>
  async ({ receiver }) =>
    receiver.failNext(count);

const settleUpstream = (account: TestAccount, status: "success" | "failed"): void => {
  const newest = account.system.upstream.purchases.at(-1);
  if (newest !== undefined) account.system.upstream.settle(newest, status);
};

/** The upstream settles the newest order and sends its event, again if that fails; the same with further events. */
const sendEvents =
  (...statuses: readonly ("success" | "failed")[]): Act =>
  async (account) => {
    for (const status of statuses) {
      settleUpstream(account, status);
      const newest = account.system.upstream.purchases.at(-1);
      if (newest !== undefined && !(await account.system.sendEvent(newest, status)))
        await account.system.sendEvent(newest, status);
    }
  };

const onlyTransaction = async (account: TestAccount) => {
  const [transaction] = await transactionsOf(account);
  if (transaction === undefined) throw new Error("The account has no transaction");
  return transaction;
};

/** Makes a purchase whose upstream did not answer, and has settled it since. */
const openPurchase =
  (ended: "success" | "failed"): Act =>
  async (account) => {
    await account.send(routes.buyData, order("order-1", phoneNumbers.noAnswer));
    settleUpstream(account, ended);
    // An operator may resolve it only once its request cannot settle it any more.
    advance(60_000);
  };

const resolve =
  (status: "success" | "failed"): Act =>
  async (account) => {
    const transaction = await onlyTransaction(account);
    await account.command(() => resolveTransaction(account.system.ledger, transaction, status, decision));
    await account.system.eventSources.deliver();
  };

/** After this long an event without a known reference is matched, or stored for an operator. */
const MATCH_MS = DECISION_AGE_MS + 10_000;
/** An event whose transaction the index does not show yet is retried after 5 s. */
const EVENT_RETRY_MS = 6_000;

/** Delivers events, and once more those whose transaction the index does not show at first. */
const applyEvents =
  (concurrency?: Concurrency): Act =>
  async ({ system }) => {
    await system.eventSources.deliver(concurrency);
    advance(EVENT_RETRY_MS);
    await system.eventSources.deliver(concurrency);
  };
/** The same until an event without a known reference is matched, or stored. */
const decideEvents = sequence(deliver, deliverAfter(MATCH_MS));

/** A `failed` event without a known reference, which only an operator may match. */
const storeUnmatchedEvent = sequence(openPurchase("failed"), sendEvents("failed"), decideEvents);

const newestEvent = async ({ system }: TestAccount) => {
  const event = (await latestEvents(system.ledger)).at(-1);
  if (event === undefined) throw new Error("No event is stored");
  return event;
};

/** Reads without `ConsistentRead` are behind by 2 s at most. */
const BEHIND_MS = 3_000;

/** An order that is placed late is placed this long before the end of a day. */
const LATE_MS = 60_000;

/** What is left of the day by which limits count. */
const restOfDayMs = (): number => Date.parse(dayBounds(dateIn(now(), "Africa/Lagos"), "Africa/Lagos").to) - now();

/** The catalog can be too old to sell by then, also while a read still finds the one before: it is refreshed. */
const beginNextDay: Act = async ({ system }) => {
  advance(restOfDayMs());
  await system.runSchedule("refresh-catalog");
  advance(BEHIND_MS);
};

/** Has the account's orders counted, and those of its live key. */
const limitOrders =
  (limits: OrderLimits, keyLimits: OrderLimits): Act =>
  async ({ system: { accounts }, accountId }) => {
    const { keys } = await requireAccount(accounts, accountId);
    await setAccountLimits(accounts, accountId, limits);
    for (const { key_id, mode } of keys) {
      if (mode === "live") await setKeyLimits(accounts, accountId, key_id, keyLimits);
    }
  };

const setStatus =
  (status: "active" | "restricted"): Act =>
  ({ system, accountId, command }) =>
    command(() => setAccountStatus(system.accounts, accountId, status));

const firstKeyId = async ({ system, accountId }: TestAccount): Promise<string> =>
  (await requireAccount(system.accounts, accountId)).keys[0]?.key_id ?? "";

/** The caller keeps using its first key, also where a rotation made the newest key expire early. */
const newestKeyId = async ({ system, accountId }: TestAccount): Promise<string> =>
  (await requireAccount(system.accounts, accountId)).keys.at(-1)?.key_id ?? "";

/** What brings each event on request about. */
const accountEvents: Readonly<Record<AccountEventName, Scenario & { readonly prepare: Act }>> = {
  "wallet.low": {
    prepare: async ({ system: { ledger }, accountId }) => {
      const audit = auditEntry({ audit_log: accountId, by: "operator", action: "wallet threshold" }, ledger.clock());
      await setLowBalanceThreshold(ledger, accountId, koboFromNaira(9_600), auditPut(ledger, audit));
    },
    act: sequence(buy(), requeueAfter(60_000), requeueAfter(60_000)),
    statuses: ["success"],
  },
  "limit.near": {
    prepare: limitOrders({ month_orders: 1 }, {}),
    act: sequence(buy(), requeueAfter(60_000), requeueAfter(60_000)),
    statuses: ["success"],
  },
  "catalog.updated": {
    prepare: async ({ system }) => {
      // The account before this one left the changed catalog.
      advance(2 * 3_600_000);
      await system.runSchedule("refresh-catalog");
      system.upstream.catalogBody = { status: true, message: "OK", data: aCatalog(20) };
      advance(2 * 3_600_000);
    },
    act: async ({ system }) => {
      for (let minute = 0; minute < 2; minute += 1) {
        await system.runSchedule("refresh-catalog");
        advance(60_000);
      }
      await system.eventSources.deliver();
    },
    statuses: [],
  },
};

const forSubscribers = Object.fromEntries(
  accountEventName.options.map((event): [string, Scenario] => {
    const { prepare, ...scenario } = accountEvents[event];
    const subscribed: Act = ({ system: { ledger }, accountId }) => subscribe(ledger, accountId, [event]);
    return [`${event} for a subscribed account`, { ...scenario, prepare: sequence(prepare, subscribed) }];
  }),
);

export const scenarios: Readonly<Record<string, Scenario>> = {
  "a purchase that is delivered": { act: buy(), statuses: ["success"] },
  "a purchase that the upstream cannot deliver": { act: buy(phoneNumbers.failed), statuses: ["processing"] },
  "a purchase beyond our balance at the upstream": { act: buy(phoneNumbers.insufficientBalance), statuses: ["failed"] },
  "a purchase that the upstream refuses": {
    prepare: async (account) => {
      const body = { status: false, message: "Invalid", errors: { phone_number: ["Is not a number"] } };
      account.system.upstream.faults.add({ kind: "status", path: "/vtu", status: 422, body, times: 1 });
    },
    act: buy(),
    statuses: ["failed"],
  },
  "a purchase whose upstream is down": { act: buy(phoneNumbers.unavailable), statuses: ["processing"] },
  "a purchase beyond the wallet's balance": {
    prepare: async (account) => {
      const accountId = account.accountId;
      const empty = { accountId, adjustmentId: "empty", amount_kobo: -koboFromNaira(9_900), why: "for the test" };
      await adjustWallet(account.system.ledger, empty);
    },
    act: buy(),
    statuses: [],
  },
  "purchases under limits of account and key, of which one is refunded, one is refused, and one begins a day": {
    prepare: limitOrders({ day_orders: 2, month_naira: 5_000 }, { day_naira: 1_000 }),
    act: sequence(
      place(phoneNumbers.insufficientBalance),
      topUps(undefined, "top-up-1"),
      placeEach("order-2", "order-3"),
      beginNextDay,
      placeEach("order-4"),
      deliver,
    ),
    statuses: ["failed", "success", "success", "success"],
  },
  "a refund of an order that was counted on the day before": {
    prepare: async (account) => {
      await limitOrders({ day_orders: 5 }, { month_orders: 5 })(account);
      // An order that has been open for 24 hours pages by itself.
      advance(Math.max(0, restOfDayMs() - LATE_MS));
      await account.send(routes.buyData, order("order-1", phoneNumbers.failsLater));
      await beginNextDay(account);
      await account.send(routes.buyData, order("order-2"));
    },
    act: async (account) => {
      const [first] = account.system.upstream.purchases
        .filter((one) => one.phoneNumber === phoneNumbers.failsLater)
        .slice(-1);
      if (first !== undefined) {
        account.system.upstream.settle(first, "failed");
        await account.system.sendEvent(first, "failed");
      }
      await applyEvents()(account);
    },
    statuses: ["failed", "success"],
  },
  "an airtime purchase": { act: sequence(topUps(undefined, "top-up-1"), deliver), statuses: ["success"] },
  "an airtime purchase without an answer, settled by a heuristic match": {
    act: sequence(topUps(phoneNumbers.noAnswer, "top-up-1"), sendEvents("success"), decideEvents),
    statuses: ["success"],
  },
  "two airtime purchases without an answer that look the same, of which one was delivered": {
    act: sequence(topUps(phoneNumbers.noAnswer, "top-up-1", "top-up-2"), sendEvents("success"), decideEvents),
    // Nobody knows which one: a person decides.
    statuses: ["processing", "processing"],
  },
  "an airtime purchase without an answer that failed": {
    act: sequence(topUps(phoneNumbers.noAnswer, "top-up-1"), sendEvents("failed"), decideEvents),
    statuses: ["processing"],
  },
  "a purchase that an event settles as success": {
    act: sequence(place(phoneNumbers.succeedsLater), sendEvents("success"), applyEvents()),
    statuses: ["success"],
  },
  "a purchase that an event settles as failed": {
    act: sequence(place(phoneNumbers.failsLater), sendEvents("failed"), applyEvents()),
    statuses: ["failed"],
  },
  "a refund of a purchase whose time is sealed by a clock that is ahead": {
    prepare: async (account) => {
      await account.send(routes.buyData, order("order-1", phoneNumbers.failsLater));
      const { ledger } = account.system;
      await sealUntil(
        account,
        Date.now() + 5_000,
        async (to) => void (await sealWallet(ledger, account.accountId, to)),
      );
    },
    act: sequence(sendEvents("failed"), applyEvents()),
    statuses: ["failed"],
  },
  "a purchase without an answer, settled by a heuristic match": {
    act: sequence(place(phoneNumbers.noAnswer), sendEvents("success"), decideEvents),
    statuses: ["success"],
  },
  "a purchase without an answer, whose events contradict each other": {
    act: sequence(place(phoneNumbers.noAnswer), sendEvents("success", "failed"), decideEvents),
    statuses: ["processing"],
  },
  "an event that comes three times, and then one that contradicts it": {
    prepare: place(phoneNumbers.succeedsLater),
    act: sequence(
      sendEvents("success", "success", "success"),
      applyEvents(),
      async (account) => {
        // It contradicts only a status that the ledger has: of two events, the first is applied.
        if ((await onlyTransaction(account)).status === "success") await sendEvents("failed")(account);
      },
      applyEvents(),
    ),
    statuses: ["success"],
  },
  "two simultaneous copies of a failed event": {
    prepare: place(phoneNumbers.failsLater),
    act: sequence(sendEvents("failed", "failed"), applyEvents("concurrent")),
    statuses: ["failed"],
  },
  "a sandbox purchase that is settled later": {
    act: async (account) => {
      await account.send(routes.buyData, order("order-1", phoneNumbers.succeedsLater), "test");
      advance(6_000);
      await account.system.eventSources.deliver();
    },
    statuses: ["success"],
  },
  "a check that finds a record": { act: verify(), statuses: ["success"] },
  "a check that finds no record": { act: verify("00000000001"), statuses: ["failed"] },
  "a check without an answer": { act: verify("00000000006"), statuses: ["failed"] },
  "a check whose process died": {
    prepare: async (account) => {
      // Its process died before the request to the upstream.
      account.system.plan = ({ place }) => (place === "upstream" ? "dies_before" : undefined);
      await account.send(routes.verifyNin, check("check-1"));
      account.system.plan = () => undefined;
      advance(6 * 60_000);
    },
    act: runAfter(0, "reconcile-ledger"),
    statuses: ["failed"],
  },
  "an operator who resolves as success": {
    prepare: openPurchase("success"),
    act: resolve("success"),
    statuses: ["success"],
  },
  "an operator who resolves as failed": {
    prepare: openPurchase("failed"),
    act: resolve("failed"),
    statuses: ["failed"],
  },
  "an operator who matches an event": {
    prepare: storeUnmatchedEvent,
    act: async (account) => {
      const [transaction, event] = [await onlyTransaction(account), await newestEvent(account)];
      await account.command(() =>
        matchEvent({ ledger: account.system.ledger, costs: FACE_VALUES }, event, transaction, decision),
      );
      await account.system.eventSources.deliver();
    },
    statuses: ["failed"],
  },
  "an operator who discards an event": {
    prepare: storeUnmatchedEvent,
    act: async (account) => {
      const event = await newestEvent(account);
      await account.command(() => discardEvent(account.system.ledger, event, decision));
    },
    statuses: ["processing"],
  },
  "a webhook whose endpoint fails twice": {
    prepare: failNext(2),
    act: sequence(buy(), ...Array<Act>(3).fill(deliverAfter(10 * 60_000))),
    statuses: ["success"],
  },
  "a webhook whose fifth attempt is parked": {
    prepare: failNext(4),
    act: sequence(buy(), ...Array<Act>(3).fill(deliverAfter(6 * 60_000)), requeueAfter(40 * 60_000)),
    statuses: ["success"],
  },
  "two webhooks to an endpoint that is down": {
    prepare: sequence(reportFailures(DOWN_EVENTS), failNext(1)),
    // Two probes, of which the first fails, and then the rest.
    act: sequence(placeEach("order-1", "order-2"), deliver, ...Array<Act>(3).fill(requeueAfter(7 * 60_000))),
    statuses: ["success", "success"],
  },
  "a lookup of a purchase that was delivered without an answer": {
    prepare: openPurchase("success"),
    act: askAgain,
    statuses: ["success"],
  },
  "a lookup of a purchase that failed without an answer, and its late event": {
    prepare: openPurchase("failed"),
    act: sequence(askAgain, sendEvents("failed"), deliver),
    statuses: ["failed"],
  },
  "a lookup whose answer an event has overtaken": {
    prepare: openPurchase("failed"),
    act: async (account) => {
      const { system } = account;
      advance(OVER_A_MINUTE_MS);
      await system.runSchedule("ask-upstream");
      await sendEvents("failed")(account);
      await system.eventSources.deliver("concurrent");
    },
    statuses: ["failed"],
  },
  "a lookup that is answered about another order": {
    prepare: async (account) => {
      await openPurchase("failed")(account);
      const { reference } = account.system.upstream.purchases.at(-1) ?? {};
      account.system.upstream.lookupChanges.set(reference ?? "", { phone_number: "08099999999" });
    },
    act: askAgain,
    statuses: ["processing"],
  },
  "a lookup of a purchase that the upstream does not know": {
    prepare: async (account) => {
      await openPurchase("success")(account);
      const { reference } = account.system.upstream.purchases.at(-1) ?? {};
      account.system.upstream.unlisted.add(reference ?? "");
      advance(15 * 60_000);
    },
    act: askAgain,
    statuses: ["processing"],
  },
  "a webhook whose failure makes the endpoint one that is down": {
    prepare: sequence(reportFailures(DOWN_EVENTS - 1), failNext(1)),
    act: sequence(buy(), requeueAfter(7 * 60_000)),
    statuses: ["success"],
  },
  "a parked webhook whose endpoint is enabled again": {
    prepare: reportFailures(DOWN_EVENTS),
    act: sequence(
      buy(),
      ({ system, accountId, command }) => command(() => enableEndpoint(system.endpoints, firstEndpoint(accountId))),
      requeueAfter(7 * 60_000),
    ),
    statuses: ["success"],
  },
  "a webhook for two endpoints, of which one fails and the other is down": {
    prepare: async (account) => {
      const { system, receiver, accountId } = account;
      await addEndpoint(system.endpoints, webhookRules, accountId, `${receiver.url}/second`);
      await reportFailures(DOWN_EVENTS)(account);
      receiver.failNext(1);
    },
    act: sequence(buy(), requeueAfter(7 * 60_000)),
    statuses: ["success"],
  },
  "a rotation of a key and of a webhook's secret, and a purchase": {
    act: async (account) => {
      const { system, accountId } = account;
      const keyId = await firstKeyId(account);
      await account.command(() => createKey(system.accounts, accountId, { mode: "live" }));
      await account.command(() => rotateKey(system.accounts, accountId, keyId, 3_600_000));
      await account.command(() => rotateWebhookSecret(system.endpoints, firstEndpoint(accountId)));
      await buy()(account);
      const unused = await newestKeyId(account);
      await account.command(() => revokeKey(system.accounts, accountId, unused));
    },
    statuses: ["success"],
  },
  "a refresh of the catalog, and a purchase": {
    prepare: async () => advance(2 * 3_600_000),
    act: sequence(({ system }) => system.runSchedule("refresh-catalog"), buy()),
    statuses: ["success"],
  },
  ...forSubscribers,
  "an order that the upstream's limit refuses waits and is sent": {
    prepare: refuseByLimit(1),
    act: sequence(buy(), sendAfter()),
    isLong: true,
    statuses: ["success"],
  },
  "an order that the upstream's limit refuses again waits on and is sent": {
    prepare: refuseByLimit(2),
    act: sequence(buy(), sendAfter(), sendAfter()),
    isLong: true,
    statuses: ["success"],
  },
  "an order that waits too long is refunded": {
    prepare: refuseByLimit(2),
    act: sequence(buy(), sendAfter(), sendAfter(15 * OVER_A_MINUTE_MS)),
    isLong: true,
    statuses: ["failed"],
  },
  "a queued order without an answer, settled by an event": {
    prepare: refuseByLimit(1),
    act: sequence(place(phoneNumbers.succeedsLater), sendAfter(), sendEvents("success"), applyEvents()),
    isLong: true,
    statuses: ["success"],
  },
  "queued orders of two accounts, one of which has several": {
    prepare: async (account) => {
      account.others.push(await openTestAccount(account.system, account.receiver));
      await refuseByLimit(1)(account);
    },
    act: async (account) => {
      await placeEach("order-1", "order-2", "order-3")(account);
      for (const other of account.others) await place()(other);
      await sendAfter()(account);
    },
    isLong: true,
    statuses: ["success", "success", "success", "success"],
  },
  "two runs of the sender at the same time": {
    prepare: refuseByLimit(1),
    act: async (account) => {
      await placeEach("order-1", "order-2", "order-3")(account);
      advance(OVER_A_MINUTE_MS);
      await Promise.all([0, 1].map(() => account.system.runSchedule("send-queued-orders")));
      await account.system.eventSources.deliver();
      await sendAfter()(account);
    },
    isLong: true,
    statuses: ["success", "success", "success"],
  },
  "an order that the upstream refuses by itself is set aside and sent": {
    prepare: refuseOrders(1),
    act: sequence(placeEach("order-1", "order-2"), sendAfter()),
    isLong: true,
    statuses: ["success", "success"],
  },
  "an order that the upstream refuses by itself again and again is refunded": {
    prepare: refuseOrders(4),
    act: sequence(place(), sendAfter(), sendAfter(), sendAfter()),
    isLong: true,
    statuses: ["failed"],
  },
  "a queued order whose account is restricted, and then not any more": {
    prepare: sequence(refuseByLimit(1), place()),
    act: sequence(setStatus("restricted"), sendAfter(), setStatus("active"), sendAfter()),
    isLong: true,
    statuses: ["success"],
  },
  "an operator who refunds a queued order": {
    prepare: sequence(refuseByLimit(1), place()),
    act: resolve("failed"),
    statuses: ["failed"],
  },
  "a funding that one person proposes and another approves": {
    act: async (account) => {
      const { system, accountId } = account;
      const input = {
        account: accountId,
        amount_kobo: koboFromNaira(250),
        id: `second-${accountId}`,
        why: "a transfer",
      };
      await account.command(() => propose(contextOf(system, "ada"), "wallet fund", input));
      await account.command(async () => {
        const mine = (await latestProposals(system.ledger)).filter(({ account_id }) => account_id === accountId);
        for (const { proposal_id: proposal } of mine) {
          await proposalsRuns["proposals approve"](contextOf(system, "bola"), { proposal });
        }
      });
    },
    statuses: [],
  },
  "a funding and an adjustment": {
    act: async (account) => {
      const { system, accountId } = account;
      const amountKobo = koboFromNaira(250);
      await account.command(() =>
        fundWallet(system.ledger, { accountId, fundingId: `second-${accountId}`, amountKobo }),
      );
      const less = { accountId, adjustmentId: "fee", amount_kobo: -koboFromNaira(50), why: "a fee" };
      await account.command(() => adjustWallet(system.ledger, less));
    },
    statuses: [],
  },
};
