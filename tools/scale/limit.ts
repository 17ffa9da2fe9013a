import type { StageSettings } from "../../infra/stage-settings.ts";
import type { ErrorCode } from "../../shared/contract/errors.ts";
import type { LogEvents } from "../../shared/platform/log-events.ts";

/** Where a number was read: a page of AWS, or a path from docs/. */
export type Source = { readonly title: string; readonly url: string };

/** A setting of a stage (infra/stage-settings.ts), as a path. */
export type Setting =
  | "requestsPerSecondMax"
  | "maxConcurrency.outcomes"
  | "maxConcurrency.delivery"
  | "reservedConcurrency"
  | "egress.zones"
  | "logBytesPerHourMax";

/** What to change when a limit is reached. Without a setting the document says that there is none. */
export type Remedy = {
  /**
   * `agreement`: with the upstream or a caller. `stage`: a setting, a quota of AWS or a command. `accounts`: a caller
   * needs more than one account. `code`: the service itself.
   */
  readonly by: "agreement" | "stage" | "accounts" | "code";
  readonly setting?: Setting;
  readonly text: string;
  /** By default nothing. */
  readonly cost?: string;
};

/** What is seen when a limit is reached. */
export type Symptom = {
  readonly text: string;
  /** What the caller gets. */
  readonly errors?: readonly ErrorCode[];
  readonly logEvents?: readonly (keyof LogEvents)[];
  /** Alarms of the stage, by their id in the template. */
  readonly alarms?: readonly string[];
};

/** A limit of AWS, of the upstream or of the service, and what uses it. */
export type Limit = {
  readonly name: string;
  /** The only case in which it is reached; it is then no limit of a steady load. */
  readonly onlyIf?: string;
  /** What suffers when it is reached. An alarm's threshold limits nothing. */
  readonly affects: "purchases" | "webhooks" | "upstream events" | "reconciliation" | "logs" | "alarm only";
  /** What capacity and use are counted in. */
  readonly unit: string;
  /** There is one for each account; by default one for the whole stage. */
  readonly per?: "account";
  readonly capacity: (settings: StageSettings) => number;
  /** What one purchase uses. */
  readonly perPurchase: number;
  /** What each account uses, also one that buys nothing. */
  readonly perAccount?: number;
  readonly source: Source;
  /** What no test counts and no page of AWS states. */
  readonly assumed?: string;
  readonly symptom: Symptom;
  readonly remedy: Remedy;
};

/** The limit's name, with the case in which it is reached. */
export const limitTitle = ({ name, onlyIf }: Limit): string => (onlyIf === undefined ? name : `${name}, ${onlyIf}`);

/** Purchases a second, spread evenly over the accounts. */
export type Load = { readonly purchasesPerS: number; readonly accounts: number };

/** The share of its capacity that a limit's most loaded instance uses; from 1 on it is reached. */
export const shareOf = (limit: Limit, load: Load, settings: StageSettings): number =>
  (usedByAccounts(limit, load.accounts) + limit.perPurchase * purchasesAt(limit, load)) / limit.capacity(settings);

/** The purchases a second at which a limit is reached; 0 if the accounts alone use it up. */
export const reachedAt = (limit: Limit, accounts: number, settings: StageSettings): number => {
  const left = Math.max(0, limit.capacity(settings) - usedByAccounts(limit, accounts));
  return (left / limit.perPurchase) * (limit.per === "account" ? accounts : 1);
};

const purchasesAt = ({ per }: Limit, { purchasesPerS, accounts }: Load): number =>
  per === "account" ? purchasesPerS / accounts : purchasesPerS;

const usedByAccounts = ({ perAccount = 0 }: Limit, accounts: number): number => perAccount * accounts;

export type UsedLimit = { readonly limit: Limit; readonly share: number };

/** The limit that a steady load reaches first: the highest share. Of equal ones it is the first in the list. */
export const firstOf = (limits: readonly Limit[], load: Load, settings: StageSettings): UsedLimit => {
  const used = limits
    .filter(({ affects, onlyIf }) => affects !== "alarm only" && onlyIf === undefined)
    .map((limit) => ({ limit, share: shareOf(limit, load, settings) }));
  return used.reduce((first, next) => (next.share > first.share ? next : first));
};
