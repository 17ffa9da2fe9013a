import * as z from "#zod";
import { type Catalog, dataPlanSchema, networkSchema } from "../contract/catalog.ts";
import { lazyObject } from "../contract/lazy-object.ts";

/** An entry of the upstream's catalog that is not served, and the field that is invalid. */
export const droppedEntry = lazyObject(() => ({
  kind: z.enum(["network", "plan"]),
  id: z.string(),
  field: z.string(),
}));
export type DroppedEntry = z.infer<typeof droppedEntry>;

/** Lenient: the entries are validated one by one. */
export const sentCatalog = lazyObject(() => ({ networks: z.array(z.unknown()), data_plans: z.array(z.unknown()) }));

/**
 * The part of the upstream's catalog that can be served: invalid entries are dropped, and plans without their network.
 * Of entries with the same id, equal ones count as one; different ones are all dropped, because it is unknown which is
 * right.
 */
export const usableCatalog = (
  sent: z.infer<typeof sentCatalog>,
): { readonly catalog: Catalog; readonly dropped: readonly DroppedEntry[] } => {
  const networks = usableEntries("network", networkSchema, sent.networks);
  const plans = usableEntries("plan", dataPlanSchema, sent.data_plans);
  const networkIds = new Set(networks.usable.map(({ id }) => id));
  const isOfNetwork = ({ network_id }: { readonly network_id: number }) => networkIds.has(network_id);
  const withoutNetwork = plans.usable
    .filter((plan) => !isOfNetwork(plan))
    .map(({ id }): DroppedEntry => ({ kind: "plan", id: String(id), field: "network_id" }));
  return {
    catalog: { networks: networks.usable, data_plans: plans.usable.filter(isOfNetwork) },
    dropped: [...networks.dropped, ...plans.dropped, ...withoutNetwork],
  };
};

const usableEntries = <Entry extends { readonly id: number }>(
  kind: DroppedEntry["kind"],
  schema: z.ZodMiniType<Entry>,
  sent: readonly unknown[],
) => {
  const dropped: DroppedEntry[] = [];
  const byId = new Map<number, Entry[]>();
  for (const [index, entry] of sent.entries()) {
    const { data, error } = schema.safeParse(withNumbers(entry));
    if (data === undefined) dropped.push({ kind, id: idOf(entry, index), field: fieldOf(error) });
    else byId.set(data.id, [...(byId.get(data.id) ?? []), data]);
  }
  const usable: Entry[] = [];
  for (const [id, entries] of byId) {
    const [first] = entries;
    const isOne = new Set(entries.map((entry) => JSON.stringify(entry))).size === 1;
    if (isOne && first !== undefined) usable.push(first);
    const surplus = isOne ? entries.slice(1) : entries;
    dropped.push(...surplus.map(() => ({ kind, id: String(id), field: "id" })));
  }
  return { usable, dropped };
};

/** The same entry, its numbers that were sent as text as numbers. */
const withNumbers = (entry: unknown): unknown => {
  const fields = z.record(z.string(), z.unknown()).safeParse(entry).data;
  if (fields === undefined) return entry;
  const numbers = NUMBERS.flatMap((name) => {
    const sent = fields[name];
    return typeof sent === "string" && /^\d{1,12}(\.\d{1,12})?$/.test(sent) ? [[name, Number(sent)]] : [];
  });
  return { ...fields, ...Object.fromEntries(numbers) };
};
const NUMBERS = ["id", "network_id", "price"] as const;

const WHOLE_ENTRY = "entry";
const fieldOf = (error: z.$ZodError | undefined): string => String(error?.issues[0]?.path[0] ?? WHOLE_ENTRY);

const anyId = lazyObject(() => ({ id: z.union([z.number(), z.string().check(z.regex(/^[\w.:-]{1,20}$/))]) }));
/** The entry's id, text in quotes; without a readable id its position in the list, from 1. */
const idOf = (entry: unknown, index: number): string => {
  const { data } = anyId.safeParse(entry);
  return data === undefined ? `number ${index + 1} of the list` : JSON.stringify(data.id);
};
