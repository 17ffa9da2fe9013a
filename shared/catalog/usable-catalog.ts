import * as z from "zod";
import { type Catalog, dataPlanSchema, networkSchema } from "../contract/catalog.ts";

/** An entry of the upstream's catalog that is not served: which one, and the field that is wrong with it. */
export const droppedEntry = z.object({ kind: z.enum(["network", "plan"]), id: z.string(), field: z.string() });
export type DroppedEntry = z.infer<typeof droppedEntry>;

/** The upstream's catalog as far as it is a list of networks and a list of plans. */
export const sentCatalog = z.object({ networks: z.array(z.unknown()), data_plans: z.array(z.unknown()) });

/**
 * What can be served of the upstream's catalog: one odd entry is dropped and the others are kept. Of entries that share an id, equal
 * ones are one entry; of different ones nobody can say which is meant, so that none is served. A plan needs its network.
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
  schema: z.ZodType<Entry>,
  sent: readonly unknown[],
) => {
  const dropped: DroppedEntry[] = [];
  const byId = new Map<number, Entry[]>();
  for (const [index, entry] of sent.entries()) {
    const { data, error } = schema.safeParse(entry);
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

const ENTRY = "entry";
const fieldOf = (error: z.ZodError | undefined): string => String(error?.issues[0]?.path[0] ?? ENTRY);

const anyId = z.object({ id: z.union([z.number(), z.string().regex(/^[\w.:-]{1,20}$/)]) });
/** The entry's id, text in quotes; without a readable one its place in the list, beginning with 1. */
const idOf = (entry: unknown, index: number): string => {
  const { data } = anyId.safeParse(entry);
  return data === undefined ? `number ${index + 1} of the list` : JSON.stringify(data.id);
};
