import { vi } from "vitest";
import type { DocumentClient } from "../../../shared/platform/aws-clients.ts";
import { unspied } from "./before-each-call.ts";

/** An index has the items of one time in reverse order, as another store may have them, on pages of any size. */
export const reverseTies = (db: DocumentClient) => {
  const query = unspied(db, "query").bind(db);
  return vi.spyOn(db, "query").mockImplementation(async ({ Limit, ExclusiveStartKey, ...whole }, options) => {
    const { Items = [], ...rest } = await query(whole, options);
    const times = Map.groupBy(Items.toReversed(), ({ created_at }) => String(created_at));
    const all = [...times.keys()].toSorted().flatMap((time) => times.get(time) ?? []);
    const first = all.findIndex(({ pk }) => pk === ExclusiveStartKey?.pk) + 1;
    const page = all.slice(first, first + (Limit ?? all.length));
    const LastEvaluatedKey = first + page.length < all.length ? page.at(-1) : undefined;
    return { ...rest, Items: page, Count: page.length, LastEvaluatedKey };
  });
};
