import * as z from "#zod";
import { replaceableObject } from "../contract/lazy-object.ts";
import { bookedOrder, findingClasses, statementRow } from "../contract/upstream-statement.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { casesList, statementCasePk } from "../ledger/schema.ts";
import { NotFoundError } from "../platform/operator-error.ts";
import type { Finding } from "./match-statement.ts";

const orderSchema = z.omit(bookedOrder, { phone_hash: true });
const rowSchema = z.extend(z.omit(statementRow, { phone_hash: true }), {
  ...{ id: z.string(), file: z.int(), line: z.int() },
});

/** What a comparison found. The recipient is left out: the order's own item has it, until its retention. */
export const caseFactsSchema = z.object({
  class: z.enum(findingClasses),
  order: z.optional(orderSchema),
  row: z.optional(rowSchema),
  ahead_ms: z.optional(z.int()),
});
export type CaseFacts = z.infer<typeof caseFactsSchema>;

const storedFacts = replaceableObject(() => ({
  ...caseFactsSchema.shape,
  order: z.optional(replaceableObject(() => orderSchema.shape)),
  row: z.optional(replaceableObject(() => rowSchema.shape)),
}));

/** A difference between a statement and our books, and what people decided about it. It is never removed. */
export const statementCaseSchema = replaceableObject(() => ({
  pk: z.string(),
  list_key: z.string(),
  day: z.iso.date(),
  case_id: z.string(),
  facts: storedFacts,
  /** `withdrawn`: the last comparison did not find it. `decided`: the last decision is about these facts. */
  state: z.enum(["open", "decided", "withdrawn"]),
  decisions: z.array(
    replaceableObject(() => ({
      decision: z.enum(["explained", "disputed", "resolved"]),
      why: z.string(),
      by: z.string(),
      at: z.iso.datetime(),
    })),
  ),
  version: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}));
export type StatementCase = z.infer<typeof statementCaseSchema>;

/** The same difference has the same id in every comparison: that of our order, or of a row without one. */
export const caseIdOf = ({ class: name, order, row }: Pick<Finding, "class" | "order" | "row">): string => {
  if (name === "charged_twice" || name === "only_theirs") return `row-${row?.id}`;
  return order?.reference ?? "clock";
};

/** What is stored of a finding. */
export const caseFactsOf = ({ class: name, order, row, ahead_ms }: Finding): CaseFacts => ({
  class: name,
  ...(order && { order: withoutPhone(order) }),
  ...(row && { row: withoutPhone(row) }),
  ...(ahead_ms !== undefined && { ahead_ms }),
});

const withoutPhone = <Side extends { readonly phone_hash?: string | undefined }>({ phone_hash: _, ...side }: Side) =>
  side;

export const readCases = (ledger: Ledger, day: string, ids: readonly string[]): Promise<readonly StatementCase[]> =>
  getItems(
    ledger,
    ids.map((id) => statementCasePk(day, id)),
    statementCaseSchema,
  );

export const requireCase = async (ledger: Ledger, day: string, id: string): Promise<StatementCase> => {
  const [found] = await readCases(ledger, day, [id]);
  if (found === undefined) throw new NotFoundError(`${day} has no case ${id}`);
  return found;
};

/** A case that a comparison found for the first time. */
export const newCase = (day: string, id: string, facts: CaseFacts, at: string): StatementCase => ({
  pk: statementCasePk(day, id),
  list_key: casesList(day),
  ...{ day, case_id: id, facts, state: "open", decisions: [], version: 0, created_at: at, updated_at: at },
});

/** One part of a change of its statement, whose version shows whether the case is still as it was read. */
export const casePut = ({ table }: Ledger, { version, ...rest }: StatementCase) => ({
  Put: { TableName: table, Item: { ...rest, version: version + 1 } },
});
