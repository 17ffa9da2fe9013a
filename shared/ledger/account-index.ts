import { ALL_TIMES, ownedKeyPages } from "./owner-index.ts";
import type { Ledger } from "./transact.ts";

/** The owner under which all accounts stand in the index by time. */
export const ACCOUNTS_OWNER = "accounts";

const PK_PREFIX = "account#";
export const accountPk = (accountId: string): string => `${PK_PREFIX}${accountId}`;

export type IndexedAccount = { readonly account_id: string; readonly created_at: string };

/** All accounts as the index has them, oldest first, read page by page. */
export async function* indexedAccounts(
  ledger: Pick<Ledger, "db" | "table">,
): AsyncGenerator<IndexedAccount, void, void> {
  for await (const page of ownedKeyPages(ledger, ACCOUNTS_OWNER, ALL_TIMES)) {
    for (const { pk, created_at } of page) yield { account_id: pk.slice(PK_PREFIX.length), created_at };
  }
}

/** The ids of all accounts, oldest first. */
export const accountIdsOf = async (ledger: Pick<Ledger, "db" | "table">): Promise<readonly string[]> => {
  const ids: string[] = [];
  for await (const { account_id } of indexedAccounts(ledger)) ids.push(account_id);
  return ids;
};
