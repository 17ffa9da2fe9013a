import * as z from "#zod";
import { lazyObject, replaceableObject } from "../contract/lazy-object.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Table, Writes } from "../ledger/ledger.ts";
import { priceListPk } from "../ledger/schema.ts";
import { boundedMap } from "../platform/bounded-map.ts";
import { type PriceRule, priceRuleSchema } from "./price-rule.ts";

/** The price rules of an account; `version` rises with every change, and the items of the account's keys have it too. */
export const priceListSchema = replaceableObject(() => ({
  version: z.int().check(z.minimum(1)),
  rules: z.array(priceRuleSchema),
}));
export type PriceList = z.infer<typeof priceListSchema>;

/** A copy of the account's list, for functions that may not read accounts. */
export const priceListItemSchema = lazyObject(() => ({
  ...priceListSchema.shape,
  pk: z.string(),
  account_id: z.string(),
}));

type Priced = { readonly account_id: string; readonly price_list?: PriceList | undefined };

/** Writes the list with each change of it, in the transaction that changes the account. */
export const priceListWrites = (TableName: string, before: Priced, after: Priced): Writes => {
  const { account_id, price_list: list } = after;
  if (list === undefined || list.version === before.price_list?.version) return [];
  const Item: z.infer<typeof priceListItemSchema> = { pk: priceListPk(account_id), account_id, ...list };
  return [{ Put: { TableName, Item } }];
};

/** The rules of a caller, whose key has the version of its account's list; none without one. */
export type PriceRules = (caller: {
  readonly accountId: string;
  readonly priceList?: number | undefined;
}) => Promise<readonly PriceRule[]>;

const KEPT_MAX = 200;

/**
 * Reads a list once for each version, so that a change counts for the next request and a request without one reads
 * nothing. A list that is older than the key's is never used: the ledger may be a restored one, and the price would be
 * wrong. `keys reconcile` corrects the key.
 */
export const priceRules = (table: Table): PriceRules => {
  const kept = boundedMap<string, PriceList>(KEPT_MAX);
  return async ({ accountId, priceList }) => {
    if (priceList === undefined) return [];
    const known = kept.get(accountId);
    if (known !== undefined && known.version >= priceList) return known.rules;
    const read = await getItem(table, priceListPk(accountId), priceListItemSchema);
    if (read === undefined || read.version < priceList) {
      throw new Error(`The ledger lacks version ${priceList} of the prices of ${accountId}: run keys reconcile`);
    }
    kept.set(accountId, read);
    return read.rules;
  };
};
