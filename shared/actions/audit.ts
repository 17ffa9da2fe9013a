import type { auditActions } from "../contract/actions/audit.ts";
import type { ActionRuns } from "./action-runs.ts";

export const auditRuns: ActionRuns<typeof auditActions> = {};
