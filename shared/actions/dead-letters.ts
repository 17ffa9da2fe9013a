import type { deadLettersActions } from "../contract/actions/dead-letters.ts";
import type { ActionRuns } from "./action-runs.ts";

export const deadLettersRuns: ActionRuns<typeof deadLettersActions> = {};
