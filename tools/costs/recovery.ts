import { secretNames, secretTable } from "../../shared/platform/secret-table.ts";
import { dollarsOf, type Usage } from "./prices.ts";

const MONTH_HOURS = 730;
const WEEK_HOURS = 7 * 24;

export type RecoveryCost = { readonly everyHours: number; readonly usage: Usage; readonly dollars: number };

/**
 * The usage of `recovery` per month for each GB in the tables, if backups are kept for a week: every backup is full.
 */
export const recoveryCosts = (): readonly RecoveryCost[] =>
  [1, 6, 24].map((everyHours) => {
    const kept = WEEK_HOURS / everyHours;
    // In both regions.
    const usage = { backupGbMonths: 2 * kept, copiedGb: MONTH_HOURS / everyHours };
    return { everyHours, usage, dollars: dollarsOf(usage) };
  });

/** An elastic IP that is allocated there in advance, per month: an idle one costs as much as one in use. */
export const standbyAddressUsage = (): Usage => ({ addressHours: MONTH_HOURS });

/** The replicas of the keys that are never rotated, per month, whatever the tables hold. */
export const replicaUsage = (): Usage => ({
  secrets: secretNames.filter((name) => secretTable[name].kind === "fixed").length,
});
