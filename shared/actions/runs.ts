import type { actions, consoleActions } from "../contract/actions/actions.ts";
import { accountsRuns } from "./accounts.ts";
import type { ActionRuns } from "./action-runs.ts";
import { attentionRuns } from "./attention.ts";
import { auditRuns } from "./audit.ts";
import { catalogRuns } from "./catalog.ts";
import { consentsRuns } from "./consents.ts";
import { deadLettersRuns } from "./dead-letters.ts";
import { deliveriesRuns } from "./deliveries.ts";
import { doctorRuns } from "./doctor.ts";
import { floatRuns } from "./float.ts";
import { keysRuns } from "./keys.ts";
import { marginRuns } from "./margin.ts";
import { periodsRuns } from "./periods.ts";
import { personRuns } from "./person.ts";
import { pricesRuns } from "./prices.ts";
import { purchasesRuns } from "./purchases.ts";
import { reconciliationRuns } from "./reconciliation.ts";
import { searchRuns } from "./search.ts";
import { statisticsRuns } from "./statistics.ts";
import { transactionsRuns } from "./transactions.ts";
import { upstreamRuns } from "./upstream.ts";
import { upstreamEventsRuns } from "./upstream-events.ts";
import { walletRuns } from "./wallet.ts";
import { webhookRuns } from "./webhook.ts";
import { whitelistRuns } from "./whitelist.ts";

/** The code of console-api's actions. */
export const consoleRuns: ActionRuns<typeof consoleActions> = {
  ...personRuns,
  ...searchRuns,
  ...attentionRuns,
  ...accountsRuns,
  ...auditRuns,
  ...keysRuns,
  ...whitelistRuns,
  ...walletRuns,
  ...periodsRuns,
  ...transactionsRuns,
  ...consentsRuns,
  ...webhookRuns,
  ...deliveriesRuns,
  ...upstreamEventsRuns,
  ...deadLettersRuns,
  ...catalogRuns,
  ...purchasesRuns,
  ...pricesRuns,
  ...marginRuns,
  ...floatRuns,
  ...upstreamRuns,
  ...doctorRuns,
  ...statisticsRuns,
};

/** The code of every action. */
export const runs: ActionRuns<typeof actions> = { ...consoleRuns, ...reconciliationRuns };
