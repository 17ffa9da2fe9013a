import { documentText, type PreparedDocument, prepareDocument } from "../call/prepared-document.ts";
import { type Catalog, catalogSchema } from "../contract/catalog.ts";
import { successEnvelope } from "../contract/envelope.ts";
import { DAY_MS } from "../contract/values/durations.ts";
import type { CatalogChange } from "./catalog-change.ts";
import type { DroppedEntry } from "./usable-catalog.ts";

/** Nothing is sold from an older catalog. */
export const SELLABLE_AGE_MS_MAX = DAY_MS;

/** How many entries were dropped, and the first of them. */
export type DroppedEntries = { readonly count: number; readonly first: readonly DroppedEntry[] };
/** Bounds the size of the stored item. */
const DROPPED_LISTED_MAX = 50;

/** The catalog as it is served: the bytes of the response, prepared by the refresh. */
export type Snapshot = PreparedDocument & {
  /** When the upstream sent it. */
  readonly fetchedAtMs: number;
  /** Of the upstream that sent it. Absent in a built-in one, and in one of an earlier release. */
  readonly baseUrl?: string | undefined;
  /** Entries of the upstream's catalog that are not served. */
  readonly dropped: DroppedEntries;
  /** Changes up to this catalog that subscribed accounts may not have been sent yet, oldest first. */
  readonly unannounced: readonly CatalogChange[];
};

/** Prepares the bytes of the response, with their `ETag`. */
export const snapshotOf = (catalog: Catalog, fetchedAtMs: number, dropped: readonly DroppedEntry[] = []): Snapshot => {
  const body = JSON.stringify({ status: true, message: "Networks and data plans", data: catalog });
  return {
    ...prepareDocument(body),
    fetchedAtMs,
    dropped: { count: dropped.length, first: dropped.slice(0, DROPPED_LISTED_MAX) },
    unannounced: [],
  };
};

const servedEnvelope = successEnvelope(catalogSchema);
export const catalogOf = (snapshot: Snapshot): Catalog => servedEnvelope.parse(JSON.parse(documentText(snapshot))).data;
