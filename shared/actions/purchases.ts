import { requireAccount } from "../access/account-store.ts";
import { catalogOf } from "../catalog/snapshot.ts";
import type { purchasesActions } from "../contract/actions/purchases.ts";
import { actorName, SERVICE } from "../ledger/audit.ts";
import {
  type OnOrOff,
  orderKinds,
  type PurchasesState,
  type PurchasesStore,
  readParts,
  readPurchasesSwitch,
  writePart,
  writePurchasesSwitch,
} from "../orders/purchases-switch.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import { type ActionContext, type AuditFields, recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

const switchView = ({ purchases, since, by, caller_arn, why }: PurchasesState) => ({
  purchases,
  since: since ?? null,
  by: by ?? null,
  caller_arn: caller_arn ?? null,
  why: why ?? null,
});

/** The switch, and what is off beside it. */
export const readPurchases = async (store: PurchasesStore) => {
  const [state, { off }] = await Promise.all([readPurchasesSwitch(store), readParts(store)]);
  const parts = Object.entries(off).map(([part, { since, by, why }]) => ({ part, since, by, why: why ?? null }));
  return { ...switchView(state), parts };
};

type ShownSwitch = Pick<ReturnType<typeof switchView>, "since" | "by" | "why"> & { readonly purchases: string };

/** `purchases off since 2026-11-22T10:00:00.000Z by ada (ticket 97)`; of a part, its name stands first. */
export const switchText = ({ purchases, since, by, why }: ShownSwitch, part = "purchases"): string =>
  [
    `${part} ${purchases}`,
    ...(since === null ? [] : [`since ${since} by ${by}`]),
    ...(why === null ? [] : [`(${why})`]),
  ].join(" ");

export const purchasesText = ({ parts, ...state }: Awaited<ReturnType<typeof readPurchases>>): string =>
  [switchText(state), ...parts.map(({ part, ...each }) => switchText({ ...each, purchases: "off" }, part))].join("; ");

export const purchasesRuns: ActionRuns<typeof purchasesActions> = {
  "purchases show": ({ purchases }) => readPurchases(purchases),
  "purchases state": async ({ accounts, purchases: store }, { account }) => {
    await requireAccount(accounts, account);
    const { purchases, since, why, parts } = await readPurchases(store);
    return { purchases, since, why, parts: parts.map(({ by: _by, ...part }) => part) };
  },
  "purchases off": (context, { part, why }) =>
    part === undefined ? switchPurchases(context, "off", why) : switchPart(context, part, "off", why),
  "purchases on": (context, { part, why }) =>
    part === undefined ? switchPurchases(context, "on", why) : switchPart(context, part, "on", why),
};

/** Owners of all accounts see the reason. */
const switchedBy = (context: ActionContext, why: string | undefined) => {
  const { caller_arn, ...actor } = context.actor();
  const since = isoTime(context.ledger.clock());
  return { since, by: actorName(actor), caller_arn, why };
};

const switchPart = async (context: ActionContext, part: string, purchases: OnOrOff, why: string | undefined) => {
  if (purchases === "off") await assertIsPart(context, part);
  const { off } = await readParts(context.purchases);
  // Every object has a `constructor`, which is no part.
  const stored = Object.hasOwn(off, part) ? off[part] : undefined;
  if ((stored !== undefined) === (purchases === "off")) {
    return { ...switchView({ purchases, ...stored }), part, changed: false };
  }
  const next = switchedBy(context, why);
  const audit = { action: `purchases ${purchases}`, why, details: { part } };
  const audited = await switchAudited(context, purchases, audit, () =>
    writePart(context.purchases, part, next, purchases),
  );
  return { ...switchView({ purchases, ...next }), part, changed: true, ...audited };
};

/** A misspelt network would stay on. */
const assertIsPart = async ({ catalog }: ActionContext, part: string): Promise<void> => {
  const snapshot = await catalog.read();
  const networks = snapshot === undefined ? [] : catalogOf(snapshot).networks.map(({ code }) => code);
  const known: readonly string[] = [...orderKinds, ...networks];
  if (!known.includes(part)) throw new OperatorError(`${part} is none of ${known.join(", ")}`, { field: "part" });
};

const switchPurchases = async (context: ActionContext, purchases: OnOrOff, why: string | undefined) => {
  const before = await readPurchasesSwitch(context.purchases);
  // Also sets a switch that was never used, because its default changes when the stage adopts a ledger.
  if (before.purchases === purchases && before.since !== undefined)
    return { ...switchView(before), part: null, changed: false };
  const next = { purchases, ...switchedBy(context, why) };
  const audited = await switchAudited(context, purchases, { action: `purchases ${purchases}`, why }, () =>
    writePurchasesSwitch(context.purchases, next),
  );
  return { ...switchView(next), part: null, changed: true, ...audited };
};

/** Off comes before its entry: the audit table, which takes the entry, may be what is damaged. */
const switchAudited = async (
  context: ActionContext,
  to: OnOrOff,
  auditFields: AuditFields,
  write: () => Promise<unknown>,
): Promise<{ readonly audit_error?: string }> => {
  const audit = () => recordAudited(context, SERVICE, auditFields);
  if (to === "on") {
    await audit();
    await write();
    return {};
  }
  // A write without an answer may have been made, and a repetition of it that finds purchases off makes no entry.
  await write().catch(async (error: unknown) => {
    await audit().catch(() => {});
    throw error;
  });
  try {
    await audit();
    return {};
  } catch (error) {
    return { audit_error: error instanceof Error ? error.name : String(error) };
  }
};
