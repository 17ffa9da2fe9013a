import { maskedNumber } from "../../../shared/ledger/masked-transaction.ts";
import {
  ERASED_FINGERPRINT,
  isFinalStatus,
  type Transaction,
  transactionSchema,
} from "../../../shared/ledger/transaction.ts";
import type { Item } from "../table-scan.ts";
import { type Compare, compareWith, differing, type Ledgers, type Step, unchanged, unchangedIn } from "./compare.ts";

/** Equal in both ledgers if it is the same order of the same request. */
const ORDER_FIELDS = [
  ...["list_key", "account_id", "mode", "type", "write_token"],
  ...["fingerprint", "caller_reference", "amount_kobo", "created_at"],
];
const OUTCOME_FIELDS = ["status", "upstream_reference", "upstream_amount_kobo", "cost_kobo", "failure"];
const QUEUED_FIELDS = ["queued", "claim", "sent_at"];
const OPEN_FIELDS = ["status", "write_token", "upstream_reference", "claim", "queued"];

/** Forward only: an open transaction takes its settlement from the old ledger; a final one stays as it is. */
const compareOpenedTransaction = (
  { old, restored }: { readonly old: Transaction; readonly restored: Transaction },
  oldItem: Item,
  restoredItem: Item,
): Step => {
  const isErased = [old, restored].some(({ fingerprint }) => fingerprint === ERASED_FINGERPRINT);
  const otherOrder = differing(oldItem, restoredItem, ORDER_FIELDS).filter(
    (field) => !isErased || field !== "fingerprint",
  );
  if (otherOrder.length > 0) return { kind: "differs", fields: otherOrder };
  const fields = differing(oldItem, restoredItem, OUTCOME_FIELDS);
  if (isFinalStatus(restored.status))
    return fields.length > 0 && isFinalStatus(old.status) ? { kind: "differs", fields } : { kind: "present" };
  const named = restored.upstream_reference;
  if (named !== undefined && named !== old.upstream_reference) {
    return { kind: "differs", fields: ["upstream_reference"] };
  }
  const isFurther = !isFinalStatus(old.status) && progressOf(restored) > progressOf(old);
  const isSame = fields.length === 0 && differing(oldItem, restoredItem, QUEUED_FIELDS).length === 0;
  return isFurther || isSame
    ? { kind: "present" }
    : { kind: "update", item: oldItem, when: unchanged(restoredItem, OPEN_FIELDS) };
};

/** Whether the number of the old item is the mask of the restored one's. */
export const isMaskOf = (old: string | undefined, restored: string | undefined): old is string =>
  restored !== undefined && old !== restored && old === maskedNumber(restored);

/**
 * What an erasure or a retention has removed of a person in the old ledger is removed in the restored one too: a restore
 * must not bring it back. What was removed in the restored one stays removed.
 */
const removeAsInOld = (
  { old, restored }: { readonly old: Transaction; readonly restored: Transaction },
  restoredItem: Item,
): Step => {
  const isMasked = isMaskOf(old.phone_number, restored.phone_number);
  const isErased = old.fingerprint === ERASED_FINGERPRINT && restored.fingerprint !== ERASED_FINGERPRINT;
  const isUnfindable = old.phone_key === undefined && restored.phone_key !== undefined;
  if (!isMasked && !isErased && !isUnfindable) return { kind: "present" };
  const { phone_key, ...kept } = restoredItem;
  const item = {
    ...kept,
    ...(phone_key !== undefined && !isUnfindable && { phone_key }),
    ...(isMasked && { phone_number: old.phone_number, description: old.description }),
    ...(isErased && { fingerprint: ERASED_FINGERPRINT }),
  };
  return { kind: "update", item, when: unchangedIn(transactionSchema, restoredItem) };
};

/** Sorts the states of an open order by time: it waits, is claimed, waits again after a refusal, is claimed again. */
const progressOf = ({ sent_at = "", queued }: Transaction): string => `${sent_at}#${queued === undefined ? 0 : 1}`;

/**
 * An order that waits in the old ledger was not sent, and waits in the restored ledger from now on. One that waited
 * elsewhere, before the old ledger was itself restored, may have been sent: it stays what it is.
 */
const adaptQueuedOrder = (item: Item, { queued }: Transaction, { from, to }: Ledgers): Item =>
  queued?.table === from ? { ...item, queued: { ...queued, table: to } } : item;

/**
 * The counters of limits stay as the restored ledger has them, so they did not count an order that it lacks, and its
 * refund must give nothing back.
 */
const uncounted = ({ counted: _counted, ...item }: Item): Item => item;

const compareStoredTransaction = compareWith(
  transactionSchema,
  (transactions, oldItem, restoredItem) => {
    const step = compareOpenedTransaction(transactions, oldItem, restoredItem);
    return step.kind === "present" ? removeAsInOld(transactions, restoredItem) : step;
  },
  adaptQueuedOrder,
);
export const compareTransaction: Compare = (old, restored, ledgers) => {
  const step = compareStoredTransaction(old, restored, ledgers);
  return step.kind === "copy" ? { ...step, item: uncounted(step.item) } : step;
};
