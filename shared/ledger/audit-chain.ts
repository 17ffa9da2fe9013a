import { createHash } from "node:crypto";
import type { QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import type { Table, Writes } from "./ledger.ts";
import { queryIndex, type TimeRange } from "./query-index.ts";
import {
  attestationsPk,
  auditIndexes,
  auditLogOf,
  ENTRIES_LIST,
  entriesPk,
  isEntryPk,
  placeOf,
  sequenceKey,
} from "./schema.ts";

/** SHA-256 in base64url: a longer text would make the successor, which has it too, too large to be stored. */
const hashSchema = z.string().check(z.regex(/^[\w-]{43}$/));

/**
 * The entries of an audit log form a chain: each has the next place and the hash of its predecessor. `attest-audit`
 * keeps the hash of each entry, under keys that nothing else may write. Decision 0042 says what this shows.
 */
export const linkSchema = z.lazy(() =>
  z.looseObject({
    pk: z.string(),
    sequence: z.string(),
    previous: z.string(),
    hash: hashSchema,
    created_at: z.string(),
  }),
);
type Link = z.infer<typeof linkSchema>;

/** An item of the audit table, with every attribute: an entry's hash is of all of them. */
const auditItemSchema = z.lazy(() => z.looseObject({ pk: z.string(), sequence: z.string() }));
export type AuditItem = z.infer<typeof auditItemSchema>;

/** The hash that `attest-audit` saw; a malformed one fits no entry. */
export const attestationSchema = lazyObject(() => ({
  pk: z.string(),
  sequence: z.string(),
  hash: z.catch(hashSchema, ""),
}));
export type Attestation = z.infer<typeof attestationSchema>;

/** The `previous` of the first entry. */
export const NO_HASH = "";

/** JSON with sorted names: DynamoDB maps have no order. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );

const hashOf = ({ hash: _, ...entry }: Readonly<Record<string, unknown>>): string =>
  createHash("sha256").update(canonicalJson(entry)).digest("base64url");

/** The entry as the successor of the newest one. */
export const linkEntry = <Entry extends Readonly<Record<string, unknown>>>(
  entry: Entry,
  newest: Pick<Link, "sequence" | "hash"> | undefined,
) => {
  const sequence = sequenceKey(Number(newest?.sequence ?? 0) + 1);
  const linked = { ...entry, sequence, previous: newest?.hash ?? NO_HASH };
  return { ...linked, hash: hashOf(linked) };
};

type Order = {
  readonly order: "oldest_first" | "newest_first";
  /** A place behind which the reading begins; absent: all items, whatever their keys. */
  readonly behind?: string | undefined;
  readonly pageItems?: number;
};

/** The items of a partition of the audit table in this order, read strongly page by page. */
async function* readItems(
  { db, table }: Table,
  pk: string,
  { order, behind, pageItems }: Order,
): AsyncGenerator<AuditItem, void, void> {
  const isForward = order === "oldest_first";
  let next = behind;
  do {
    const query: QueryCommandInput = {
      TableName: table,
      ConsistentRead: true,
      ...(next === undefined
        ? { KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": pk } }
        : {
            KeyConditionExpression: `pk = :pk AND #sequence ${isForward ? ">" : "<"} :place`,
            ExpressionAttributeNames: { "#sequence": "sequence" },
            ExpressionAttributeValues: { ":pk": pk, ":place": next },
          }),
      ScanIndexForward: isForward,
      Limit: pageItems,
    };
    const { Items, LastEvaluatedKey } = await db.query(query);
    yield* z.array(auditItemSchema).parse(Items);
    next = LastEvaluatedKey && auditItemSchema.parse(LastEvaluatedKey).sequence;
  } while (next !== undefined);
}

/** The items of a partition of the audit table, or those before this place, newest first. */
export const readNewestFirst = (
  table: Table,
  pk: string,
  { before, pageItems }: { readonly before?: string | undefined; readonly pageItems?: number } = {},
): AsyncGenerator<AuditItem, void, void> =>
  readItems(table, pk, { order: "newest_first", behind: before, ...(pageItems !== undefined && { pageItems }) });

/** The first item of a log with this place, or behind it. */
export const readFirstFrom = async (table: Table, auditLog: string, place: number): Promise<AuditItem | undefined> => {
  const order = { order: "oldest_first", behind: sequenceKey(place - 1), pageItems: 1 } as const;
  return (await readItems(table, entriesPk(auditLog), order).next()).value ?? undefined;
};

/** All items of a log, by their keys. */
export const readAllEntries = (table: Table, auditLog: string): AsyncGenerator<AuditItem, void, void> =>
  readItems(table, entriesPk(auditLog), { order: "oldest_first" });

/**
 * What is attested of a log now, by its keys. What is attested later is left out: its entry may be younger than what a
 * reader has read of the entries.
 */
export async function* readAllAttested(table: Table, auditLog: string): AsyncGenerator<Attestation, void, void> {
  const pk = attestationsPk(auditLog);
  const { value: last } = await readNewestFirst(table, pk, { pageItems: 1 }).next();
  if (last === undefined) return;
  for await (const item of readItems(table, pk, { order: "oldest_first" })) {
    yield attestationSchema.parse(item);
    if (item.sequence === last.sequence) return;
  }
}

/** An entry's place among those of all logs. */
export const listedPlaceSchema = z.object({ pk: z.string(), sequence: z.string(), created_at: z.string() });
type ListedPlace = z.infer<typeof listedPlaceSchema>;

type Query = { readonly range: TimeRange; readonly start?: ListedPlace | undefined; readonly newest?: number };

/** The items that an index has under this key. It lags behind the table by moments. */
async function* readIndex(
  index: (typeof auditIndexes)[keyof typeof auditIndexes],
  table: Table,
  key: string,
  { range, start, ...limits }: Query,
): AsyncGenerator<AuditItem, void, void> {
  const schemas = [auditItemSchema, listedPlaceSchema] as const;
  let next = start;
  do {
    const page = await queryIndex(index, "everything", schemas, table, key, range, next, limits);
    yield* page.items();
    next = page.next;
  } while (next !== undefined);
}

/** The items of all logs in this range of times, newest first, from behind `start` on. Most pages need no more than 200. */
export const readListed = (
  table: Table,
  range: TimeRange,
  start: ListedPlace | undefined,
): AsyncGenerator<AuditItem, void, void> =>
  readIndex(auditIndexes.byTime, table, ENTRIES_LIST, { range, start, newest: 200 });

/** The items of all logs about one item in this range of times, oldest first. */
export const readAbout = (table: Table, about: string, range: TimeRange): AsyncGenerator<AuditItem, void, void> =>
  readIndex(auditIndexes.byAbout, table, about, { range });

/** What is attested of a log before this place, newest first. */
export async function* readAttested(
  table: Table,
  auditLog: string,
  before?: string,
): AsyncGenerator<Attestation & { readonly place: number }, void, void> {
  for await (const item of readNewestFirst(table, attestationsPk(auditLog), { before, pageItems: 1 })) {
    const place = placeOf(item.sequence);
    if (place !== undefined) yield { ...attestationSchema.parse(item), place };
  }
}

/** The end of a chain: its last taken place, and the hash that the next entry continues. */
type End = Pick<Link, "sequence" | "hash">;

/**
 * The last of the places that are taken without a gap from this attested one on; undefined if that one is gone. Items
 * between the places, behind a gap, or without a readable hash are not part of the chain.
 */
const followChain = async (
  table: Table,
  auditLog: string,
  start: { readonly place: number; readonly hash: string },
): Promise<End | undefined> => {
  let last = Math.max(0, start.place - 1);
  let { hash } = start;
  for await (const item of readItems(table, entriesPk(auditLog), {
    order: "oldest_first",
    behind: sequenceKey(last),
  })) {
    const place = placeOf(item.sequence);
    if (place === undefined) continue;
    if (place !== last + 1) break;
    last = place;
    if (place > start.place) hash = linkSchema.safeParse(item).data?.hash ?? hash;
  }
  return last < start.place ? undefined : { sequence: sequenceKey(last), hash };
};
const isEntryPut = (write: Writes[number]): boolean => isEntryPk(String(write.Put?.Item?.pk ?? ""));

/**
 * The end of a log's chain. Anybody who may put entries may put any item under any key of the log; where the search starts,
 * only `attest-audit` writes. So an item far behind the others stops no change, and the next one has the first free place.
 */
const endOfChain = async (table: Table, auditLog: string): Promise<End | undefined> => {
  for await (const attested of readAttested(table, auditLog)) {
    const end = await followChain(table, auditLog, attested);
    if (end !== undefined) return end;
  }
  return followChain(table, auditLog, { place: 0, hash: NO_HASH });
};

/**
 * The writes with their audit entry linked to its log. Another entry that was written since the end was read has the same
 * place, and fails the entry's condition and so the whole transaction.
 */
export const linkAudit = async (db: Table["db"], writes: Writes): Promise<Writes> => {
  const put = writes.find(isEntryPut)?.Put;
  if (put?.TableName === undefined || put.Item === undefined) return writes;
  const end = await endOfChain({ db, table: put.TableName }, auditLogOf(String(put.Item.pk)));
  const Item = linkEntry(put.Item, end);
  return writes.map((write) => (write.Put === put ? { Put: { ...put, Item } } : write));
};

/**
 * Whether the linked entry of these writes is stored in its place: then all of them were carried out, because they are one
 * transaction. False is inconclusive, because they may still land.
 */
export const isEntryStored = async (db: Table["db"], linked: Writes): Promise<boolean> => {
  const put = linked.find(isEntryPut)?.Put;
  if (put?.TableName === undefined) return false;
  const entry = linkSchema.parse(put.Item);
  const before = sequenceKey((placeOf(entry.sequence) ?? 1) - 1);
  const { value } = await readItems({ db, table: put.TableName }, String(put.Item?.pk), {
    ...{ order: "oldest_first", behind: before, pageItems: 1 },
  }).next();
  const stored = linkSchema.safeParse(value).data;
  return stored?.sequence === entry.sequence && stored.hash === entry.hash;
};

/** What a chain and its attestations do not explain. */
export type AuditProblem = {
  readonly kind: "changed" | "removed" | "out_of_order" | "not_attested" | "misplaced" | "gap";
  readonly sequence: string;
  /** The last place of a gap. */
  readonly until?: string;
};

/** How late an entry may be attested. */
const ATTESTED_MS_MAX = 15 * MINUTE_MS;

/** What the table has under one key of a log. */
export type StoredPlace = {
  readonly sequence: string;
  readonly item: AuditItem | undefined;
  readonly attested: Attestation | undefined;
};

/** Compares the entries of one log with their chain, and with what was attested of them: place by place, in their order. */
export const chainVerifier = (nowMs: number) => {
  let last = 0;
  let previous: string | undefined = NO_HASH;
  return ({ sequence, item, attested }: StoredPlace): readonly AuditProblem[] => {
    const place = placeOf(sequence);
    if (place === undefined) return [{ kind: "misplaced", sequence }];
    const gap: AuditProblem | undefined =
      place > last + 1 ? { kind: "gap", sequence: sequenceKey(last + 1), until: sequenceKey(place - 1) } : undefined;
    if (gap !== undefined) previous = undefined;
    const kind = problemOf(item, attested?.hash, previous, nowMs);
    // After an unreadable entry without an attestation the next one is compared with nothing.
    previous = attested?.hash ?? linkSchema.safeParse(item).data?.hash;
    last = place;
    return [...(gap === undefined ? [] : [gap]), ...(kind === undefined ? [] : [{ kind, sequence }])];
  };
};

const problemOf = (
  item: AuditItem | undefined,
  attestedHash: string | undefined,
  previous: string | undefined,
  nowMs: number,
): AuditProblem["kind"] | undefined => {
  if (item === undefined) return "removed";
  const link = linkSchema.safeParse(item).data;
  if (link === undefined || hashOf(link) !== link.hash) return "changed";
  if (attestedHash !== undefined && attestedHash !== link.hash) return "changed";
  if (previous !== undefined && link.previous !== previous) return "out_of_order";
  const isLate = Date.parse(link.created_at) <= nowMs - ATTESTED_MS_MAX;
  return attestedHash === undefined && isLate ? "not_attested" : undefined;
};
