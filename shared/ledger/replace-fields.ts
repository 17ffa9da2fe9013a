import { isDeepStrictEqual } from "node:util";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { conditionFailure } from "../platform/aws/errors.ts";
import type { Table } from "./ledger.ts";
import { isOfSecondCopy } from "./transact.ts";
import { returned, setParts, updateOf } from "./update-parts.ts";

/** Attributes with their values as they were read, and the new ones; without the latter they are removed. */
export type Replacements = Readonly<Record<string, { readonly from: unknown; readonly to?: unknown }>>;

/** DynamoDB's answer has the item as it is stored, in which the change may be made already. */
const isChanged = (item: Readonly<Record<string, unknown>>, change: Replacements): boolean =>
  Object.entries(change).every(([name, { to }]) => isDeepStrictEqual(item[name], to));

/**
 * Replaces attributes of an item. False if another write has changed one of them since it was read. The SDK sends a write
 * again whose answer was lost, and the second copy is refused because the first one was carried out.
 */
export const replaceFields = async ({ db, table }: Table, pk: string, change: Replacements): Promise<boolean> => {
  const changes = Object.entries(change);
  const removed = changes.flatMap(([name, { to }]) => (to === undefined ? [name] : []));
  const set = Object.fromEntries(changes.map(([name, { to }]) => [name, to]));
  const update = updateOf(setParts(set, removed), {
    conditions: changes.map(([name]) => `#${name} = :${name}_read`),
    values: Object.fromEntries(changes.map(([name, { from }]) => [`:${name}_read`, from])),
  });
  const failure = await conditionFailure(db.update({ TableName: table, Key: { pk }, ...update, ...returned }));
  if (failure === undefined) return true;
  return isOfSecondCopy(failure) && failure.Item !== undefined && isChanged(unmarshall(failure.Item), change);
};
