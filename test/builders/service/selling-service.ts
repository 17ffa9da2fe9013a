import { catalogMemory } from "../../../shared/catalog/catalog-memory.ts";
import { snapshotOf } from "../../../shared/catalog/snapshot.ts";
import { ALL_ENTITLEMENTS } from "../../../shared/contract/permission.ts";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { findByCallerReference } from "../../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { referenceOf } from "../../../shared/ledger/transaction.ts";
import type { OutcomeMessage } from "../../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import type { Clock } from "../../../shared/platform/time.ts";
import { buyAirtime } from "../../../shared/purchase/buy-airtime.ts";
import { buyData } from "../../../shared/purchase/buy-data.ts";
import { orderGate } from "../../../shared/queued-orders/order-gate.ts";
import { sendQueuedOrders } from "../../../shared/queued-orders/send-queued-orders.ts";
import { httpUpstream } from "../../../shared/upstream/http-upstream.ts";
import type { LiveUpstream } from "../../../shared/upstream/live-upstream.ts";
import { sandboxUpstream } from "../../../shared/upstream/sandbox.ts";
import { applyOutcomeMessage } from "../../../shared/upstream-events/apply-outcome-message.ts";
import type { LedgerAtNoon } from "../ledger/ledger-at-noon.ts";
import { keyedHashes } from "../ledger/secrets.ts";
import { aCatalog, aPlan } from "../upstream/catalog.ts";
import { FACE_VALUES, NO_PRICE_RULES } from "../upstream/upstream-costs.ts";
import { aSimulator, LIVE_KEY, PROFILE, SOME_PHONE } from "../upstream/upstream-simulator.ts";

/** How often a message of the outcomes queue is received. */
const RECEIVES_MAX = 3;

/** What differs between instances of the functions. */
export type InstanceOptions = {
  readonly ledger?: Ledger;
  readonly clock?: Clock;
  /** Called before each request of the instance to the upstream. */
  readonly beforeSending?: (reference: string) => Promise<void>;
  /** Reads the keys at the upstream. */
  readonly upstreamKeys?: () => string;
  /** The setting `upstreamBaseUrl`. */
  readonly baseUrl?: string;
  /** The setting `airtimeMax`, in NGN. */
  readonly airtimeMax?: number;
  /** The setting `queue`. */
  readonly queueMinutes?: number;
};

/** The function that takes orders and the sender of queued orders, over one ledger and an upstream. */
export const aSellingService = async (ledger: LedgerAtNoon, { queueMinutes: queueMinutesOfStage = 15 } = {}) => {
  const simulator = await aSimulator();
  const queued: { message: OutcomeMessage; delayS: number }[] = [];
  const cache = { db: ledger.tables.db, table: ledger.tables.cacheTable };
  const store = { ...cache, initially: "on" as const };
  let plans = [aPlan({ id: 101 })];
  /** Called by a run once it has read the queued orders. */
  let beforeTurns = async (): Promise<void> => {};
  /** How long each order had when it was sent. */
  const remainingMs: number[] = [];
  /** The requests of queued orders, as they began. */
  const begun: string[] = [];
  /** A new instance of each function: nothing is cached in it. */
  const instance = ({
    ledger: inLedger = ledger,
    clock = ledger.clock,
    beforeSending,
    upstreamKeys = () => LIVE_KEY,
    baseUrl = simulator.baseUrl,
    airtimeMax = 50_000,
    queueMinutes = queueMinutesOfStage,
  }: InstanceOptions = {}) => {
    const liveKey = { value: async () => upstreamKeys(), refetch: async () => upstreamKeys() };
    const client = httpUpstream({ baseUrl, profile: PROFILE, liveKey, clock });
    const upstream: LiveUpstream = {
      ...client,
      buy: async (order, reference, deadline, beginning) => {
        remainingMs.push(deadline.remainingMs());
        await beforeSending?.(reference);
        const noted = beginning && {
          ...beginning,
          begun: () => {
            begun.push(reference);
            beginning.begun();
          },
        };
        return client.buy(order, reference, deadline, noted);
      },
    };
    const common = {
      ledger: { ...inLedger, clock },
      cache,
      cacheTable: cache.table,
      outcomeQueue: { send: async (message: OutcomeMessage, delayS: number) => void queued.push({ message, delayS }) },
      gate: orderGate(store, clock, "vtu"),
      catalog: catalogMemory(
        {
          read: async () => {
            await beforeTurns();
            return snapshotOf(aCatalog(1, { data_plans: plans }), ledger.nowMs);
          },
        },
        clock,
      ),
      queueMinutes,
      costs: FACE_VALUES,
      prices: NO_PRICE_RULES,
      timeZone: "Africa/Lagos",
    };
    const purchase = { ...common, keyedHashes, upstreams: { live: upstream, test: sandboxUpstream } };
    return {
      buy: buyData(purchase),
      topUp: buyAirtime({ ...purchase, airtimeKoboMax: koboFromNaira(airtimeMax) }),
      send: (deadline = deadlineIn(60_000)) => sendQueuedOrders({ ...common, upstream }, deadline),
    };
  };
  const transaction = async (accountId: string, reference: string) => {
    const found = await findByCallerReference(ledger, await keyedHashes(), { accountId, mode: "live" }, reference);
    if (found === undefined) throw new Error(`There is no ${reference}`);
    return found;
  };
  return {
    simulator,
    queued,
    store,
    remainingMs,
    begun,
    transaction,
    duringTheNextRun: (act: () => Promise<void>) => {
      beforeTurns = async () => {
        beforeTurns = async () => {};
        await act();
      };
    },
    withdrawPlan: () => {
      plans = [aPlan({ id: 102 })];
    },
    /** One order by a new instance of `purchase`, or by this one. */
    buy: (accountId: string, reference: string, { buy } = instance(), mode: Mode = "live") =>
      buy({
        input: { network_id: 1, plan_id: 101, phone_number: SOME_PHONE, reference },
        caller: { accountId, keyId: "key_1", mode, entitlements: ALL_ENTITLEMENTS },
        deadline: deadlineIn(29_000),
        request: { headers: {} },
      }),
    instance,
    /** One run of the sender by a new instance, so much later. */
    sendAfter: (ms: number, inLedger: Ledger = ledger) => {
      ledger.nowMs += ms;
      return instance({ ledger: inLedger }).send();
    },
    /** Applies the messages of the outcomes queue, as often as they are retried. */
    applyQueued: async (inLedger: Ledger = ledger): Promise<void> => {
      const apply = applyOutcomeMessage({ ledger: inLedger, keyedHashes, costs: FACE_VALUES });
      for (const { message } of queued.splice(0)) {
        for (let receives = 1; receives <= RECEIVES_MAX; receives += 1) {
          if ((await apply(message, deadlineIn(20_000))).kind === "done") break;
        }
      }
    },
    /** The upstream's limit refuses the next orders. */
    refuse: (times: number, retryAfterS = 60) =>
      simulator.state.faults.add({ kind: "rate_limited", times, retry_after_s: retryAfterS, method: "POST" }),
    /** The upstream refuses the next orders by themselves, with 429 although its limit is not spent. */
    refuseOrders: (times: number) => simulator.state.faults.add({ kind: "status", status: 429, times, method: "POST" }),
    /** Something else answers the next orders in the upstream's place. */
    answerForeign: (times: number) => simulator.state.faults.add({ kind: "html", times, method: "POST" }),
    refusalsLeft: (): number => simulator.state.faults.list()[0]?.times ?? 0,
    arrived: () => simulator.state.purchases.map(({ reference }) => reference),
    /** The caller's references of the account's orders that have arrived, in that order. */
    arrivedOf: async (accountId: string, references: readonly string[]): Promise<readonly string[]> => {
      const own = new Map<string | null, string>();
      for (const reference of references) own.set(referenceOf(await transaction(accountId, reference)), reference);
      return simulator.state.purchases.flatMap(({ reference }) => own.get(reference) ?? []);
    },
  };
};
export type SellingService = Awaited<ReturnType<typeof aSellingService>>;
