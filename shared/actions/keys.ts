import type { keysActions } from "../contract/actions/keys.ts";
import type { ActionRuns } from "./action-runs.ts";

export const keysRuns: ActionRuns<typeof keysActions> = {};
