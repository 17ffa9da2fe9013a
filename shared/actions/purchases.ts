import type { purchasesActions } from "../contract/actions/purchases.ts";
import type { ActionRuns } from "./action-runs.ts";

export const purchasesRuns: ActionRuns<typeof purchasesActions> = {};
