import type { deliveriesActions } from "../contract/actions/deliveries.ts";
import type { ActionRuns } from "./action-runs.ts";

export const deliveriesRuns: ActionRuns<typeof deliveriesActions> = {};
