import type { UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { Ledger } from "../ledger/ledger.ts";
import { emptyCheckCount, emptyRunStart, type Wallet, walletSchema } from "../ledger/wallet.ts";
import { isConditionFailure } from "../platform/aws/errors.ts";
import { retryContention } from "../platform/backoff.ts";
import { abortAfter, type Deadline, settleBudgetMs } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";

/** A caller that asks for this many missing people in a row is probably guessing numbers: such checks cost nothing. */
const EMPTY_RUN_MIN = 8;
/** The response waits for the count. */
const COUNT_MS_MAX = 2_000;

/**
 * Counts a live check that found nobody, and raises an alarm from the eighth in a row of its account on. Debits count
 * all checks, so one that finds a person costs no further write: a run lasts while the difference of the two counts does
 * not rise. Checks in flight are in that difference. A failure does not fail the request, which is settled already.
 */
export const noteEmptyCheck = async (ledger: Ledger, accountId: string, deadline: Deadline): Promise<void> => {
  const limitMs = Math.min(COUNT_MS_MAX, settleBudgetMs(deadline));
  const abort = { abortSignal: abortAfter(limitMs) };
  /** The wallet after the update, or as it is if the update's condition fails. */
  const update = async (change: Omit<UpdateCommandInput, "TableName">): Promise<Wallet> => {
    const command: UpdateCommandInput = {
      TableName: ledger.table,
      ReturnValues: "ALL_NEW",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      ...change,
    };
    try {
      return walletSchema.parse((await retryContention(() => ledger.db.update(command, abort), limitMs)).Attributes);
    } catch (error) {
      if (isConditionFailure(error) && error.Item) {
        return walletSchema.parse(unmarshall(error.Item));
      }
      throw error;
    }
  };
  try {
    const { checks = 0, empty_checks = 0, empty_run_found, ...counted } = await update(emptyCheckCount(accountId));
    const others = checks - empty_checks;
    const isNewRun = empty_run_found === undefined || others > empty_run_found;
    const wallet = isNewRun
      ? await update(emptyRunStart(accountId, { from: empty_checks - 1, found: others }))
      : { ...counted, empty_checks };
    const inARow = (wallet.empty_checks ?? 0) - (wallet.empty_run_from ?? 0);
    if (inARow >= EMPTY_RUN_MIN) log.alarm("identity.empty_checks", { account: accountId, in_a_row: inARow });
  } catch (error) {
    log.warn("identity.empty_check_not_counted", { account: accountId, ...errorFields(error) });
  }
};
