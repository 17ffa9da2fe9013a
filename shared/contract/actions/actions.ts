import type * as z from "zod";
import { accountsActions } from "./accounts.ts";
import type { ActionTable } from "./action.ts";
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
import { periodsActions } from "./periods.ts";
import { personActions } from "./person.ts";
import { pricesActions } from "./prices.ts";
import { purchasesActions } from "./purchases.ts";
import { reconciliationActions } from "./reconciliation.ts";
import { searchActions } from "./search.ts";
import { statisticsActions } from "./statistics.ts";
import { transactionsActions } from "./transactions.ts";
import { upstreamActions } from "./upstream.ts";
import { upstreamEventsActions } from "./upstream-events.ts";
import { walletActions } from "./wallet.ts";
import { webhookActions } from "./webhook.ts";
import { whitelistActions } from "./whitelist.ts";

/** The actions of console-api, by name. */
export const consoleActions = {
  ...personActions,
  ...searchActions,
  ...attentionActions,
  ...accountsActions,
  ...auditActions,
  ...keysActions,
  ...whitelistActions,
  ...walletActions,
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
  ...floatActions,
  ...upstreamActions,
  ...doctorActions,
  ...statisticsActions,
} as const satisfies ActionTable;

/** Every action, by name. Those of the upstream's statement have a function of their own, which can move no money. */
export const actions = { ...consoleActions, ...reconciliationActions } as const satisfies ActionTable;

type Actions = typeof actions;
export type ActionName = keyof Actions;
export type ActionInput<Name extends ActionName> = z.output<Actions[Name]["input"]>;
export type ActionOutput<Name extends ActionName> = z.output<Actions[Name]["output"]>;

export const actionNames = Object.keys(actions).filter((name): name is ActionName => name in actions);

/** The path of an action for people who signed in: `/console-api/keys/create`. */
export const actionPath = (name: ActionName): `/console-api/${string}` => `/console-api/${name.replaceAll(" ", "/")}`;

/** The path of the same action for operators, who sign with AWS credentials. */
export const operationPath = (name: ActionName): `/operations/${string}` => `/operations/${name.replaceAll(" ", "/")}`;
