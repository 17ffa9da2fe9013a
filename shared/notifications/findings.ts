import * as z from "#zod";
import { accountSchema } from "../access/account-store.ts";
import { ownerItemSchema, pkOfOwner } from "../access/owner-item.ts";
import { lazyObject } from "../contract/lazy-object.ts";
import { isOfAllAccounts, type NotificationKind } from "../contract/notification-kinds.ts";
import type { Role } from "../contract/roles.ts";
import { DAY_MS } from "../contract/values/durations.ts";
import { maskedDigits } from "../contract/values/mask-phones.ts";
import { koboMoneyText } from "../contract/values/money.ts";
import { datesOf, timeIn } from "../contract/values/time-zone.ts";
import {
  BATCHES_AT_ONCE,
  getItemBatches,
  getItemFields,
  getItems,
  keyBatches,
  type OnUnreadable,
} from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { listServicePeriods, readAccountPeriods, type ServicePeriod } from "../ledger/period.ts";
import { ALL_TIMES, accountIdsOf, openKeys } from "../ledger/query-index.ts";
import { accountPk, walletPk } from "../ledger/schema.ts";
import { isStuck, referenceOf, STUCK_MS, transactionSchema } from "../ledger/transaction.ts";
import { lowBalanceOf, walletSchema } from "../ledger/wallet.ts";
import { type Deadline, deadlineIn } from "../platform/deadline.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { fromMovingStart } from "../platform/moving-start.ts";
import { isoTime } from "../platform/time.ts";
import { READ_STUCK_MS_MAX } from "../platform/time-budgets.ts";
import { readEndpointFaults } from "../webhooks/endpoint-health.ts";

/** Something that people are notified of. */
export type Finding = {
  readonly kind: NotificationKind;
  /** Names it: a recipient is notified once of each key, until it has ended. */
  readonly key: string;
  /** What happened, in sentences that contain no number of a person. */
  readonly text: string;
  /** Of the page that shows it, below the console's URL. */
  readonly path: string;
};

/** What one person wants to be notified of, and as what. */
export type Wanted = {
  readonly kinds: readonly NotificationKind[];
  readonly roles: readonly Role[];
  /** The keys of owners' items by which the person owned accounts at the last sign-in. */
  readonly ownerKeys: readonly string[];
};

export type Findings = {
  /** The findings that concern one person. */
  readonly of: (wanted: Wanted) => readonly Finding[];
  /** Whether there was time to look for what this key names: otherwise that it was not found does not say that it has ended. */
  readonly hasLookedFor: (key: string) => boolean;
  /** Accounts for which there was no time. */
  readonly unchecked: number;
};

/** Of an account neither its keys nor its limits, of an order neither its phone number nor what is made from it. */
const accountShape = lazyObject(
  () => z.pick(accountSchema, { pk: true, account_id: true, name: true, owners: true, endpoints: true }).shape,
);
const walletShape = lazyObject(
  () =>
    z.pick(walletSchema, { pk: true, account_id: true, balance_kobo: true, low_balance_threshold_kobo: true }).shape,
);
/** The function may read no other attributes of an order (`readsInPart` in its spec). */
export const orderShape = lazyObject(
  () =>
    z.pick(transactionSchema, {
      ...{ pk: true, account_id: true, type: true, mode: true, status: true },
      ...{ amount_kobo: true, network: true, created_at: true, sent_at: true },
    }).shape,
);
type Account = z.infer<typeof accountShape>;
type Order = z.infer<typeof orderShape>;

/** For how long after a month was closed its statements are new. */
const NEW_STATEMENT_MS = 3 * DAY_MS;

type FindingDeps = {
  readonly ledger: Ledger;
  readonly timeZone: string;
  /** What cannot be read is left out, so that it keeps nothing else from being found. */
  readonly onUnreadable: OnUnreadable;
};
type ByAccount = ReadonlyMap<string, readonly Finding[]>;
/** The findings of an account are for its owners; those of all accounts for people with a role. */
type Looking = {
  /** Absent: those of each account. */
  readonly ofAll?: readonly Finding[];
  readonly ofAccounts: (accounts: readonly Account[]) => Promise<ByAccount>;
  /** Whether there was time to read what it looks for in. */
  readonly isWhole?: boolean;
};
/** Reads what is not of a single account. */
type Look = (deps: FindingDeps) => Promise<Looking>;

/** Accounts in the order of the list, and what was found of them; undefined if there was no time. */
type Batch = { readonly ids: readonly string[]; checked?: CheckedBatch };
type CheckedBatch = {
  readonly found: ReadonlyMap<NotificationKind, ByAccount>;
  readonly owned: readonly (readonly [ownerKey: string, accountId: string])[];
};

/**
 * Looks for what is wrong with the accounts of these people, of the kinds that they want. It reads batch by batch, and keeps
 * the findings alone: all accounts would take the function's memory. If there is no time for all of them, the next run
 * begins with others.
 */
export const findFindings = async (
  deps: FindingDeps,
  wanted: readonly Wanted[],
  deadline: Deadline,
): Promise<Findings> => {
  const lookings = new Map<NotificationKind, Looking>();
  for (const kind of new Set(wanted.flatMap(({ kinds }) => kinds))) lookings.set(kind, await looks[kind](deps));
  const ids = await accountIds(deps, wanted);
  const batches = [...keyBatches(ids.map((id) => ({ pk: id })))].map(
    (keys): Batch => ({ ids: keys.map(({ pk }) => pk) }),
  );
  const ownerKeys = new Set(wanted.flatMap((each) => each.ownerKeys));
  const checked = mapInOrder(fromMovingStart(batches, deps.ledger.clock()), BATCHES_AT_ONCE, async (batch) => {
    batch.checked = await checkBatch(deps, batch.ids, lookings, ownerKeys);
  });
  for await (const _ of checked) if (deadline.remainingMs() <= 0) break;

  const ofAll = new Map<NotificationKind, readonly Finding[]>();
  const byAccount = new Map<NotificationKind, ByAccount>();
  for (const [kind, looking] of lookings) {
    const found = batches.flatMap((batch) => [...(batch.checked?.found.get(kind) ?? [])]);
    byAccount.set(kind, new Map(found));
    ofAll.set(kind, looking.ofAll ?? found.flatMap(([, findings]) => findings));
  }
  const ownedBy = Map.groupBy(
    batches.flatMap(({ checked: { owned } = { owned: [] } }) => owned),
    ([ownerKey]) => ownerKey,
  );
  const unchecked = new Set(batches.filter((batch) => batch.checked === undefined).flatMap((batch) => batch.ids));
  return {
    of: ({ kinds, roles, ownerKeys: own }) => {
      const owned = new Set(own.flatMap((key) => (ownedBy.get(key) ?? []).map(([, accountId]) => accountId)));
      return kinds.flatMap((kind) => {
        if (isOfAllAccounts(kind, roles)) return ofAll.get(kind) ?? [];
        return [...owned].flatMap((accountId) => byAccount.get(kind)?.get(accountId) ?? []);
      });
    },
    // Each key is its kind, and the id of its account if it is of one.
    hasLookedFor: (key) => {
      const parts = key.split("#");
      const isPartial = [...lookings].some(([kind, { isWhole = true }]) => kind === parts[0] && !isWhole);
      return !isPartial && !parts.some((part) => unchecked.has(part));
    },
    unchecked: unchecked.size,
  };
};

const checkBatch = async (
  deps: FindingDeps,
  ids: readonly string[],
  lookings: ReadonlyMap<NotificationKind, Looking>,
  ownerKeys: ReadonlySet<string>,
): Promise<CheckedBatch> => {
  const accounts = await getItemFields(deps.ledger, ids.map(accountPk), accountShape, deps.onUnreadable);
  const found = new Map<NotificationKind, ByAccount>();
  for (const [kind, { ofAccounts }] of lookings) found.set(kind, await ofAccounts(accounts));
  const owned = accounts.flatMap(({ account_id, owners }) =>
    owners.map((owner) => [pkOfOwner(owner), account_id] as const).filter(([ownerKey]) => ownerKeys.has(ownerKey)),
  );
  return { found, owned };
};

/** All accounts, or those that these people own. */
const accountIds = async (deps: FindingDeps, wanted: readonly Wanted[]): Promise<readonly string[]> => {
  const isOfAll = wanted.some(({ kinds, roles }) => kinds.some((kind) => isOfAllAccounts(kind, roles)));
  return isOfAll ? accountIdsOf(deps.ledger) : ownedIds(deps, wanted);
};

const ownedIds = async (
  { ledger, onUnreadable }: FindingDeps,
  wanted: readonly Wanted[],
): Promise<readonly string[]> => {
  const pks = wanted.flatMap(({ ownerKeys }) => ownerKeys);
  const owners = await getItems(ledger, pks, ownerItemSchema, onUnreadable);
  return owners.flatMap(({ accounts }) => [...(accounts ?? [])]);
};

/** An account's name is a text that people typed. */
const nameOf = ({ name }: Pick<Account, "name">): string => maskedDigits(name);
const accountPath = ({ account_id }: Pick<Account, "account_id">, page = ""): string =>
  `/accounts/${account_id}${page}`;

const byAccountOf = (findings: readonly (Finding & { readonly account_id: string })[]): ByAccount =>
  Map.groupBy(findings, ({ account_id }) => account_id);

const lookForLowWallets: Look = async (deps) => ({
  ofAccounts: async (accounts) => {
    const pks = accounts.map(({ account_id }) => walletPk(account_id));
    const wallets = await getItemFields(deps.ledger, pks, walletShape, deps.onUnreadable);
    const walletOf = new Map(wallets.map((wallet) => [wallet.account_id, wallet]));
    return byAccountOf(
      accounts.flatMap((account) => {
        const { account_id } = account;
        const wallet = walletOf.get(account_id);
        const low = wallet && lowBalanceOf(wallet);
        if (low === undefined) return [];
        const text = `The balance of ${nameOf(account)} is ${koboMoneyText(low.balance)}, below its threshold of ${koboMoneyText(low.threshold)}.`;
        return [{ account_id, kind: "wallet.low", key: `wallet.low#${account_id}`, text, path: accountPath(account) }];
      }),
    );
  },
});

const lookForEndpointFaults: Look = async ({ ledger, timeZone, onUnreadable }) => ({
  ofAccounts: async (accounts) => {
    const accountOf = new Map(accounts.map((account) => [account.account_id, account]));
    const faults = await readEndpointFaults(ledger, accounts, onUnreadable);
    return byAccountOf(
      faults.map(({ account_id, endpoint, name, kind, since }) => {
        const what = `The webhook endpoint "${maskedDigits(name)}" of ${nameOf(accountOf.get(account_id) ?? { name: "" })}`;
        const sinceText = timeText(since, timeZone);
        const text =
          kind === "down"
            ? `${what} has been down since ${sinceText}. Its webhooks wait, and one at a time is sent as a probe.`
            : `${what} was switched off, because every delivery had failed since ${sinceText}. No webhook is sent to it.`;
        const key = `endpoint.down#${account_id}#${endpoint}#${kind}`;
        return {
          account_id,
          kind: "endpoint.down",
          key,
          text,
          path: accountPath({ account_id }, `/webhooks/${endpoint}`),
        };
      }),
    );
  },
});

type Stuck = { count: number; readonly first: Order };

/**
 * Of all accounts it is one finding, however many orders become stuck while the upstream does not answer. They are read
 * oldest first: beyond what there is time for, only their number is not known.
 */
const lookForStuckOrders: Look = async (deps) => {
  const { ledger, timeZone } = deps;
  const nowMs = ledger.clock();
  const deadline = deadlineIn(READ_STUCK_MS_MAX, ledger.clock);
  const keys = await openKeys(ledger, { from: ALL_TIMES.from, to: isoTime(nowMs - STUCK_MS) });
  let all: Stuck | undefined;
  const stuckOf = new Map<string, Stuck>();
  const batches = [...keyBatches(keys)];
  let unread = batches.length;
  for await (const batch of getItemBatches(ledger, batches, orderShape, deps.onUnreadable)) {
    for (const order of batch.items.filter((each) => each.status === "processing" && isStuck(each, nowMs))) {
      all ??= { count: 0, first: order };
      const own = stuckOf.get(order.account_id) ?? { count: 0, first: order };
      stuckOf.set(order.account_id, own);
      all.count += 1;
      own.count += 1;
    }
    unread -= 1;
    if (deadline.remainingMs() <= 0) break;
  }
  const isWhole = unread === 0;
  const finding = (key: string, whose: string, { count, first }: Stuck, path: string): Finding => {
    const orders = count === 1 ? `1 order${whose} has` : `${count} orders${whose} have`;
    const what = [`${koboMoneyText(first.amount_kobo)}`, ...(first.network === undefined ? [] : [first.network])];
    const text = `${isWhole ? "" : "At least "}${orders} had no outcome for more than 15 minutes. The oldest is ${referenceOf(first)}, ${what.join(", ")}, of ${timeText(first.created_at, timeZone)}.`;
    return { kind: "order.stuck", key, text, path };
  };
  return {
    ofAll: all === undefined ? [] : [finding("order.stuck", "", all, "/open")],
    ofAccounts: async (accounts) =>
      new Map(
        accounts.flatMap((account) => {
          const { account_id } = account;
          const stuck = stuckOf.get(account_id);
          if (stuck === undefined) return [];
          const path = accountPath(account, "/transactions");
          return [[account_id, [finding(`order.stuck#${account_id}`, ` of ${nameOf(account)}`, stuck, path)]] as const];
        }),
      ),
    isWhole,
  };
};

/** Months that were closed one after the other, as where a company begins late, are each news. */
const NEW_MONTHS_MAX = 12;

/** The statements of the months that were closed last. Of all accounts each month is one finding. */
const lookForNewStatements: Look = async ({ ledger }) => {
  const kind = "statement.ready";
  const keyOf = (month: string): string => `${kind}#${month}`;
  const isNew = ({ closed_at }: ServicePeriod): boolean => ledger.clock() - Date.parse(closed_at) <= NEW_STATEMENT_MS;
  const closed = (await listServicePeriods(ledger, NEW_MONTHS_MAX)).filter(isNew).toReversed();
  return {
    ofAll: closed.map(({ month, accounts }) => ({
      kind,
      key: keyOf(month),
      text: `${month} is closed: the statements of ${accounts} ${accounts === 1 ? "account is" : "accounts are"} ready and final.`,
      path: `/periods/${month}`,
    })),
    ofAccounts: async (accounts) => {
      const ids = accounts.map(({ account_id }) => account_id);
      const found: (Finding & { readonly account_id: string })[] = [];
      for (const { month } of closed) {
        const periods = new Set((await readAccountPeriods(ledger, month, ids)).map(({ account_id }) => account_id));
        for (const account of accounts.filter(({ account_id }) => periods.has(account_id))) {
          found.push({
            account_id: account.account_id,
            kind,
            key: `${keyOf(month)}#${account.account_id}`,
            text: `The statement of ${nameOf(account)} for ${month} is ready. It is final.`,
            path: accountPath(account, `/statement?${new URLSearchParams(datesOf(month))}`),
          });
        }
      }
      return byAccountOf(found);
    },
  };
};

const looks: Readonly<Record<NotificationKind, Look>> = {
  "wallet.low": lookForLowWallets,
  "endpoint.down": lookForEndpointFaults,
  "order.stuck": lookForStuckOrders,
  "statement.ready": lookForNewStatements,
};

/** `2026-11-21 10:30 (09:30 UTC)` in the stage's zone. */
const timeText = (iso: string, timeZone: string): string => {
  const [date = "", time = ""] = timeIn(Date.parse(iso), timeZone).split("T");
  return `${date} ${time.slice(0, "10:30".length)} (${iso.slice("2026-11-21T".length, "2026-11-21T09:30".length)} UTC)`;
};
