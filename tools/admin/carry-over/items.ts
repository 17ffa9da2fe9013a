import { type DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { classifyWriteError, operatorRetries } from "../../../shared/ledger/transact.ts";
import { type Item, readItemMap, scanTable } from "../table-scan.ts";
import { isTransient } from "../transient-error.ts";
import { type BalanceChange, balanceChangeOf, type ItemKind, kindOf, type Step } from "./kinds.ts";

export type Tables = { readonly db: DynamoDBDocumentClient; readonly from: string; readonly to: string };

/** How many items of one kind came to what. */
export type Counts = Record<"copied" | "updated" | "present" | "differ" | "unreadable" | "skipped" | "unknown", number>;

export const noCounts: Counts = { copied: 0, updated: 0, present: 0, differ: 0, unreadable: 0, skipped: 0, unknown: 0 };

/** An item that needs an operator's decision. */
export type Discrepancy = { readonly item: string; readonly what: string };

export type CarriedItems = {
  readonly counts: ReadonlyMap<string, Counts>;
  readonly discrepancies: readonly Discrepancy[];
  readonly notes: readonly string[];
  /** The accounts that the old ledger knows. */
  readonly accountIds: ReadonlySet<string>;
  /** By how much what was carried over changes each account's balance. */
  readonly moved: ReadonlyMap<string, number>;
};

const WRITES_AT_ONCE = 25;

/**
 * Copies what the new ledger lacks, and takes forward what it has at an earlier stage. Every write has the condition that its item
 * is still as it was compared, so that a repetition, or a second one at the same time, does no harm.
 */
export const carryItems = async (
  tables: Tables,
  { isDryRun, logProgress }: { readonly isDryRun: boolean; readonly logProgress: (sentence: string) => void },
): Promise<CarriedItems> => {
  const counts = new Map<string, Counts>();
  const discrepancies: Discrepancy[] = [];
  const notes = new Set<string>();
  const accountIds = new Set<string>();
  const moved = new Map<string, number>();

  const count = (name: string, what: keyof Counts): void => {
    const known = counts.get(name) ?? noCounts;
    counts.set(name, { ...known, [what]: known[what] + 1 });
  };
  const move = (change: BalanceChange | undefined, sign: 1 | -1): void => {
    if (change === undefined) return;
    const { accountId, kobo } = change;
    moved.set(accountId, (moved.get(accountId) ?? 0) + sign * kobo);
  };

  const tally = (item: Item, { name }: ItemKind, here: Item | undefined, step: Step): void => {
    if ("note" in step && step.note !== undefined) notes.add(step.note);
    switch (step.kind) {
      case "copy":
        count(name, "copied");
        move(balanceChangeOf(item), 1);
        break;
      case "update":
        count(name, "updated");
        if (here !== undefined) move(balanceChangeOf(here), -1);
        move(balanceChangeOf(step.item), 1);
        break;
      case "present":
        count(name, "present");
        break;
      case "differs":
        count(name, "differ");
        discrepancies.push({ item: item.pk, what: `differs in ${step.fields.join(", ")}` });
        break;
      case "unreadable":
        count(name, "unreadable");
        discrepancies.push({ item: item.pk, what: "cannot be read" });
    }
  };

  const take = async (items: readonly Item[]): Promise<void> => {
    const standing = await readItemMap(
      tables.db,
      tables.to,
      items.map(({ pk }) => pk),
    );
    for (let start = 0; start < items.length; start += WRITES_AT_ONCE) {
      const some = items.slice(start, start + WRITES_AT_ONCE);
      await Promise.all(some.map((item) => carryOne(item, standing.get(item.pk))));
    }
  };

  const carryOne = async (item: Item, here: Item | undefined): Promise<void> => {
    const kind = kindOf(item.pk);
    if (kind === undefined) {
      count("other", "unknown");
      discrepancies.push({ item: item.pk, what: "is of no kind that can be carried over" });
      return;
    }
    if (kind.compare === undefined) return count(kind.name, "skipped");
    const [, account] = /^(?:account|wallet)#(.+)$/.exec(item.pk) ?? [];
    if (account !== undefined) accountIds.add(account);
    const step = isDryRun ? kind.compare(item, here) : await write(tables, kind.compare, item, here);
    tally(item, kind, here, step);
  };

  await scanTable(tables.db, tables.from, { take, logProgress });
  return { counts, discrepancies, notes: [...notes], accountIds, moved };
};

/** Writes what the comparison comes to; where the item has changed since it was read, it is compared anew. */
const write = async (
  { db, to }: Tables,
  compare: NonNullable<ItemKind["compare"]>,
  item: Item,
  found: Item | undefined,
): Promise<Step> => {
  let here = found;
  let tried: Step | undefined;
  const nextAttempt = operatorRetries();
  for (;;) {
    const step = compare(item, here);
    // What a lost answer has hidden was written by this very run.
    if (step.kind !== "copy" && step.kind !== "update") return step.kind === "present" && tried ? tried : step;
    tried = step;
    try {
      await db.send(new PutCommand({ TableName: to, ...putOf(item, step) }));
      return step;
    } catch (error) {
      const canRetry = classifyWriteError(error).kind === "condition_failed" || isTransient(error);
      if (!canRetry || !(await nextAttempt())) throw error;
      here = (await readItemMap(db, to, [item.pk])).get(item.pk);
    }
  }
};

const putOf = (item: Item, step: Extract<Step, { kind: "copy" | "update" }>) =>
  step.kind === "copy"
    ? { Item: item, ConditionExpression: "attribute_not_exists(pk)" }
    : {
        Item: step.item,
        ConditionExpression: step.when.expression,
        ExpressionAttributeNames: step.when.names,
        ExpressionAttributeValues: step.when.values,
      };
