import type { QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { vi } from "vitest";
import type { DocumentClient } from "../../../shared/platform/aws-clients.ts";
import { unspied } from "./before-each-call.ts";

type Item = Readonly<Record<string, unknown>>;

/** Queries lack these items, as those of an index do after a write that has not reached it yet. */
export const hideFromIndex = (db: DocumentClient, isHidden: (item: Item, input: QueryCommandInput) => boolean) => {
  const query = unspied(db, "query").bind(db);
  return vi.spyOn(db, "query").mockImplementation(async (input, options) => {
    const { Items = [], ...rest } = await query(input, options);
    return { ...rest, Items: Items.filter((item) => !isHidden(item, input)) };
  });
};
