import { createHash } from "node:crypto";
import * as z from "zod";
import { getItem } from "./get-item.ts";
import type { Table } from "./ledger.ts";
import { auditHeadPk, auditHeadsList, itemKindOf } from "./schema.ts";
import type { Writes } from "./transact.ts";

/**
 * The entries that one table writes to an audit log form a chain: each has the next number and the hash of its
 * predecessor, and the chain's head has the count and the last hash. Decision 0038 says what this shows.
 */
export const auditHeadSchema = z.object({ count: z.int().nonnegative(), hash: z.string() });
export type AuditHead = z.infer<typeof auditHeadSchema>;
export const storedHeadSchema = auditHeadSchema.extend({ pk: z.string(), table: z.string() });

/** The head of a chain without entries. */
const EMPTY: AuditHead = { count: 0, hash: "" };

const linkSchema = z.looseObject({
  pk: z.string(),
  table: z.string(),
  sequence: z.int(),
  previous: z.string(),
  hash: z.string(),
});
type Link = z.infer<typeof linkSchema>;

/** An entry as it is stored, with every attribute: the hash is of all of them. */
export const storedEntrySchema = z.looseObject({ pk: z.string() });
export type StoredAuditItem = z.infer<typeof storedEntrySchema>;

/** JSON with sorted names: DynamoDB maps have no order. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );

const hashOf = ({ hash: _, ...entry }: Readonly<Record<string, unknown>>): string =>
  createHash("sha256").update(canonicalJson(entry)).digest("base64url");

/** The entry as the successor of the head. */
export const linkEntry = (entry: StoredAuditItem, { count, hash }: AuditHead, table: string): Link => {
  const linked = { ...entry, table, sequence: count + 1, previous: hash };
  return { ...linked, hash: hashOf(linked) };
};

/** Read strongly: a stale head would only fail the condition of the write. */
const readHead = async ({ db, table }: Table, auditLog: string): Promise<AuditHead> =>
  (await getItem({ db, table }, auditHeadPk(auditLog, table), auditHeadSchema)) ?? EMPTY;

const isAuditPut = (write: Writes[number]): boolean => itemKindOf(String(write.Put?.Item?.pk ?? "")) === "audit";

/**
 * The writes with their audit entry linked to its log, and the log's new head behind them. Another entry written since
 * the head was read fails the head's condition, and so the whole transaction.
 */
export const linkAudit = async (db: Table["db"], writes: Writes): Promise<Writes> => {
  const put = writes.find(isAuditPut)?.Put;
  if (put?.TableName === undefined || put.Item === undefined) return writes;
  const table = put.TableName;
  const auditLog = z.string().parse(put.Item.audit_log);
  const head = await readHead({ db, table }, auditLog);
  const Item = linkEntry(storedEntrySchema.parse(put.Item), head, table);
  const isFirst = head.count === 0;
  return [
    ...writes.map((write) => (write.Put === put ? { Put: { ...put, Item } } : write)),
    {
      Put: {
        TableName: table,
        Item: {
          pk: auditHeadPk(auditLog, table),
          ...{ list_key: auditHeadsList(auditLog), created_at: put.Item.created_at },
          ...{ table, count: Item.sequence, hash: Item.hash },
        },
        // It shows which condition failed: `classifyWriteError` takes this one for a conflict.
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        ConditionExpression: isFirst ? "attribute_not_exists(pk)" : "#hash = :read",
        ...(!isFirst && {
          ExpressionAttributeNames: { "#hash": "hash" },
          ExpressionAttributeValues: { ":read": head.hash },
        }),
      },
    },
  ];
};

/** What a chain does not explain. `pk` is the entry's key; a removed entry has only its number. */
export type AuditProblem = {
  readonly kind: "changed" | "removed" | "out_of_order" | "not_in_chain" | "head_differs";
  readonly sequence?: number;
  readonly pk?: string;
};

/** Compares a log's stored entries with the chains of its heads. */
export const verifyChains = (
  items: readonly StoredAuditItem[],
  heads: readonly z.infer<typeof storedHeadSchema>[],
): readonly AuditProblem[] => {
  const tables = new Set(heads.map(({ table }) => table));
  const strays = items.filter((item) => !tables.has(String(item.table)));
  return [
    ...strays.map(({ pk }): AuditProblem => ({ kind: "not_in_chain", pk })),
    ...heads.flatMap((head) =>
      verifyChain(
        items.filter((item) => item.table === head.table),
        head,
      ),
    ),
  ];
};

/** Compares the stored entries of one chain with its head. */
export const verifyChain = (items: readonly StoredAuditItem[], head: AuditHead): readonly AuditProblem[] => {
  const problems: AuditProblem[] = [];
  const bySequence = new Map<number, Link>();
  for (const item of items) {
    const link = linkSchema.safeParse(item).data;
    if (link === undefined || link.sequence < 1 || link.sequence > head.count) {
      problems.push({ kind: "not_in_chain", pk: item.pk });
      continue;
    }
    const other = bySequence.get(link.sequence);
    if (other === undefined) bySequence.set(link.sequence, link);
    else {
      // The one whose hash is right stays: a copy with another key has a wrong one.
      const isOtherRight = hashOf(other) === other.hash;
      bySequence.set(link.sequence, isOtherRight ? other : link);
      problems.push({ kind: "not_in_chain", sequence: link.sequence, pk: (isOtherRight ? link : other).pk });
    }
  }
  let previous: string | undefined = EMPTY.hash;
  for (let sequence = 1; sequence <= head.count; sequence += 1) {
    const link = bySequence.get(sequence);
    if (link === undefined) problems.push({ kind: "removed", sequence });
    else if (hashOf(link) !== link.hash) problems.push({ kind: "changed", sequence, pk: link.pk });
    else if (previous !== undefined && link.previous !== previous) {
      problems.push({ kind: "out_of_order", sequence, pk: link.pk });
    }
    // Behind a removed entry the next one has nothing to be compared with.
    previous = link?.hash;
  }
  if (head.count > 0 && previous !== undefined && previous !== head.hash) {
    problems.push({ kind: "head_differs", sequence: head.count });
  }
  return problems;
};
