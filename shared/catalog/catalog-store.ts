import { type DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { isoTime } from "../platform/time.ts";
import type { Snapshot } from "./snapshot.ts";
import { droppedEntry } from "./usable-catalog.ts";

/**
 * The cache table's catalog items: the catalog that is served, and the latest refused one, which an operator may
 * accept. They do not expire: a stale catalog is better than none.
 */
const catalogItem = z.object({
  pk: z.enum(["catalog", "catalog-candidate"]),
  gzip: z.instanceof(Uint8Array),
  etag: z.string(),
  fetched_at: z.iso.datetime(),
  /** Absent in items of earlier releases. */
  dropped: z.object({ count: z.int().min(0), first: z.array(droppedEntry) }).default({ count: 0, first: [] }),
});

export type CatalogStore = {
  readonly read: () => Promise<Snapshot | undefined>;
  readonly write: (snapshot: Snapshot) => Promise<void>;
  readonly readCandidate: () => Promise<Snapshot | undefined>;
  readonly writeCandidate: (snapshot: Snapshot) => Promise<void>;
};

type Pk = z.infer<typeof catalogItem>["pk"];

export const catalogStore = (db: DynamoDBDocumentClient, table: string): CatalogStore => {
  const read = async (pk: Pk): Promise<Snapshot | undefined> => {
    const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk } }));
    if (Item === undefined) return undefined;
    const { gzip, etag, fetched_at, dropped } = catalogItem.parse(Item);
    return { gzip, etag, fetchedAtMs: Date.parse(fetched_at), dropped };
  };
  const write = async (pk: Pk, { gzip, etag, fetchedAtMs, dropped: { count, first } }: Snapshot): Promise<void> => {
    const Item: z.input<typeof catalogItem> = {
      pk,
      gzip,
      etag,
      fetched_at: isoTime(fetchedAtMs),
      dropped: { count, first: [...first] },
    };
    await db.send(new PutCommand({ TableName: table, Item }));
  };
  return {
    read: () => read("catalog"),
    write: (snapshot) => write("catalog", snapshot),
    readCandidate: () => read("catalog-candidate"),
    writeCandidate: (snapshot) => write("catalog-candidate", snapshot),
  };
};
