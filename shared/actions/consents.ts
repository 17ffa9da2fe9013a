import type { consentsActions } from "../contract/actions/consents.ts";
import type { ActionRuns } from "./action-runs.ts";

export const consentsRuns: ActionRuns<typeof consentsActions> = {};
