import * as z from "#zod";
import { accountSchema } from "../access/account-store.ts";
import { ownerItemSchema, pkOfOwner } from "../access/owner-item.ts";
import { lazyObject } from "../contract/lazy-object.ts";
import { koboText } from "../contract/money.ts";
import { isOfAllAccounts, type NotificationKind } from "../contract/notification-kinds.ts";
import type { Role } from "../contract/roles.ts";
import { timeIn } from "../contract/time-zone.ts";
import { getItemBatches, getItems, keyBatches, type OnUnreadable } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { listServicePeriods, readAccountPeriods } from "../ledger/period.ts";
import { ALL_TIMES, accountIdsOf, openKeys } from "../ledger/query-index.ts";
import { accountPk, walletPk } from "../ledger/schema.ts";
import { isStuck, referenceOf, STUCK_MS, transactionSchema } from "../ledger/transaction.ts";
import { walletSchema } from "../ledger/wallet.ts";
import { maskedDigits } from "../platform/mask-phones.ts";
import { isoTime } from "../platform/time.ts";
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

/** Resolves what was found with what concerns one person. */
export type FindingsFor = (wanted: Wanted) => readonly Finding[];

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
const NEW_STATEMENT_MS = 3 * 24 * 3_600_000;

type FindingDeps = {
  readonly ledger: Ledger;
  readonly timeZone: string;
  /** What cannot be read is left out, so that it keeps nothing else from being found. */
  readonly onUnreadable: OnUnreadable;
};
/** The findings of an account are for its owners; those of all accounts for people with a role. */
type Found = { readonly ofAll: readonly Finding[]; readonly byAccount: ReadonlyMap<string, readonly Finding[]> };
type Find = (deps: FindingDeps, accounts: readonly Account[]) => Promise<Found>;

/** Reads what is wrong with the accounts of these people, of the kinds that they want. */
export const findFindings = async (deps: FindingDeps, wanted: readonly Wanted[]): Promise<FindingsFor> => {
  const accounts = await accountsOf(deps, wanted);
  const found = new Map<NotificationKind, Found>();
  for (const kind of new Set(wanted.flatMap(({ kinds }) => kinds))) found.set(kind, await finds[kind](deps, accounts));
  return ({ kinds, roles, ownerKeys }) => {
    const owned = accounts.filter(({ owners }) => owners.some((owner) => ownerKeys.includes(pkOfOwner(owner))));
    return kinds.flatMap((kind) => {
      const { ofAll = [], byAccount } = found.get(kind) ?? {};
      if (isOfAllAccounts(kind, roles)) return ofAll;
      return owned.flatMap(({ account_id }) => byAccount?.get(account_id) ?? []);
    });
  };
};

/** All accounts, or those that these people own. */
const accountsOf = async (deps: FindingDeps, wanted: readonly Wanted[]): Promise<readonly Account[]> => {
  const isOfAll = wanted.some(({ kinds, roles }) => kinds.some((kind) => isOfAllAccounts(kind, roles)));
  const ids = isOfAll ? await accountIdsOf(deps.ledger) : await ownedIds(deps, wanted);
  return readAll(deps, ids.map(accountPk), accountShape);
};

const ownedIds = async (
  { ledger, onUnreadable }: FindingDeps,
  wanted: readonly Wanted[],
): Promise<readonly string[]> => {
  const keys = wanted.flatMap(({ ownerKeys }) => ownerKeys.map((pk) => ({ pk })));
  const owners = await getItems(ledger, keys, ownerItemSchema, onUnreadable);
  return owners.flatMap(({ accounts }) => [...(accounts ?? [])]);
};

/** Only the attributes of the schema. */
const readAll = async <Item extends { readonly pk: string }>(
  { ledger, onUnreadable }: FindingDeps,
  pks: readonly string[],
  schema: z.ZodMiniType<Item> & { readonly shape: object },
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  const batches = keyBatches(pks.map((pk) => ({ pk })));
  for await (const batch of getItemBatches(ledger, batches, schema, onUnreadable)) items.push(...batch.items);
  return items;
};

/** An account's name is a text that people typed. */
const nameOf = ({ name }: Pick<Account, "name">): string => maskedDigits(name);
const accountPath = ({ account_id }: Pick<Account, "account_id">, page = ""): string =>
  `/accounts/${account_id}${page}`;

/** Of findings that are the same for people with a role: those of each account. */
const eachAccount = (findings: readonly (Finding & { readonly account_id: string })[]): Found => ({
  ofAll: findings,
  byAccount: Map.groupBy(findings, ({ account_id }) => account_id),
});

const findLowWallets: Find = async (deps, accounts) => {
  const pks = accounts.map(({ account_id }) => walletPk(account_id));
  const walletOf = new Map((await readAll(deps, pks, walletShape)).map((wallet) => [wallet.account_id, wallet]));
  return eachAccount(
    accounts.flatMap((account) => {
      const { account_id } = account;
      const { balance_kobo = 0, low_balance_threshold_kobo: threshold = 0 } = walletOf.get(account_id) ?? {};
      if (balance_kobo >= threshold) return [];
      const text = `The balance of ${nameOf(account)} is ${koboText(balance_kobo)} NGN, below its threshold of ${koboText(threshold)} NGN.`;
      return [{ account_id, kind: "wallet.low", key: `wallet.low#${account_id}`, text, path: accountPath(account) }];
    }),
  );
};

const findEndpointFaults: Find = async ({ ledger, timeZone, onUnreadable }, accounts) => {
  const accountOf = new Map(accounts.map((account) => [account.account_id, account]));
  const faults = await readEndpointFaults(ledger, accounts, onUnreadable);
  return eachAccount(
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
};

/** Of all accounts it is one finding, however many orders become stuck while the upstream does not answer. */
const findStuckOrders: Find = async (deps, accounts) => {
  const { ledger, timeZone } = deps;
  const nowMs = ledger.clock();
  const keys = await openKeys(ledger, { from: ALL_TIMES.from, to: isoTime(nowMs - STUCK_MS) });
  const pks = keys.map(({ pk }) => pk);
  const stuck = (await readAll(deps, pks, orderShape)).filter(
    (order) => order.status === "processing" && isStuck(order, nowMs),
  );
  const [oldest] = stuck;
  const finding = (key: string, whose: string, count: number, first: Order, path: string): Finding => {
    const orders = count === 1 ? `1 order${whose} has` : `${count} orders${whose} have`;
    const what = [`${koboText(first.amount_kobo)} NGN`, ...(first.network === undefined ? [] : [first.network])];
    const text = `${orders} had no outcome for more than 15 minutes. The oldest is ${referenceOf(first)}, ${what.join(", ")}, of ${timeText(first.created_at, timeZone)}.`;
    return { kind: "order.stuck", key, text, path };
  };
  const ordersOf = Map.groupBy(stuck, ({ account_id }) => account_id);
  const byAccount = accounts.flatMap((account) => {
    const { account_id } = account;
    const orders = ordersOf.get(account_id) ?? [];
    const [first] = orders;
    if (first === undefined) return [];
    const path = accountPath(account, "/transactions");
    const own = finding(`order.stuck#${account_id}`, ` of ${nameOf(account)}`, orders.length, first, path);
    return [[account_id, [own]] as const];
  });
  const ofAll = oldest === undefined ? [] : [finding("order.stuck", "", stuck.length, oldest, "/open")];
  return { ofAll, byAccount: new Map(byAccount) };
};

/** The statements of the month that was closed last. Of all accounts it is one finding. */
const findNewStatements: Find = async ({ ledger }, accounts) => {
  const [last] = await listServicePeriods(ledger, 1);
  if (last === undefined || ledger.clock() - Date.parse(last.closed_at) > NEW_STATEMENT_MS) {
    return { ofAll: [], byAccount: new Map() };
  }
  const { month } = last;
  const ids = accounts.map(({ account_id }) => account_id);
  const periods = new Set((await readAccountPeriods(ledger, month, ids)).map(({ account_id }) => account_id));
  const kind = "statement.ready";
  const key = `${kind}#${month}`;
  const byAccount = accounts
    .filter(({ account_id }) => periods.has(account_id))
    .map((account) => {
      const text = `The statement of ${nameOf(account)} for ${month} is ready. It is final.`;
      const own: Finding = {
        kind,
        key: `${key}#${account.account_id}`,
        text,
        path: accountPath(account, "/statement"),
      };
      return [account.account_id, [own]] as const;
    });
  const text = `${month} is closed: the statements of ${last.accounts} ${last.accounts === 1 ? "account is" : "accounts are"} ready and final.`;
  return { ofAll: [{ kind, key, text, path: `/periods/${month}` }], byAccount: new Map(byAccount) };
};

const finds: Readonly<Record<NotificationKind, Find>> = {
  "wallet.low": findLowWallets,
  "endpoint.down": findEndpointFaults,
  "order.stuck": findStuckOrders,
  "statement.ready": findNewStatements,
};

/** `2026-11-21 10:30 (09:30 UTC)` in the stage's zone. */
const timeText = (iso: string, timeZone: string): string => {
  const [date = "", time = ""] = timeIn(Date.parse(iso), timeZone).split("T");
  return `${date} ${time.slice(0, "10:30".length)} (${iso.slice("2026-11-21T".length, "2026-11-21T09:30".length)} UTC)`;
};
