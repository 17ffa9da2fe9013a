import type { PutCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { unlessRefused } from "../platform/aws/errors.ts";
import type { DocumentClient } from "../platform/aws-clients.ts";
import { isoTime } from "../platform/time.ts";
import { catalogChange } from "./catalog-change.ts";
import type { Snapshot } from "./snapshot.ts";
import { droppedEntry } from "./usable-catalog.ts";

/**
 * The cache table's catalog items: the catalog that is served, and the latest refused one, which an operator may
 * accept. They do not expire: a stale catalog is better than none.
 */
export const catalogItem = z.object({
  pk: z.enum(["catalog", "catalog-candidate"]),
  gzip: z.instanceof(Uint8Array),
  etag: z.string(),
  fetched_at: z.iso.datetime(),
  /** Of the upstream that sent it. */
  base_url: z.optional(z.string()),
  dropped: z.object({ count: z.int().check(z.minimum(0)), first: z.array(droppedEntry) }),
  unannounced: z.array(catalogChange),
});

export type CatalogStore = {
  readonly read: () => Promise<Snapshot | undefined>;
  /** Writes it unless a newer one is served; resolves with whether it was written. */
  readonly write: (snapshot: Snapshot) => Promise<boolean>;
  /** Writes it if the catalog that is served is still the one that was read; resolves with whether it was. */
  readonly replace: (read: Snapshot, snapshot: Snapshot) => Promise<boolean>;
  readonly readCandidate: () => Promise<Snapshot | undefined>;
  /** Writes it unless there is a newer one. */
  readonly writeCandidate: (snapshot: Snapshot) => Promise<unknown>;
};

type Pk = z.infer<typeof catalogItem>["pk"];

export const catalogStore = (db: DocumentClient, table: string): CatalogStore => {
  const read = async (pk: Pk): Promise<Snapshot | undefined> => {
    const { Item } = await db.get({ TableName: table, Key: { pk } });
    if (Item === undefined) return undefined;
    const { gzip, etag, fetched_at, base_url: baseUrl, dropped, unannounced } = catalogItem.parse(Item);
    return { gzip, etag, fetchedAtMs: Date.parse(fetched_at), baseUrl, dropped, unannounced };
  };
  const put = (pk: Pk, { gzip, etag, fetchedAtMs, baseUrl, dropped: { count, first }, unannounced }: Snapshot) => {
    const Item: z.infer<typeof catalogItem> = {
      pk,
      gzip,
      etag,
      fetched_at: isoTime(fetchedAtMs),
      ...(baseUrl !== undefined && { base_url: baseUrl }),
      dropped: { count, first: [...first] },
      unannounced: [...unannounced],
    };
    return { TableName: table, Item };
  };
  const write = (
    pk: Pk,
    snapshot: Snapshot,
    condition: Pick<PutCommandInput, "ConditionExpression" | "ExpressionAttributeValues">,
  ): Promise<boolean> => unlessRefused(db.put({ ...put(pk, snapshot), ...condition }));
  /** A write that lands late does not bring an older catalog back. */
  const isNewer = ({ fetchedAtMs }: Snapshot) => ({
    ConditionExpression: "attribute_not_exists(fetched_at) OR fetched_at <= :fetched_at",
    ExpressionAttributeValues: { ":fetched_at": isoTime(fetchedAtMs) },
  });
  return {
    read: () => read("catalog"),
    write: (snapshot) => write("catalog", snapshot, isNewer(snapshot)),
    replace: (before, snapshot) =>
      write("catalog", snapshot, {
        ConditionExpression: "etag = :etag AND fetched_at = :fetched_at",
        ExpressionAttributeValues: { ":etag": before.etag, ":fetched_at": isoTime(before.fetchedAtMs) },
      }),
    readCandidate: () => read("catalog-candidate"),
    writeCandidate: (snapshot) => write("catalog-candidate", snapshot, isNewer(snapshot)),
  };
};
