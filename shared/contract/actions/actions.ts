import type * as z from "zod";
import { accountsActions } from "./accounts.ts";
import type { ActionTable } from "./action.ts";
import { auditActions } from "./audit.ts";
import { catalogActions } from "./catalog.ts";
import { consentsActions } from "./consents.ts";
import { deadLettersActions } from "./dead-letters.ts";
import { deliveriesActions } from "./deliveries.ts";
import { doctorActions } from "./doctor.ts";
import { keysActions } from "./keys.ts";
import { personActions } from "./person.ts";
import { purchasesActions } from "./purchases.ts";
import { statisticsActions } from "./statistics.ts";
import { transactionsActions } from "./transactions.ts";
import { upstreamActions } from "./upstream.ts";
import { upstreamEventsActions } from "./upstream-events.ts";
import { walletActions } from "./wallet.ts";
import { webhookActions } from "./webhook.ts";
import { whitelistActions } from "./whitelist.ts";

/** Every action, by name. */
export const actions = {
  ...personActions,
  ...accountsActions,
  ...auditActions,
  ...keysActions,
  ...whitelistActions,
  ...walletActions,
  ...transactionsActions,
  ...consentsActions,
  ...webhookActions,
  ...deliveriesActions,
  ...upstreamEventsActions,
  ...deadLettersActions,
  ...catalogActions,
  ...purchasesActions,
  ...upstreamActions,
  ...doctorActions,
  ...statisticsActions,
} as const satisfies ActionTable;

type Actions = typeof actions;
export type ActionName = keyof Actions;
export type ActionInput<Name extends ActionName> = z.output<Actions[Name]["input"]>;
export type ActionOutput<Name extends ActionName> = z.output<Actions[Name]["output"]>;

export const actionNames = Object.keys(actions).filter((name): name is ActionName => name in actions);

/** The path of an action for people who signed in: `/console-api/keys/create`. */
export const actionPath = (name: ActionName): `/console-api/${string}` => `/console-api/${name.replaceAll(" ", "/")}`;

/** The path of the same action for operators, who sign with AWS credentials. */
export const operationPath = (name: ActionName): `/operations/${string}` => `/operations/${name.replaceAll(" ", "/")}`;
