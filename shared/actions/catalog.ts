import type { catalogActions } from "../contract/actions/catalog.ts";
import type { ActionRuns } from "./action-runs.ts";

export const catalogRuns: ActionRuns<typeof catalogActions> = {};
