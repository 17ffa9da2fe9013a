import type { upstreamActions } from "../contract/actions/upstream.ts";
import type { ActionRuns } from "./action-runs.ts";

export const upstreamRuns: ActionRuns<typeof upstreamActions> = {};
