import type { secretsActions } from "../contract/actions/secrets.ts";
import { SERVICE } from "../ledger/audit.ts";
import { recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

export const secretsRuns: ActionRuns<typeof secretsActions> = {
  "secrets set": async (context, { name, why }) => {
    await recordAudited(context, SERVICE, { action: "secrets set", why, details: { name } });
    return {};
  },
  "secrets rotate": async (context, { name, why }) => {
    await recordAudited(context, SERVICE, { action: "secrets rotate", why, details: { name } });
    return {};
  },
};
