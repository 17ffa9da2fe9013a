import type { statisticsActions } from "../contract/actions/statistics.ts";
import type { ActionRuns } from "./action-runs.ts";

export const statisticsRuns: ActionRuns<typeof statisticsActions> = {};
