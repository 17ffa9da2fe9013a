import { nairaFromKobo } from "../../shared/contract/values/money.ts";
import { referenceOf } from "../../shared/ledger/transaction.ts";
import { sum } from "../../shared/platform/sum.ts";
import { sleep } from "../../shared/platform/time.ts";
import type { Order } from "../simulator/state.ts";
import { AdapterProcess } from "./adapter-process.ts";
import { type CustomerOrder, customerOrders, isAsOrdered, isFor, nameOf } from "./customer-orders.ts";
import { startFaultyProxy } from "./faulty-proxy.ts";
import type { KillableService } from "./killable-service.ts";
import { Operator, readOrder, withRetries } from "./operator.ts";
import { type Report, type Run, type Sale, scorecardOf } from "./scorecard.ts";
import { type Reported, type ShopEvent, sell } from "./shop.ts";
import { openWallet, startFunding, type Wallet } from "./wallets.ts";

/** Orders that are open at a time, in all adapters together. */
const OPEN_ORDERS = 40;
const ATTEMPT_TIMEOUT_MS = 3_000;
const TIMEOUT_MS = 10_000;
/** The service is killed at the 60th decided order, and at each hundredth after it. */
const SERVICE_KILLS_FROM = 60;
const SERVICE_KILLS_EVERY = 100;
const STALLED_MS = 600_000;
const LAST_OUTCOMES_MS = 500;

export type RunOptions = {
  /** The command that starts the adapter. */
  readonly client: string;
  readonly orders: number;
  readonly seed: number;
  readonly processes: number;
  /** The number of the first order, where several clients use one service. */
  readonly firstNumber?: number;
  /** When a run without progress ends; what is not decided then is lost. */
  readonly stalledMs?: number;
  readonly onDecided?: (decided: number) => void;
};

/** An order of an account, and what the client reported of it. */
type Sold = {
  readonly order: CustomerOrder;
  readonly accountId: string;
  readonly reports: Reported[];
  isDecided: boolean;
};
/** An adapter's account, and what it sells. */
type Lane = { readonly wallet: Wallet; readonly sales: readonly Sold[] };

/** Drives a client through the faulty proxy, and returns its scorecard. Throws a `SettingsError` if it does not run. */
export const runClient = async (service: KillableService, options: RunOptions): Promise<Run> => {
  const { client, seed, processes, stalledMs = STALLED_MS, onDecided = () => {} } = options;
  const startedAt = performance.now();
  const lanes = await openLanes(service, options);
  const wallets = lanes.map(({ wallet }) => wallet);
  const sales = lanes.flatMap((lane) => lane.sales);
  const funding = startFunding(service, wallets);
  const proxy = await startFaultyProxy({
    port: service.port,
    seed,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    keys: new Map(wallets.map(({ keys }) => [keys[0] ?? "", keys])),
  });

  const counts: Record<ShopEvent, number> = { client_kills: 0, unknown: 0, ordered_again: 0, decided: 0 };
  const stall = Promise.withResolvers<void>();
  const stallTimer = setTimeout(stall.resolve, stalledMs);
  const onEvent = (event: ShopEvent): void => {
    counts[event] += 1;
    if (event === "decided") onDecided(counts.decided);
    if (event !== "unknown") stallTimer.refresh();
  };
  let serviceKills = 0;
  const isKillDue = (): boolean => {
    const at = SERVICE_KILLS_FROM + serviceKills * SERVICE_KILLS_EVERY;
    if (at >= options.orders || counts.decided < at) return false;
    serviceKills += 1;
    return true;
  };

  const operator = new Operator(service);
  const adapters: AdapterProcess[] = [];
  const sellAll = async ({ wallet: { accountId, keys }, sales: own }: Lane): Promise<void> => {
    const adapter = new AdapterProcess(client, {
      AIRTIME_BASE_URL: proxy.baseUrl,
      AIRTIME_API_KEY: keys[0],
      AIRTIME_ATTEMPT_TIMEOUT_MS: String(ATTEMPT_TIMEOUT_MS),
      AIRTIME_TIMEOUT_MS: String(TIMEOUT_MS),
    });
    adapters.push(adapter);
    const outcomeOf = (callerReference: string) => operator.outcomeOf({ accountId, callerReference });
    const queue = [...own];
    const work = async (): Promise<void> => {
      for (let sale = queue.shift(); sale !== undefined; sale = queue.shift()) {
        await sell({ seed, adapter, outcomeOf, onEvent }, sale.order, sale.reports);
        sale.isDecided = true;
      }
    };
    await Promise.race([
      adapter.failure,
      Promise.all(Array.from({ length: Math.ceil(OPEN_ORDERS / processes) }, work)),
    ]);
  };
  const operating = operator.work(funding.fund, isKillDue);
  try {
    await Promise.race([
      Promise.all(lanes.map(sellAll)),
      stall.promise,
      // It ends before the orders do only by an error.
      operating,
    ]);
    operator.end();
    await operating;
    await Promise.all(adapters.map((adapter) => adapter.end()));
    await proxy.idle();
    const delivered = await deliveries(service, sales);
    // One after the other: a client that believes every refusal has hundreds of reports.
    const sold: Sale[] = [];
    for (const sale of sales) sold.push(await saleOf(service, sale, delivered));
    return {
      ...scorecardOf(sold),
      seed,
      seconds: Math.round((performance.now() - startedAt) / 1_000),
      unknown: counts.unknown,
      ordered_again: counts.ordered_again,
      client_kills: counts.client_kills,
      service_kills: serviceKills,
      charged_naira: await withRetries(funding.chargedNaira),
      delivered_naira: sum(delivered.map(({ amountKobo }) => nairaFromKobo(amountKobo))),
      faults: Object.fromEntries(proxy.counts),
    };
  } finally {
    clearTimeout(stallTimer);
    operator.end();
    await Promise.all(adapters.map((adapter) => adapter.end()));
    proxy.stop();
  }
};

const openLanes = async (
  service: KillableService,
  { seed, orders: count, processes, firstNumber = 0 }: RunOptions,
): Promise<readonly Lane[]> => {
  const orders = customerOrders(seed, count, firstNumber);
  const lanes: Lane[] = [];
  for (let lane = 0; lane < Math.min(processes, count); lane += 1) {
    const own = orders.filter((_, index) => index % processes === lane);
    const prices = own.map(({ priceNaira }) => priceNaira);
    const wallet = await withRetries(() => openWallet(service, prices));
    const { accountId } = wallet;
    lanes.push({ wallet, sales: own.map((order) => ({ order, accountId, reports: [], isDecided: false })) });
  }
  return lanes;
};

/** What the upstream delivered of these orders, once it has no open one of them. */
const deliveries = async (service: KillableService, sales: readonly Sold[]): Promise<readonly Order[]> => {
  for (;;) {
    const placed = service.simulator.state.purchases.filter((order) => sales.some((sale) => isFor(sale.order, order)));
    if (placed.every(({ status }) => status !== "processing")) {
      return placed.filter(({ status }) => status === "success");
    }
    await sleep(LAST_OUTCOMES_MS);
  }
};

const saleOf = async (
  service: KillableService,
  { order, accountId, reports, isDecided }: Sold,
  delivered: readonly Order[],
): Promise<Sale> => {
  const own = delivered.filter((each) => isFor(order, each));
  const read: Report[] = [];
  for (const { reference, answer } of reports) {
    const transaction = await withRetries(() => readOrder(service, { accountId, callerReference: reference }));
    const found = transaction && { ...transaction, reference: referenceOf(transaction) };
    read.push({ reference, answer, transaction: found });
  }
  return {
    name: nameOf(order),
    isDecided,
    deliveries: own.length,
    asOrdered: own.filter((each) => isAsOrdered(order, each)).length,
    reports: read,
  };
};
