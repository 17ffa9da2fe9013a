import type { whitelistActions } from "../contract/actions/whitelist.ts";
import type { ActionRuns } from "./action-runs.ts";

export const whitelistRuns: ActionRuns<typeof whitelistActions> = {};
