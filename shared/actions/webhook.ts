import type { webhookActions } from "../contract/actions/webhook.ts";
import type { ActionRuns } from "./action-runs.ts";

export const webhookRuns: ActionRuns<typeof webhookActions> = {};
