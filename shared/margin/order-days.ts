import * as z from "#zod";
import {
  AT_ONCE_MS,
  type CountedEnd,
  countedEnds,
  type EndCause,
  endCause,
  PENDING_MS_MAX,
} from "../contract/actions/refund-clock.ts";
import { type TransactionType, transactionType } from "../contract/transaction.ts";
import { BATCHES_AT_ONCE, getItemsByPk, keyBatches } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { orderDayPk } from "../ledger/schema.ts";
import type { Transaction } from "../ledger/transaction.ts";
import { mapInOrder } from "../platform/map-in-order.ts";

const WHATS = ["orders", "price", "cost", "unknown_orders", "unknown_price"] as const;
type What = (typeof WHATS)[number];

/** How long after its debit an order ended. `updated_at` is the time of the end: nothing sets it later. */
export const afterMs = ({ created_at, updated_at }: Transaction): number =>
  Date.parse(updated_at) - Date.parse(created_at);

const endOf = (order: Transaction): CountedEnd => {
  const { status, resolved_by } = order;
  const end = resolved_by === "operator" ? "resolved" : status === "success" ? "delivered" : "refunded";
  const ms = afterMs(order);
  return `${end}_${ms <= AT_ONCE_MS ? "30_s" : ms <= PENDING_MS_MAX ? "24_h" : "later"}`;
};

/** Why an order ended: `operator` also where the operator matched an event to it. */
const causeOf = ({ status, resolved_by, reported_by, failure }: Transaction): EndCause => {
  const cause = resolved_by ?? reported_by ?? (status === "success" ? "answer" : failure?.code);
  // Each failure is stored with its code.
  return cause ?? "delivery_failed";
};

/** What an order adds to its day: `airtime|MTN|price`, and `airtime|MTN|refunded_24_h|provider_timeout`. */
export const incrementsOf = (order: Transaction): readonly (readonly [string, number])[] => {
  const { type, network = "", status, amount_kobo, cost_kobo } = order;
  const add = (what: string, value: number) => [[type, network, what].join("|"), value] as const;
  const ended = add(`${endOf(order)}|${causeOf(order)}`, 1);
  if (status !== "success") return [ended];
  return [
    ended,
    ...(cost_kobo === undefined
      ? [add("unknown_orders", 1), add("unknown_price", amount_kobo)]
      : [add("orders", 1), add("price", amount_kobo), add("cost", cost_kobo)]),
  ];
};

export type DaySum = {
  readonly accountId: string;
  readonly day: string;
  readonly type: TransactionType;
  readonly network: string | null;
  readonly sums: Readonly<Partial<Record<What, number>>>;
  readonly ends: readonly DayEnd[];
};
/** How many orders ended in this way, by this cause. */
type DayEnd = { readonly end: CountedEnd; readonly cause: EndCause; readonly count: number };

const dayItem = z.looseObject({ pk: z.string() });
const SUM_NAME = new RegExp(
  `^(?<type>${transactionType.options.join("|")})\\|(?<network>.*)\\|(?:(?<what>${WHATS.join("|")})|(?<end>${countedEnds.join("|")})\\|(?<cause>${endCause.options.join("|")}))$`,
  "s",
);
const sumName = z.object({
  ...{ type: transactionType, network: z.string(), what: z.optional(z.enum(WHATS)) },
  ...{ end: z.optional(z.enum(countedEnds)), cause: z.optional(endCause) },
});

/** The sums of accounts on days, by kind and network, in batches. */
export async function* readDays(
  table: Table,
  accountIds: readonly string[],
  days: readonly string[],
): AsyncGenerator<readonly DaySum[], void, void> {
  const wanted = accountIds.flatMap((accountId) =>
    days.map((day) => ({ accountId, day, pk: orderDayPk(accountId, day) })),
  );
  const read = mapInOrder(keyBatches(wanted), BATCHES_AT_ONCE, async (keys) => ({
    keys,
    items: await getItemsByPk(table, keys, dayItem),
  }));
  const partsOf = nameParser();
  for await (const { keys, items } of read) {
    yield keys.flatMap(({ accountId, day, pk }) => daySumsOf({ accountId, day }, items.get(pk) ?? {}, partsOf));
  }
}

type NameParts = z.infer<typeof sumName>;

/** Most days have the same names: each is parsed once. */
const nameParser = () => {
  const known = new Map<string, NameParts | undefined>();
  return (name: string): NameParts | undefined => {
    if (!known.has(name)) known.set(name, sumName.safeParse(SUM_NAME.exec(name)?.groups).data);
    return known.get(name);
  };
};

const daySumsOf = (
  of: Pick<DaySum, "accountId" | "day">,
  item: Readonly<Record<string, unknown>>,
  partsOf: (name: string) => NameParts | undefined,
): readonly DaySum[] => {
  const all = new Map<string, DaySum & { readonly sums: Partial<Record<What, number>>; readonly ends: DayEnd[] }>();
  for (const [name, value] of Object.entries(item)) {
    const parts = partsOf(name);
    if (parts === undefined || typeof value !== "number") continue;
    const { type, network, what, end, cause } = parts;
    const key = `${type}|${network}`;
    const sum = all.get(key) ?? { ...of, type, network: network === "" ? null : network, sums: {}, ends: [] };
    all.set(key, sum);
    if (what) sum.sums[what] = value;
    if (end && cause) sum.ends.push({ end, cause, count: value });
  }
  return [...all.values()];
};
