import * as z from "#zod";
import { type Account, accountSchema } from "../access/account-store.ts";
import { KEY_ID_START } from "../access/keys.ts";
import { type ActionName, mayDo } from "../contract/actions/actions.ts";
import { FOUND_MAX, type searchActions } from "../contract/actions/search.ts";
import { modeSchema } from "../contract/transaction.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import { phoneNumberOf } from "../contract/values/phone-number.ts";
import {
  findByOwnReference,
  findByPhone,
  findByUpstreamReference,
  readTransactions,
} from "../ledger/find-transactions.ts";
import { getItems } from "../ledger/get-item.ts";
import { readFunding } from "../ledger/ledger-entry.ts";
import { accountIdsOf } from "../ledger/query-index.ts";
import { accountEventDeliveryPk, transactionPk } from "../ledger/schema.ts";
import type { Transaction } from "../ledger/transaction.ts";
import { findEvent, storedEventId } from "../upstream-events/stored-event.ts";
import { deliverySchema } from "../webhooks/delivery.ts";
import { accountView, endpointsMadeSchema, keyView, readAccounts, shownAccountSchema } from "./accounts.ts";
import { type ActionContext, requireRequest } from "./action-context.ts";
import { countSearch } from "./action-limits.ts";
import type { ActionRuns } from "./action-runs.ts";
import { endpointIdsOf } from "./transaction-history.ts";
import { transactionView } from "./transactions.ts";
import { readReversal } from "./wallet.ts";

const NOTHING = { transactions: [], fundings: [], accounts: [], keys: [], events: [], deliveries: [] };

export const searchRuns: ActionRuns<typeof searchActions> = {
  search: async (context, { text }) => {
    const { ledger, purchases } = context;
    const request = requireRequest(context);
    await countSearch(purchases, request.identity, ledger.clock());
    const isForAll = request.roles.length > 0;
    const sees = (name: ActionName): boolean => !isForAll || mayDo({ ...request, owns: [] }, name);
    const accounts = isForAll ? await readAllAccounts(context, text) : await request.ownedAccounts();
    const found = foundIn(accounts);
    const phoneNumber = phoneNumberOf(text);
    if (phoneNumber !== undefined) {
      const orders = await findByPhone(ledger, await context.keyedHashes(), phoneNumber, found.isOwn, FOUND_MAX);
      // Without one the digits may be a reference, because apps and banks number theirs.
      if (orders.length > 0) return { ...NOTHING, transactions: found.transactions(orders) };
    }
    const [orders, fundings, events, deliveries] = await Promise.all([
      findByReference(context, accounts, text),
      findFundings(context, text),
      isForAll && sees("events list") ? findEvents(context, text) : [],
      sees("deliveries list") ? findDeliveries(context, accounts, text) : [],
    ]);
    return {
      transactions: found.transactions(orders),
      fundings: found.own(fundings),
      ...found.named(text, ledger.clock(), sees("keys list")),
      events,
      deliveries: found.own(deliveries).map(({ webhook_id, event, state, created_at, ...owner }) => ({
        ...{ webhook_id, event, state, created_at },
        ...{ account_id: owner.account_id, account_name: owner.account_name },
      })),
    };
  },
};

/** What a search needs of an account. */
type SearchedAccount = z.infer<typeof searchedAccountSchema> & Partial<Pick<Account, "keys">>;
const searchedAccountSchema = z.extend(shownAccountSchema, endpointsMadeSchema.shape);
const withKeysSchema = z.extend(searchedAccountSchema, z.pick(accountSchema, { keys: true }).shape);

/** Their keys are most of their items, and are read for the start of a key's id alone. */
const readAllAccounts = async (context: ActionContext, text: string): Promise<readonly SearchedAccount[]> => {
  const ids = await accountIdsOf(context.ledger);
  const wanted = text.toLowerCase();
  const isOfKey = wanted.startsWith(KEY_ID_START) || KEY_ID_START.startsWith(wanted);
  return isOfKey ? readAccounts(context, ids, withKeysSchema) : readAccounts(context, ids, searchedAccountSchema);
};

/** Filters what was found to these accounts. */
const foundIn = (accounts: readonly SearchedAccount[]) => {
  const names = new Map(accounts.map(({ account_id, name }) => [account_id, name]));
  const own = <Item extends { readonly account_id: string }>(items: readonly Item[]) =>
    items.flatMap((item) => {
      const account_name = names.get(item.account_id);
      return account_name === undefined ? [] : [{ ...item, account_name }];
    });
  return {
    own,
    isOwn: ({ account_id }: Transaction) => names.has(account_id),
    transactions: (orders: readonly Transaction[]) => own(orders.map(transactionView)),
    /** Accounts by name or id, and keys by the start of their id. */
    named: (text: string, nowMs: number, seesKeys: boolean) => {
      const wanted = text.toLowerCase();
      const keys = accounts.flatMap(({ account_id, keys: all = [] }) =>
        all.filter(({ key_id }) => key_id.startsWith(wanted)).map((key) => ({ account_id, ...keyView(key, nowMs) })),
      );
      return {
        accounts: accounts
          .filter(({ account_id, name }) => name.toLowerCase().includes(wanted) || account_id.startsWith(wanted))
          .slice(0, FOUND_MAX)
          .map(accountView),
        keys: seesKeys ? own(keys).slice(0, FOUND_MAX) : [],
      };
    },
  };
};

/** The orders with this reference: our own, the upstream's, or what the caller of any of the accounts gave. */
const findByReference = async (
  { ledger, keyedHashes }: ActionContext,
  accounts: readonly SearchedAccount[],
  text: string,
): Promise<readonly Transaction[]> => {
  const own = await findByOwnReference(ledger, text.toUpperCase());
  if (own !== undefined) return [own];
  const { transactionId } = await keyedHashes();
  const byCaller = accounts.flatMap(({ account_id: accountId }) =>
    modeSchema.options.map((mode) => transactionPk(transactionId({ accountId, mode, callerReference: text }))),
  );
  const byUpstream = await findByUpstreamReference(ledger, text);
  return readTransactions(ledger, [...byCaller, ...byUpstream.slice(0, FOUND_MAX)]);
};

const findFundings = async ({ ledger }: ActionContext, text: string) => {
  const funding = await readFunding(ledger, text);
  if (funding === undefined) return [];
  const { account_id, entry_id: id, amount_kobo, created_at: at } = funding;
  const reversal = await readReversal(ledger, funding);
  return [{ account_id, id, amount: nairaFromKobo(amount_kobo), at, is_reversed: reversal !== undefined }];
};

const findEvents = async ({ ledger }: ActionContext, text: string) => {
  const event = await findEvent(ledger, text);
  return event === undefined ? [] : [{ event: storedEventId(event), state: event.state, at: event.created_at }];
};

const findDeliveries = ({ ledger }: ActionContext, accounts: readonly SearchedAccount[], text: string) =>
  getItems(
    ledger,
    endpointIdsOf(accounts).map((endpoint) => accountEventDeliveryPk({ endpoint, webhook_id: text })),
    deliverySchema,
  );
