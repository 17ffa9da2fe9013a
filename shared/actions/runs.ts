import type { actions } from "../contract/actions/actions.ts";
import { accountsRuns } from "./accounts.ts";
import type { ActionRuns } from "./action-runs.ts";
import { auditRuns } from "./audit.ts";
import { catalogRuns } from "./catalog.ts";
import { consentsRuns } from "./consents.ts";
import { deadLettersRuns } from "./dead-letters.ts";
import { deliveriesRuns } from "./deliveries.ts";
import { doctorRuns } from "./doctor.ts";
import { keysRuns } from "./keys.ts";
import { personRuns } from "./person.ts";
import { purchasesRuns } from "./purchases.ts";
import { statisticsRuns } from "./statistics.ts";
import { transactionsRuns } from "./transactions.ts";
import { upstreamRuns } from "./upstream.ts";
import { upstreamEventsRuns } from "./upstream-events.ts";
import { walletRuns } from "./wallet.ts";
import { webhookRuns } from "./webhook.ts";
import { whitelistRuns } from "./whitelist.ts";

/** The code of every action. */
export const runs: ActionRuns<typeof actions> = {
  ...personRuns,
  ...accountsRuns,
  ...auditRuns,
  ...keysRuns,
  ...whitelistRuns,
  ...walletRuns,
  ...transactionsRuns,
  ...consentsRuns,
  ...webhookRuns,
  ...deliveriesRuns,
  ...upstreamEventsRuns,
  ...deadLettersRuns,
  ...catalogRuns,
  ...purchasesRuns,
  ...upstreamRuns,
  ...doctorRuns,
  ...statisticsRuns,
};
