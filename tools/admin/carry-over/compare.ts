import { isDeepStrictEqual } from "node:util";
import * as z from "#zod";
import type { Item } from "../table-scan.ts";

/** The condition of a conditional put: the item is still the one that was compared. */
export type Condition = {
  readonly expression: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
};

/** What to do with one item of the old ledger. */
export type Step =
  /** The restored ledger lacks the item. */
  | { readonly kind: "copy"; readonly item: Item }
  /** The restored ledger has it at an earlier stage. */
  | { readonly kind: "update"; readonly item: Item; readonly when: Condition; readonly note?: string }
  /** The restored ledger has it at this stage or a later one. */
  | { readonly kind: "present"; readonly note?: string }
  /** The restored ledger lacks the item, and gets it by another way if it needs it. */
  | { readonly kind: "skipped" }
  /** The two contradict each other: an operator must decide, and nothing is written. */
  | { readonly kind: "differs"; readonly fields: readonly string[] }
  /** The item does not have the form that its key promises. */
  | { readonly kind: "unreadable" };

/** The names of the old ledger and of the restored one. */
export type Ledgers = { readonly from: string; readonly to: string };

/** Compares an item of the old ledger with the restored ledger's item of the same key. */
export type Compare = (old: Item, restored: Item | undefined, ledgers: Ledgers) => Step;

export const differing = (one: Item, other: Item, fields: readonly string[]): readonly string[] =>
  fields.filter((field) => !isDeepStrictEqual(one[field], other[field]));

/** Parses both items before comparing them. `adapt`: the old ledger's item as the restored ledger has to have it. */
export const compareWith =
  <Parsed>(
    schema: z.ZodMiniType<Parsed>,
    compareParsed: (
      parsed: { readonly old: Parsed; readonly restored: Parsed },
      oldItem: Item,
      restoredItem: Item,
    ) => Step,
    adapt: (item: Item, parsed: Parsed, ledgers: Ledgers) => Item = (item) => item,
  ): Compare =>
  (readItem, restoredItem, ledgers) => {
    const old = schema.safeParse(readItem).data;
    if (old === undefined) return { kind: "unreadable" };
    const oldItem = adapt(readItem, old, ledgers);
    if (restoredItem === undefined) return { kind: "copy", item: oldItem };
    const restored = schema.safeParse(restoredItem).data;
    return restored === undefined
      ? { kind: "differs", fields: ["all"] }
      : compareParsed({ old, restored }, oldItem, restoredItem);
  };

/** None of these attributes has changed: other writes to the item take turns with this one. */
export const unchanged = (item: Item, names: readonly string[]): Condition => ({
  expression: names
    .map((name) => (name in item ? `#${name} = :${name}` : `attribute_not_exists(#${name})`))
    .join(" AND "),
  names: Object.fromEntries(names.map((name) => [`#${name}`, name])),
  values: Object.fromEntries(names.flatMap((name) => (name in item ? [[`:${name}`, item[name]]] : []))),
});

/** None of the attributes that the schema names. */
export const unchangedIn = ({ shape }: { readonly shape: object }, item: Item): Condition =>
  unchanged(item, Object.keys(shape));

/** For items that never change once written. */
export const compareImmutable = (schema: z.ZodMiniType = z.unknown()): Compare =>
  compareWith(schema, (_parsed, old, restored) => {
    const fields = differing(old, restored, [...new Set([...Object.keys(old), ...Object.keys(restored)])]);
    return fields.length === 0 ? { kind: "present" } : { kind: "differs", fields };
  });

/** The later of both, by a field that each write raises. */
export const compareLater = <Field extends string>(
  schema: z.ZodMiniType<{ readonly [name in Field]: string | number }>,
  field: Field,
): Compare =>
  compareWith(schema, ({ old, restored }, oldItem, restoredItem): Step => {
    if (old[field] <= restored[field]) return { kind: "present" };
    return { kind: "update", item: oldItem, when: unchanged(restoredItem, [field]) };
  });
