import { changeAccount, type StoredEndpoint } from "../../../shared/access/account-store.ts";
import { type AccountEventName, TRANSACTION_UPDATED } from "../../../shared/contract/webhook-events.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { anEndpoint } from "./endpoint.ts";

/** Makes these the events of an account's first endpoint beside `transaction.updated`, as an operator does. */
export const subscribe = async (
  { db, table, clock }: Ledger,
  accountId: string,
  events: readonly AccountEventName[],
): Promise<void> => {
  await changeAccount({ db, ledgerTable: table, clock }, accountId, (account) => {
    const [first = anEndpoint(), ...others] = account.endpoints;
    const endpoint: StoredEndpoint = { ...first, events: [TRANSACTION_UPDATED, ...events] };
    return { ...account, endpoints: [endpoint, ...others], endpoints_made: Math.max(1, account.endpoints_made) };
  });
};
