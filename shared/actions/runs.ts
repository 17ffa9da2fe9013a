import type { actions, consoleActions } from "../contract/actions/actions.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { accessRuns } from "./access.ts";
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
import { notificationsRuns } from "./notifications.ts";
import { periodsRuns } from "./periods.ts";
import { personRuns } from "./person.ts";
import { pricesRuns } from "./prices.ts";
import { proposalsRuns } from "./proposals.ts";
import { purchasesRuns } from "./purchases.ts";
import { reconciliationRuns } from "./reconciliation.ts";
import { refundClockRuns } from "./refund-clock.ts";
import { searchRuns } from "./search.ts";
import { secretsRuns } from "./secrets.ts";
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
  ...notificationsRuns,
  ...searchRuns,
  ...attentionRuns,
  ...accountsRuns,
  ...accessRuns,
  ...auditRuns,
  ...keysRuns,
  ...whitelistRuns,
  ...walletRuns,
  ...proposalsRuns,
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
  ...refundClockRuns,
  ...floatRuns,
  ...upstreamRuns,
  ...secretsRuns,
  ...doctorRuns,
  ...statisticsRuns,
};

/** Nobody but its function may use the identity key (shared/actions/subjects.ts). */
const onlyByService = async (): Promise<never> => {
  throw new OperatorError("Only the service may hash a person's number: leave out --direct");
};

/** The code of every action, for operators who work on the tables themselves. */
export const runs: ActionRuns<typeof actions> = {
  ...consoleRuns,
  ...reconciliationRuns,
  "subjects report": onlyByService,
  "subjects erase": onlyByService,
};
