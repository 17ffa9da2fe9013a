import * as z from "#zod";
import { replaceableObject } from "../contract/lazy-object.ts";
import { findingClasses } from "../contract/upstream-statement.ts";
import { getItem, getItems } from "../ledger/get-item.ts";
import type { Ledger, Writes } from "../ledger/ledger.ts";
import { ifVersion } from "../ledger/put-if.ts";
import { STATEMENTS_LIST, statementPk } from "../ledger/schema.ts";
import { operatorTransact, wasWritten } from "../ledger/transact.ts";
import { NotFoundError, OperatorError } from "../platform/operator-error.ts";

const closingSchema = replaceableObject(() => ({ balance_kobo: z.int(), at: z.iso.datetime() }));
type StatedBalance = z.infer<typeof closingSchema>;

const fileSchema = replaceableObject(() => ({
  /** SHA-256 of the file and of how its columns are read. */
  file: z.string(),
  sha256: z.string(),
  rows: z.int(),
  /** Items that have its rows. */
  chunks: z.int(),
  state: z.enum(["incomplete", "whole", "replaced", "removed"]),
  /** The balance that it states last. */
  closing: z.optional(closingSchema),
  by: z.string(),
  at: z.iso.datetime(),
  /** A file corrects rows of those with a lower number. Read in another way it keeps its number; taken out it gets a new one. */
  number: z.int(),
}));
export type StatementFile = z.infer<typeof fileSchema>;

/** Whether a file counts, or will once it is whole: it was neither read again in another way nor taken out. */
export const isOfDay = ({ state }: StatementFile): boolean => state === "incomplete" || state === "whole";

/** The upstream's statement of one day. */
export const statementSchema = replaceableObject(() => ({
  pk: z.string(),
  list_key: z.literal(STATEMENTS_LIST),
  day: z.iso.date(),
  /** The day in the upstream's time zone: from inclusive, to exclusive. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  state: z.enum(["open", "signed_off"]),
  files: z.array(fileSchema),
  /** Rises with every file that is whole, and with one that is no more. */
  revision: z.int(),
  compared: z.nullable(
    replaceableObject(() => ({
      revision: z.int(),
      at: z.iso.datetime(),
      totals: z.array(
        replaceableObject(() => ({
          ...{ class: z.enum(findingClasses), count: z.int(), ours_kobo: z.int(), theirs_kobo: z.int() },
        })),
      ),
    })),
  ),
  /** The comparison whose cases are stored, or are being stored; empty before the first. */
  comparison: z.string(),
  open_cases: z.int().check(z.minimum(0)),
  /** Cases of every state. The index that lists them lags. */
  cases: z.int().check(z.minimum(0)),
  /** The balance that its files state last. */
  closing: z.nullable(closingSchema),
  signed_off: z.nullable(replaceableObject(() => ({ by: z.string(), at: z.iso.datetime(), why: z.string() }))),
  /** Rises with every write: a write replaces the statement that was read. */
  version: z.int(),
  created_at: z.iso.datetime(),
}));
export type Statement = z.infer<typeof statementSchema>;

export const newStatement = (day: string, { from, to }: Pick<Statement, "from" | "to">, at: string): Statement => ({
  pk: statementPk(day),
  list_key: STATEMENTS_LIST,
  ...{ day, from, to, state: "open", files: [], revision: 0, compared: null, comparison: "", open_cases: 0, cases: 0 },
  ...{ closing: null, signed_off: null, version: 0, created_at: at },
});

/** The balance that is stated last. */
export const latestClosing = (stated: readonly (StatedBalance | undefined)[]): StatedBalance | null =>
  stated.reduce<StatedBalance | null>(
    (last, each) => (each && (last === null || last.at <= each.at) ? each : last),
    null,
  );

export const requireStatement = async (ledger: Ledger, day: string, absent?: Statement): Promise<Statement> => {
  const statement = (await getItem(ledger, statementPk(day), statementSchema)) ?? absent;
  if (statement === undefined) throw new NotFoundError(`No statement of ${day} was imported`);
  return statement;
};

export const readStatements = (
  ledger: Ledger,
  keys: readonly { readonly pk: string }[],
): Promise<readonly Statement[]> => getItems(ledger, keys, statementSchema);

/** What a change of a statement writes beside it; undefined: it is as it should be. */
export type StatementChange = { readonly statement: Statement; readonly writes: Writes } | undefined;

/** Others that change the same day at once are few: people, and an import. */
const TRIES = 5;

/**
 * Reads a statement, and replaces it if nobody else did first, with what belongs to the change in one transaction of
 * writes. `change` refuses by throwing. Resolves with the statement as it is then. `absent`: what is changed if the day has
 * no statement, which is refused otherwise.
 */
export const changeStatement = async (
  ledger: Ledger,
  day: string,
  change: (statement: Statement) => Promise<StatementChange>,
  absent?: Statement,
): Promise<Statement> => {
  const read = () => requireStatement(ledger, day, absent);
  for (let attempt = 1; ; attempt += 1) {
    const before = await read();
    if (before.state === "signed_off")
      throw new OperatorError(`${before.day} is signed off: nothing of it changes any more`);
    const changed = await change(before);
    if (changed === undefined) return before;
    const Item: Statement = { ...changed.statement, version: before.version + 1 };
    const result = await operatorTransact(ledger, [statementPut(ledger, Item, before.version), ...changed.writes]);
    if (result.kind === "written" || (await wasWritten(result, read, Item))) return Item;
    // After a copy without an answer another attempt could make the change twice.
    if (result.kind !== "condition_failed" || !result.isCertain || attempt === TRIES) throw result.error;
  }
};

const statementPut = ({ table }: Ledger, Item: Statement, version: number) => ({
  Put: { TableName: table, Item, ...ifVersion(version) },
});
