import { createHash } from "node:crypto";
import {
  accountPk,
  deliveriesList,
  deliveryPk,
  endpointHealthPk,
  openList,
  transactionList,
  transactionPk,
  walletPk,
} from "../../shared/ledger/schema.ts";
import { cachePk } from "../../shared/platform/cache-keys.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { GATE_CACHE_MS } from "../../shared/queued-orders/order-gate.ts";
import { SimulatedTable } from "./simulated-table.ts";
import { invocationS, measured, writeUnits } from "./usage.ts";

/** The tables, and the indexes of the ledger. */
export const places = ["access", "ledger", "cache", "by_list", "by_upstream_reference", "by_open", "by_phone"] as const;
export type Place = (typeof places)[number];

/** Units that one key of a table or an index consumes. */
export type Access = { readonly place: Place; readonly key: string; readonly write: number; readonly read?: number };

type ModelOrder = {
  readonly accountId: string;
  readonly keyHash: string;
  readonly transactionId: string;
  readonly upstreamReference: string;
  readonly phoneKey: string;
};

/** The one endpoint of each account. */
const ENDPOINT = "1";

/**
 * What a live purchase with its webhook and the upstream's event consumes, by the second after it begins: it is opened,
 * the upstream answers a second later, and the webhook and the event follow after another one.
 */
export const accessesOf = (order: ModelOrder): readonly (readonly Access[])[] => {
  const { accountId, keyHash, transactionId, upstreamReference, phoneKey } = order;
  const pk = transactionPk(transactionId);
  const delivery = deliveryPk({ endpoint: ENDPOINT, transaction_pk: pk, status: "success" });
  const open = openList({ pk });
  return [
    [
      { place: "access", key: keyHash, write: writeUnits.access },
      { place: "ledger", key: walletPk(accountId), write: writeUnits.wallet },
      { place: "ledger", key: pk, write: 2 },
      { place: "by_list", key: transactionList(accountId, "live"), write: writeUnits.by_list.transaction },
      { place: "by_phone", key: phoneKey, write: writeUnits.by_phone },
      { place: "by_open", key: open, write: 1 },
    ],
    [
      { place: "ledger", key: pk, write: 1 },
      { place: "by_upstream_reference", key: upstreamReference, write: writeUnits.by_upstream_reference },
      { place: "by_open", key: open, write: 1 },
    ],
    [
      // `enqueue-webhooks` reads the account too.
      ...[pk, accountPk(accountId), accountPk(accountId), endpointHealthPk({ accountId, endpoint: ENDPOINT })].map(
        (key) => ({ place: "ledger", key, write: 0, read: 1 }) as const,
      ),
      { place: "ledger", key: delivery, write: 1, read: 1 },
      { place: "by_list", key: deliveriesList(accountId), write: writeUnits.by_list.delivery },
      { place: "by_upstream_reference", key: upstreamReference, write: 0, read: 0.5 },
    ],
  ];
};

/** As many accounts as take half of the load at the rate of one wallet; the other accounts share the other half. */
const OTHER_ACCOUNTS = 1_000;
const PHONE_NUMBERS = 1_000_000;
/** Changes of the ledger's stream that the statistics count for each purchase: of its wallet, and of itself. */
const COUNTED_CHANGES = 2;
const COUNTED_BATCH = 1_000;

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Orders in the order in which they are placed, with real keys. */
const orderSource = async (purchasesPerS: number) => {
  const value = async () => "the-key-of-the-load-model-has-32-bytes";
  const hashes = await loadKeyedHashes({ value, refetch: value })();
  const busy = Math.ceil(purchasesPerS / 2 / measured.walletDebits.perS);
  const keys = new Map<string, string>();
  const keyHashOf = (name: string): string => {
    const known = keys.get(name) ?? hash(name);
    keys.set(name, known);
    return known;
  };
  return (number: number): ModelOrder => {
    const random = Number.parseInt(hash(`order-${number}`).slice(0, 12), 16);
    const isBusy = random % 2 === 0;
    const rest = Math.floor(random / 2);
    const accountId = isBusy ? `acc_busy_${rest % busy}` : `acc_${rest % OTHER_ACCOUNTS}`;
    // A key has 60 purchases a minute.
    const keyCount = isBusy ? measured.walletDebits.perS : Math.ceil(purchasesPerS / 2 / OTHER_ACCOUNTS);
    return {
      accountId,
      keyHash: keyHashOf(`${accountId} ${Math.floor(rest / 7) % keyCount}`),
      transactionId: hashes.transactionId({ accountId, mode: "live", callerReference: `order-${number}` }),
      upstreamReference: `UPSTREAM-${number}`,
      phoneKey: keyHashOf(`phone ${rest % PHONE_NUMBERS}`),
    };
  };
};

export type PlaceLoad = { readonly place: Place; readonly table: SimulatedTable; readonly partitionsAtFirst: number };

/** Carries a load for some seconds through the keys of the tables and indexes. */
export const simulate = async (purchasesPerS: number, seconds: number): Promise<readonly PlaceLoad[]> => {
  const orderOf = await orderSource(purchasesPerS);
  const unitsOf = (place: Place): number =>
    accessesOf(orderOf(0))
      .flat()
      .reduce((sum, access) => (access.place === place ? sum + access.write : sum), 0);
  const tables = new Map(places.map((place) => [place, new SimulatedTable(unitsOf(place) * purchasesPerS)]));
  const loads = [...tables].map(([place, table]) => ({ place, table, partitionsAtFirst: table.partitionCount }));
  const use = ({ place, key, write, read = 0 }: Access): void => tables.get(place)?.use(key, write, read);
  let ahead: readonly Access[][] = [[], [], []];
  for (let second = 0; second < seconds; second += 1) {
    const accounts = new Set<string>();
    for (let index = 0; index < purchasesPerS; index += 1) {
      const order = orderOf(second * purchasesPerS + index);
      accounts.add(order.accountId);
      for (const [later, accesses] of accessesOf(order).entries()) ahead[later]?.push(...accesses);
    }
    const [now = [], ...later] = ahead;
    ahead = [...later, []];
    for (const access of [...now, ...sharedAccesses(purchasesPerS, second, accounts)]) use(access);
    for (const { table } of loads) table.endSecond(second);
  }
  return loads;
};

/** What instances of `purchase` read of the cache table, and what the statistics write there. */
const sharedAccesses = (purchasesPerS: number, second: number, accounts: ReadonlySet<string>): readonly Access[] => {
  const instances = purchasesPerS * invocationS("purchase");
  const batches = Math.ceil((COUNTED_CHANGES * purchasesPerS) / COUNTED_BATCH);
  const hour = String(Math.floor(second / 3_600));
  return [
    { place: "cache", key: cachePk("purchases"), write: 0, read: (instances * 1_000) / GATE_CACHE_MS },
    { place: "cache", key: cachePk("catalog"), write: 0, read: instances / 60 },
    { place: "cache", key: cachePk("statistics", hour), write: 4 * batches },
    ...[...accounts].map((id) => ({ place: "cache", key: cachePk("balances", id, "day"), write: 1 }) as const),
  ];
};
