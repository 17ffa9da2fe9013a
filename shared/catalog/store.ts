import { type DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { isoTime } from "../platform/time.ts";
import type { Snapshot } from "./snapshot.ts";

/** The cache table's one catalog item. It has no expiry: a stale catalog is better than none. */
const catalogRow = z.object({
  pk: z.literal("catalog"),
  gzip: z.instanceof(Uint8Array),
  etag: z.string(),
  fetched_at: z.iso.datetime(),
});

export type CatalogStore = {
  readonly read: () => Promise<Snapshot | undefined>;
  readonly write: (snapshot: Snapshot) => Promise<void>;
};

export const catalogStore = (db: DynamoDBDocumentClient, table: string): CatalogStore => ({
  read: async () => {
    const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk: "catalog" } }));
    if (Item === undefined) return undefined;
    const { gzip, etag, fetched_at } = catalogRow.parse(Item);
    return { gzip, etag, fetchedAt_ms: Date.parse(fetched_at) };
  },
  write: async ({ gzip, etag, fetchedAt_ms }) => {
    const Item: z.input<typeof catalogRow> = { pk: "catalog", gzip, etag, fetched_at: isoTime(fetchedAt_ms) };
    await db.send(new PutCommand({ TableName: table, Item }));
  },
});
