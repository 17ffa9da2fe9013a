import * as z from "#zod";
import { scheduledFunctions } from "../../../infra/schedules.ts";
import { routes } from "../../../shared/contract/routes.ts";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { referenceOf, STUCK_MS, sentAt, type Transaction } from "../../../shared/ledger/transaction.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { resolveTransaction } from "../../../shared/upstream-events/operator-resolution.ts";
import { openEvents } from "../../../shared/upstream-events/stored-event.ts";
import { type Chance, chanceOf } from "../../strict/chance.ts";
import { type StrictName, strictSettings } from "../../strict/settings.ts";
import { keptPersonalData, transactionsOf, violations } from "../invariants.ts";
import { openInTable } from "../open-transactions.ts";
import { recover } from "../recovery.ts";
import { now, outside, pass, simulate } from "../system/clock.ts";
import { type Observed, type System, startSystem } from "../system/system.ts";
import { accountsOf, openAppEndpoint, openTestAccount, type SentRequest, type TestAccount } from "../test-account.ts";

const FUNDED_NAIRA = 2_000_000;
const TRIES_MAX = 8;
/** By then no event can be matched with an order: one that an operator resolved before would be taken for another's. */
const RESOLVED_MS = 30 * MINUTE_MS;

export type Traffic = {
  readonly minutes: number;
  readonly seed: number;
  readonly aws?: StrictName;
  readonly accounts?: number;
  /** Orders of each account, on average. */
  readonly ordersAMinute?: number;
  readonly upstreamOrdersAMinute?: number;
  /** The recipients, which decide what the upstream does with an order. */
  readonly phoneNumbers?: readonly string[];
  /** Asked in the last minute; while it is true, another one follows. */
  readonly goesOn?: () => boolean;
  /** What disturbs the traffic. Returns what ends it. */
  readonly disturb: (load: Load) => () => Promise<void> | void;
};

/** How one order ended. */
export type OrderLine = {
  readonly accountId: string;
  readonly transaction: Transaction;
  readonly request: SentRequest;
  readonly placedMs: number;
  /** When the upstream carried it out. */
  readonly carriedOutMs: number | undefined;
};

export type TrafficReport = {
  readonly orders: readonly OrderLine[];
  readonly counts: Readonly<Record<"orders" | "open" | "delivered" | "refunded" | "webhooks" | "invocations", number>>;
  /** Until the traffic ended. */
  readonly observed: Observed;
  readonly beganMs: number;
  readonly endedMs: number;
  /** The minutes in which an order was stuck or an event waited for a decision. */
  readonly neededMs: readonly number[];
  readonly violations: readonly string[];
  readonly trace: string;
};

export const FREQUENT_RECIPIENT = "08031234567";
/** Phone numbers by what the upstream does with an order for them; few, so that many orders look the same. */
const allOutcomes: readonly string[] = [
  ...[
    FREQUENT_RECIPIENT,
    FREQUENT_RECIPIENT,
    FREQUENT_RECIPIENT,
    "08031234568",
    "08031234568",
    "08031234569",
    "08031234570",
  ],
  ...["08000000001", "08000000002", "08000000002", "08000000003", "08000000004", "08000000005", "08000000006"],
  ...["08000000007", "08000000007"],
];
const nins = ["12345678900", "12345678900", "00000000001", "00000000003", "00000000006"] as const;

/**
 * Traffic of several accounts in simulated time, with whatever disturbs it: callers that repeat what was not answered,
 * an upstream that reports late and twice, queues and streams that are polled all the time, schedules that overlap, and
 * an operator. Then everything comes to rest, and all invariants are checked.
 */
export const runTraffic = async (traffic: Traffic): Promise<TrafficReport> => {
  const { minutes, seed, aws = "everything", accounts: count = 3, upstreamOrdersAMinute = 60, disturb } = traffic;
  const system = await startSystem({ seed });
  const endpoint = await openAppEndpoint();
  try {
    await system.runSchedule("refresh-catalog");
    const account = await openTestAccount(system, endpoint, FUNDED_NAIRA);
    while (account.others.length < count - 1) {
      account.others.push(await openTestAccount(system, endpoint, FUNDED_NAIRA));
    }
    const accounts = accountsOf(account);
    for (const route of [routes.listCatalog, routes.getWallet, routes.listTransactions]) {
      await system.call(route, account.keys.live, undefined);
    }
    system.setStrict(strictSettings[aws], seed);
    const { limits } = system.upstream;
    system.upstream.limits = { ...limits, vtu: upstreamOrdersAMinute };
    const load: Load = {
      ...{ traffic, system, accounts, chance: chanceOf(seed), endsMs: now() + minutes * MINUTE_MS },
      ...{ placed: 0, underWay: new Set(), neededMs: [] },
    };
    const beganMs = now();
    await simulate(async () => {
      const actors = [callers, schedules, sources, upstream, operator, watch].map((act) => act(load));
      const calm = disturb(load);
      await Promise.all(actors);
      await calm();
      while (load.underWay.size > 0) await Promise.all(load.underWay);
      await system.eventSources.polled();
    });
    system.upstream.limits = limits;
    const observed = structuredClone(system.observed);
    const transactions = (await Promise.all(accounts.map(transactionsOf))).flat();
    const open = transactions.filter(({ status }) => status === "processing").length;
    await recover(account, "assisted");
    const orders = (await Promise.all(accounts.map((each) => orderLines(load, each)))).flat();
    const ended = (status: string): number => orders.filter(({ transaction }) => transaction.status === status).length;
    return {
      ...{ orders, observed, beganMs, endedMs: load.endsMs, neededMs: load.neededMs },
      counts: {
        ...{ orders: orders.length, open, delivered: ended("success"), refunded: ended("failed") },
        ...{ webhooks: endpoint.received.length, invocations: observed.invocations.length },
      },
      violations: [...(await violations(account)), ...(await keptPersonalData(system))],
      trace: system.trace(),
    };
  } finally {
    await endpoint.stop();
    await system.stop();
  }
};

const orderLines = async ({ system }: Load, account: TestAccount): Promise<readonly OrderLine[]> => {
  const transactions = new Map((await transactionsOf(account)).map((one) => [one.caller_reference, one]));
  const carriedOut = new Map(system.upstream.purchases.map(({ reference, at }) => [reference, Date.parse(at)]));
  return account.requests.flatMap((request) => {
    const transaction = transactions.get(request.body.reference);
    if (transaction === undefined) return [];
    return {
      ...{ accountId: account.accountId, transaction, request },
      placedMs: request.placedMs,
      carriedOutMs: carriedOut.get(referenceOf(transaction)),
    };
  });
};

export type Load = {
  readonly traffic: Traffic;
  readonly system: System;
  readonly chance: Chance;
  /** How many orders were begun. */
  placed: number;
  readonly accounts: readonly TestAccount[];
  endsMs: number;
  /** What was begun and is not waited for. */
  readonly underWay: Set<Promise<void>>;
  readonly neededMs: number[];
};

export const begin = ({ underWay }: Load, work: Promise<void>): void => {
  const tracked = work.finally(() => underWay.delete(tracked));
  underWay.add(tracked);
};

const callers = async (load: Load): Promise<void> => {
  const { chance, accounts, traffic } = load;
  const { ordersAMinute = 6, phoneNumbers = allOutcomes } = traffic;
  const meanMs = MINUTE_MS / (ordersAMinute * accounts.length);
  while (now() < load.endsMs) {
    await pass(Math.ceil(chance.within({ min: 0, max: 2 * meanMs })));
    const account = chance.oneOf(accounts);
    // Now and then an account has a lot to order at once.
    const length = chance.happens(0.01) ? 20 : 1;
    for (let each = 0; account !== undefined && each < length; each += 1) {
      begin(load, placeOrder(load, account, chance.oneOf(phoneNumbers)));
    }
  }
};

/** Orders, and repeats until there is an answer that does not ask for more. */
export const placeOrder = async (load: Load, account: TestAccount, phone_number = ""): Promise<void> => {
  const { chance, traffic } = load;
  load.placed += 1;
  const reference = `order-${load.placed}`;
  const request =
    traffic.phoneNumbers === undefined && chance.happens(0.1)
      ? await account.send(routes.verifyNin, { nin: chance.oneOf(nins), is_consent: true, reference })
      : chance.happens(0.5)
        ? await account.send(routes.buyData, { network_id: 1, plan_id: 101, phone_number, reference })
        : await account.send(routes.buyAirtime, { network: "mtn", amount: 100, phone_number, reference });
  for (let tries = 1; tries < TRIES_MAX && mayRepeat(request); tries += 1) {
    const after = request.answers.at(-1)?.headers["retry-after"];
    await pass(after === undefined ? Math.ceil(chance.within({ min: 500, max: 40_000 })) : Number(after) * 1_000);
    await account.resend(request);
  }
};

const mayRepeat = ({ answers }: SentRequest): boolean => {
  const last = answers.at(-1);
  return last === undefined || last.headers["retry-after"] !== undefined;
};

/** Each minute, and sometimes twice, so that runs overlap. */
const schedules = async (load: Load): Promise<void> => {
  const { system, chance } = load;
  while (now() < load.endsMs) {
    for (const schedule of scheduledFunctions) {
      begin(load, system.runSchedule(schedule));
      if (chance.happens(0.2))
        begin(
          load,
          pass(chance.within({ min: 0, max: 100 })).then(() => system.runSchedule(schedule)),
        );
    }
    await pass(MINUTE_MS);
  }
};

const sources = async (load: Load): Promise<void> => {
  const { system } = load;
  while (now() < load.endsMs) {
    await system.eventSources.poll();
    await pass(1_000);
  }
};

/** The upstream settles its orders sooner or later, and reports each until it is heard, some twice. */
const upstream = async (load: Load): Promise<void> => {
  const { system, chance } = load;
  let known = 0;
  const report = async (order: System["upstream"]["purchases"][number]): Promise<void> => {
    if (order.status === "processing") await pass(chance.within({ min: 2_000, max: 600_000 }));
    const isFailing = order.phoneNumber === "08000000003" || chance.happens(0.1);
    system.upstream.settle(order, isFailing ? "failed" : "success");
    await pass(chance.within({ min: 500, max: 90_000 }));
    for (let copies = chance.happens(0.1) ? 2 : 1; copies > 0; copies -= 1) {
      while (!(await system.sendEvent(order, order.status === "failed" ? "failed" : "success"))) await pass(20_000);
    }
  };
  while (now() < load.endsMs) {
    const fresh = system.upstream.purchases.slice(known);
    known += fresh.length;
    // What it does with a check is in its answer.
    for (const order of fresh.filter(({ path }) => path.startsWith("/vtu"))) begin(load, report(order));
    await pass(1_000);
  }
};

/** Looks once a minute: resolves what is stuck as the upstream's records say, and funds the wallets. */
const operator = async (load: Load): Promise<void> => {
  const { system, accounts } = load;
  const { ledger } = system;
  for (let minute = 1; now() < load.endsMs; minute += 1) {
    await pass(MINUTE_MS);
    const open = await outside(() => openInTable(system, isoTime(now())));
    for (const transaction of open.filter((one) => Date.parse(sentAt(one)) + RESOLVED_MS < now())) {
      const order = system.upstream.purchases.find(({ reference }) => reference === referenceOf(transaction));
      if (order?.status === "processing") continue;
      const decision = { by: "operator", why: "as the upstream's records say" };
      const status = order?.status === "success" && transaction.type in { data: 0, airtime: 0 } ? "success" : "failed";
      await system.run(() => resolveTransaction(ledger, transaction, status, decision));
    }
    if (minute % 10 > 0) continue;
    for (const { accountId } of accounts) {
      const funding = { accountId, fundingId: `${accountId}-${minute}`, amountKobo: koboFromNaira(10_000) };
      await system.run(() => fundWallet(ledger, funding));
    }
  }
};

/** Notes each minute in which an order is stuck or an event waits for a decision. */
const watch = async (load: Load): Promise<void> => {
  const { system, neededMs, traffic } = load;
  while (now() < load.endsMs) {
    const stuckBefore = isoTime(now() - STUCK_MS);
    const [orders, events] = await outside(() =>
      Promise.all([openInTable(system, stuckBefore), openEvents(system.ledger)]),
    );
    if (orders.length + events.length > 0) neededMs.push(now());
    if (load.endsMs - now() <= MINUTE_MS && traffic.goesOn?.() === true) load.endsMs += MINUTE_MS;
    await pass(MINUTE_MS);
  }
};

const alarmLine = z.object({ Alarms: z.literal(1), Event: z.string() });

/** The alarms of log events, by name. */
export const alarmsOf = ({ lines }: Observed): ReadonlyMap<string, number> => {
  const alarms = new Map<string, number>();
  for (const { line } of lines) {
    const { data } = alarmLine.safeParse(JSON.parse(line));
    if (data !== undefined) alarms.set(data.Event, (alarms.get(data.Event) ?? 0) + 1);
  }
  return alarms;
};
