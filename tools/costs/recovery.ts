import { secretNames, secretTable } from "../../shared/platform/secret-table.ts";
import { dollarsOf, MONTH_HOURS, type Usage } from "./prices.ts";

const WEEK_HOURS = 7 * 24;

/**
 * The usage of `recovery` per month for each GB in the tables, if backups are kept for a week: every backup is full.
 */
export const recoveryCosts = () =>
  [1, 6, 24].map((everyHours) => {
    const kept = WEEK_HOURS / everyHours;
    const copiedGb = MONTH_HOURS / everyHours;
    // In both regions.
    const usage = { backupGbMonths: 2 * kept, copiedGb };
    return {
      everyHours,
      usage,
      dollars: dollarsOf(usage),
      // What a copy in another account adds, in the stage's region or in another one; that account pays for what is kept.
      otherAccount: {
        sameRegion: dollarsOf({ backupGbMonths: kept }),
        otherRegion: dollarsOf({ backupGbMonths: kept, copiedGb }),
      },
    };
  });

/** An elastic IP that is allocated there in advance, per month: an idle one costs as much as one in use. */
export const standbyAddressUsage = (): Usage => ({ addressHours: MONTH_HOURS });

/** The replicas of the keys that are never rotated, per month, whatever the tables hold. */
export const replicaUsage = (): Usage => ({
  secrets: secretNames.filter((name) => secretTable[name].kind === "fixed").length,
});
