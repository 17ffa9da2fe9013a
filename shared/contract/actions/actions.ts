import type * as z from "#zod";
import type { Role } from "../roles.ts";
import { accessActions } from "./access.ts";
import { accountsActions } from "./accounts.ts";
import type { Action, ActionTable } from "./action.ts";
import { attentionActions } from "./attention.ts";
import { auditActions } from "./audit.ts";
import { catalogActions } from "./catalog.ts";
import { consentsActions } from "./consents.ts";
import { deadLettersActions } from "./dead-letters.ts";
import { deliveriesActions } from "./deliveries.ts";
import { doctorActions } from "./doctor.ts";
import { floatActions } from "./float.ts";
import { keysActions } from "./keys.ts";
import { marginActions } from "./margin.ts";
import { notificationsActions } from "./notifications.ts";
import { periodsActions } from "./periods.ts";
import { personActions } from "./person.ts";
import { pricesActions } from "./prices.ts";
import { proposalsActions } from "./proposals.ts";
import { purchasesActions } from "./purchases.ts";
import { reconciliationActions } from "./reconciliation.ts";
import { refundClockActions } from "./refund-clock.ts";
import { searchActions } from "./search.ts";
import { secretsActions } from "./secrets.ts";
import { statisticsActions } from "./statistics.ts";
import { subjectsActions } from "./subjects.ts";
import { transactionsActions } from "./transactions.ts";
import { upstreamActions } from "./upstream.ts";
import { upstreamEventsActions } from "./upstream-events.ts";
import { walletActions } from "./wallet.ts";
import { webhookActions } from "./webhook.ts";
import { whitelistActions } from "./whitelist.ts";

/** The actions of console-api, by name. */
export const consoleActions = {
  ...personActions,
  ...notificationsActions,
  ...searchActions,
  ...attentionActions,
  ...accountsActions,
  ...accessActions,
  ...auditActions,
  ...keysActions,
  ...whitelistActions,
  ...walletActions,
  ...proposalsActions,
  ...periodsActions,
  ...transactionsActions,
  ...consentsActions,
  ...webhookActions,
  ...deliveriesActions,
  ...upstreamEventsActions,
  ...deadLettersActions,
  ...catalogActions,
  ...purchasesActions,
  ...pricesActions,
  ...marginActions,
  ...refundClockActions,
  ...floatActions,
  ...upstreamActions,
  ...secretsActions,
  ...doctorActions,
  ...statisticsActions,
} as const satisfies ActionTable;

/**
 * Every action, by name. Those of the upstream's statement and those about a person have functions of their own: one can
 * move no money, and the other may use the identity key.
 */
export const actions = {
  ...consoleActions,
  ...reconciliationActions,
  ...subjectsActions,
} as const satisfies ActionTable;

type Actions = typeof actions;
export type ActionName = keyof Actions;
export type ActionInput<Name extends ActionName> = z.output<Actions[Name]["input"]>;
export type ActionOutput<Name extends ActionName> = z.output<Actions[Name]["output"]>;

export const actionNames = Object.keys(actions).filter((name): name is ActionName => name in actions);

/** The path of an action for people who signed in: `/console-api/keys/create`. */
export const actionPath = (name: ActionName): `/console-api/${string}` => `/console-api/${name.replaceAll(" ", "/")}`;

/** The path of the same action for people who sign with AWS credentials, in the role that they act in. */
export const operationPath = (role: Role, name: ActionName): `/operations/${string}` =>
  `/operations/${role}/${name.replaceAll(" ", "/")}`;

/** Whether a person may do the action: in a role, or as an owner of this account. The service decides itself. */
export const mayDo = (
  { roles, owns }: { readonly roles: readonly Role[]; readonly owns: readonly { readonly account_id: string }[] },
  name: ActionName,
  account?: string,
): boolean => {
  const action: Action = actions[name];
  return (
    roles.some((role) => action.roles.includes(role)) ||
    action.scope === "person" ||
    (action.scope === "member" && owns.length > 0) ||
    (action.scope === "account" && owns.some(({ account_id }) => account_id === account))
  );
};
