import type { transactionsActions } from "../contract/actions/transactions.ts";
import type { ActionRuns } from "./action-runs.ts";

export const transactionsRuns: ActionRuns<typeof transactionsActions> = {};
