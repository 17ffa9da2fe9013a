import { vi } from "vitest";
import type { DocumentClient } from "../../shared/platform/aws-clients.ts";
import { unspied } from "./before-each-call.ts";

/** Pages of an index have the items of one time in reverse order, as another store may have them. */
export const reverseTies = (db: DocumentClient) => {
  const query = unspied(db, "query").bind(db);
  return vi.spyOn(db, "query").mockImplementation(async (input, options) => {
    const { Items = [], ...rest } = await query(input, options);
    const times = Map.groupBy(Items.toReversed(), ({ created_at }) => String(created_at));
    return { ...rest, Items: [...times.keys()].toSorted().flatMap((time) => times.get(time) ?? []) };
  });
};
