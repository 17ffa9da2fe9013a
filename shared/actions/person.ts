import type { personActions } from "../contract/actions/person.ts";
import type { ActionRuns } from "./action-runs.ts";

export const personRuns: ActionRuns<typeof personActions> = {
  me: async ({ request, timeZone }) => {
    if (request === undefined) throw new Error("Only the console has a person who signed in");
    const owned = await request.ownedAccounts();
    return {
      by: request.by,
      role: request.role,
      owns: owned.map(({ account_id, name }) => ({ account_id, name })),
      stage: request.stage,
      time_zone: timeZone,
    };
  },
};
