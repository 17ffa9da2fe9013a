import { requireAccount } from "../access/account-store.ts";
import type { purchasesActions } from "../contract/actions/purchases.ts";
import { SERVICE } from "../ledger/audit.ts";
import {
  type OnOrOff,
  type PurchasesState,
  readPurchasesSwitch,
  writePurchasesSwitch,
} from "../orders/purchases-switch.ts";
import { isoTime } from "../platform/time.ts";
import { type ActionContext, recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

export const purchasesView = ({ purchases, since, by, caller_arn, why }: PurchasesState) => ({
  purchases,
  since: since ?? null,
  by: by ?? null,
  caller_arn: caller_arn ?? null,
  why: why ?? null,
});

/** `purchases off since 2026-11-22T10:00:00.000Z by ada (ticket 97)`. */
export const purchasesText = ({
  purchases,
  since,
  by,
  why,
}: Pick<ReturnType<typeof purchasesView>, "purchases" | "since" | "by" | "why">): string =>
  [
    `purchases ${purchases}`,
    ...(since === null ? [] : [`since ${since} by ${by}`]),
    ...(why === null ? [] : [`(${why})`]),
  ].join(" ");

export const purchasesRuns: ActionRuns<typeof purchasesActions> = {
  "purchases show": async ({ purchases }) => purchasesView(await readPurchasesSwitch(purchases)),
  "purchases state": async ({ accounts, purchases: store }, { account }) => {
    await requireAccount(accounts, account);
    const { purchases, since, why } = purchasesView(await readPurchasesSwitch(store));
    return { purchases, since, why };
  },
  "purchases off": (context, { why }) => switchPurchases(context, "off", why),
  "purchases on": (context, { why }) => switchPurchases(context, "on", why),
};

const switchPurchases = async (context: ActionContext, purchases: OnOrOff, why: string | undefined) => {
  const before = await readPurchasesSwitch(context.purchases);
  // A switch that was never used is set even so: what holds without it changes when the stage adopts a ledger.
  if (before.purchases === purchases && before.since !== undefined) return { ...purchasesView(before), changed: false };
  const audit = () => recordAudited(context, SERVICE, { action: `purchases ${purchases}`, why });
  const { by, caller_arn } = context.actor();
  const next = { purchases, since: isoTime(context.ledger.clock()), by, caller_arn, why };
  const view = { ...purchasesView(next), changed: true };
  if (purchases === "on") {
    await audit();
    await writePurchasesSwitch(context.purchases, next);
    return view;
  }
  // Off comes first: the audit table, which takes the entry, may be what is damaged.
  await writePurchasesSwitch(context.purchases, next);
  try {
    await audit();
    return view;
  } catch (error) {
    return { ...view, audit_error: error instanceof Error ? error.name : String(error) };
  }
};
