import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { keyBatches } from "../../../shared/ledger/get-item.ts";
import { isRefundPk, transactionPkOfRefund } from "../../../shared/ledger/schema.ts";
import { classifyWriteError, operatorRetries } from "../../../shared/ledger/transact.ts";
import { allEnded } from "../../../shared/platform/all-ended.ts";
import { batchesOf } from "../../../shared/platform/batches.ts";
import { isTransient } from "../../../shared/platform/transient-error.ts";
import { type Item, readItemMap, scanTable } from "../table-scan.ts";
import { type BalanceChange, balanceChangeOf } from "./balance-change.ts";
import type { Step } from "./compare.ts";
import { type ItemKind, kindOf } from "./kinds.ts";

export type Tables = { readonly db: DynamoDBDocument; readonly from: string; readonly to: string };

/** How many items of one kind had which result. */
export type Counts = Record<"copied" | "updated" | "present" | "differ" | "unreadable" | "skipped" | "unknown", number>;

export const zeroCounts: Counts = {
  copied: 0,
  updated: 0,
  present: 0,
  differ: 0,
  unreadable: 0,
  skipped: 0,
  unknown: 0,
};

/** An item that needs an operator's decision. */
type Discrepancy = { readonly item: string; readonly what: string };

export type CarriedItems = {
  readonly counts: ReadonlyMap<string, Counts>;
  readonly discrepancies: readonly Discrepancy[];
  readonly notes: readonly string[];
  /** The accounts of the old ledger. */
  readonly accountIds: ReadonlySet<string>;
  /** By account: how much the carried items change the balance, in kobo. */
  readonly balanceChanges: ReadonlyMap<string, number>;
};

const WRITES_AT_ONCE = 25;

/**
 * Copies the items that the restored ledger lacks, and updates those that the old ledger has at a later stage. Every
 * write requires that the item has not changed since it was compared, so retries and concurrent runs are safe.
 */
export const carryItems = async (
  tables: Tables,
  { isDryRun, logProgress }: { readonly isDryRun: boolean; readonly logProgress: (message: string) => void },
): Promise<CarriedItems> => {
  const counts = new Map<string, Counts>();
  const discrepancies: Discrepancy[] = [];
  const notes = new Set<string>();
  const accountIds = new Set<string>();
  const balanceChanges = new Map<string, number>();

  const count = (name: string, result: keyof Counts): void => {
    const known = counts.get(name) ?? zeroCounts;
    counts.set(name, { ...known, [result]: known[result] + 1 });
  };
  const addBalanceChange = (change: BalanceChange | undefined, sign: 1 | -1): void => {
    if (change === undefined) return;
    const { accountId, kobo } = change;
    balanceChanges.set(accountId, (balanceChanges.get(accountId) ?? 0) + sign * kobo);
  };

  const tally = (item: Item, { name }: ItemKind, restored: Item | undefined, step: Step): void => {
    if ("note" in step && step.note !== undefined) notes.add(step.note);
    switch (step.kind) {
      case "copy":
        count(name, "copied");
        addBalanceChange(balanceChangeOf(step.item), 1);
        break;
      case "update":
        count(name, "updated");
        if (restored !== undefined) addBalanceChange(balanceChangeOf(restored), -1);
        addBalanceChange(balanceChangeOf(step.item), 1);
        break;
      case "present":
      case "skipped":
        count(name, step.kind);
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

  const carryPage = async (items: readonly Item[]): Promise<void> => {
    const restoredItems = await readItemMap(
      tables.db,
      tables.to,
      items.map(({ pk }) => pk),
    );
    for (const batch of batchesOf(items, WRITES_AT_ONCE)) {
      await allEnded(batch.map((item) => carryOne(item, restoredItems.get(item.pk))));
    }
  };

  const carryOne = async (item: Item, restored: Item | undefined): Promise<void> => {
    const kind = kindOf(item.pk);
    if (kind === undefined) {
      count("other", "unknown");
      discrepancies.push({ item: item.pk, what: "is of an unknown kind" });
      return;
    }
    if (kind.compare === undefined) return count(kind.name, "skipped");
    const [, account] = /^(?:account|wallet)#(.+)$/.exec(item.pk) ?? [];
    if (account !== undefined) accountIds.add(account);
    const step = isDryRun
      ? kind.compare(item, restored, tables)
      : await writeStep(tables, kind.compare, item, restored);
    tally(item, kind, restored, step);
  };

  const refunds: Item[] = [];
  const onPage = async (items: readonly Item[]): Promise<void> => {
    const { refund = [], other = [] } = Object.groupBy(items, ({ pk }) => (isRefundPk(pk) ? "refund" : "other"));
    refunds.push(...refund);
    await carryPage(other);
  };
  await scanTable(tables.db, tables.from, { onPage, logProgress });
  // After their transactions: one that the restored ledger has settled otherwise keeps no refund.
  for (const batch of keyBatches(refunds)) {
    const keys = batch.map(transactionPkOfRefund);
    const transactions = await readItemMap(tables.db, tables.to, keys);
    await carryPage(
      batch.filter((refund) => {
        const status = transactions.get(transactionPkOfRefund(refund))?.status;
        // A dry run has updated none of them.
        return status === "failed" || (isDryRun && status !== "success");
      }),
    );
  }
  return { counts, discrepancies, notes: [...notes], accountIds, balanceChanges };
};

/** Writes the item as compared. If it has changed since it was read, compares and writes again. */
const writeStep = async (
  { db, from, to }: Tables,
  compare: NonNullable<ItemKind["compare"]>,
  item: Item,
  found: Item | undefined,
): Promise<Step> => {
  let restored = found;
  let attempted: Step | undefined;
  const nextAttempt = operatorRetries();
  for (;;) {
    const step = compare(item, restored, { from, to });
    // After an attempt whose response was lost, `present` means that this run wrote the item.
    if (step.kind !== "copy" && step.kind !== "update") return step.kind === "present" && attempted ? attempted : step;
    attempted = step;
    try {
      await db.put({ TableName: to, ...putOf(step) });
      return step;
    } catch (error) {
      const canRetry = classifyWriteError(error).kind === "condition_failed" || isTransient(error);
      if (!canRetry || !(await nextAttempt())) throw error;
      restored = (await readItemMap(db, to, [item.pk])).get(item.pk);
    }
  }
};

const putOf = (step: Extract<Step, { kind: "copy" | "update" }>) =>
  step.kind === "copy"
    ? { Item: step.item, ConditionExpression: "attribute_not_exists(pk)" }
    : {
        Item: step.item,
        ConditionExpression: step.when.expression,
        ExpressionAttributeNames: step.when.names,
        ExpressionAttributeValues: step.when.values,
      };
