import { randomUUID } from "node:crypto";

import type { Account } from "../../../shared/access/account-store.ts";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { monthRange } from "../../../shared/contract/values/time-zone.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { ACCOUNTS_LIST, accountPk, fundingPk } from "../../../shared/ledger/schema.ts";
import { emptyWallet } from "../../../shared/ledger/wallet.ts";
import { sealWallet } from "../../../shared/ledger/wallet-seal.ts";
import { isoTime } from "../../../shared/platform/time.ts";

/** A month that can be closed at once. */
export const CLOSED_MONTH = "2026-01";

/** An account with a funding in that month, and a wallet that was sealed then. Resolves with its id. */
export const anOldAccount = async ({ db, table }: Ledger, month: string): Promise<string> => {
  const { from, to } = monthRange(month, "Africa/Lagos");
  const atMs = Date.parse(from) + 86_400_000;
  const ledger = { db, table, clock: () => atMs };
  const accountId = `acc_${randomUUID().replaceAll("-", "")}`;
  const account: Account = {
    ...{ pk: accountPk(accountId), list_key: ACCOUNTS_LIST, account_id: accountId, name: "old", status: "active" },
    ...{
      whitelist: [],
      entitlements: {},
      keys: [],
      owners: [],
      endpoints: [],
      endpoints_made: 0,
      version: 1,
      created_at: isoTime(atMs),
    },
  };
  await db.put({ TableName: table, Item: account });
  await db.put({ TableName: table, Item: emptyWallet(accountId, atMs) });
  await fundWallet(ledger, { accountId, fundingId: fundingOf(accountId), amountKobo: koboFromNaira(100) });
  await sealWallet({ db, table }, accountId, to);
  return accountId;
};

const fundingOf = (accountId: string): string => `first-${accountId}`;

/** Changes its line, as by hand. */
export const changeFunding = ({ db, table }: Ledger, accountId: string) =>
  db.update({
    TableName: table,
    Key: { pk: fundingPk(fundingOf(accountId)) },
    UpdateExpression: "ADD amount_kobo :one",
    ExpressionAttributeValues: { ":one": 1 },
  });
