import type { upstreamEventsActions } from "../contract/actions/upstream-events.ts";
import type { ActionRuns } from "./action-runs.ts";

export const upstreamEventsRuns: ActionRuns<typeof upstreamEventsActions> = {};
