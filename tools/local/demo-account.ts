import * as z from "zod";
import { type AccountStore, findAccount } from "../../shared/access/account-store.ts";
import { createAccount, createKey } from "../../shared/access/accounts.ts";
import { permissionSchema } from "../../shared/contract/routes.ts";
import { fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { readWallet } from "../../shared/ledger/wallet.ts";
import { koboFromNaira, nairaFromKobo } from "../../shared/platform/money.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { adoptWebhookSecret, type EndpointStore } from "../../shared/webhooks/endpoint.ts";
import { newWebhookSecret } from "../../shared/webhooks/signature.ts";
import { readJsonFile, writeJsonFile } from "./json-file.ts";

const NAME = "demo";
const FUNDING_NGN = 100_000;
/** The same at every start, so that a restart does not fund the wallet again. */
const fundingId = (accountId: string): string => `demo-funding-${accountId}`;
const WHITELIST = ["127.0.0.1/32", "::1/128"];

/** The tables keep only hashes of keys; this file lets a restart print the same ones. */
const demoAccountFile = z.object({
  account_id: z.string(),
  test_key: z.string(),
  live_key: z.string(),
  webhook_secret: z.string(),
});

/** An account of SERVICE_FILE. */
export type DemoAccount = Readonly<z.output<typeof demoAccountFile>> & {
  readonly name: string;
  /** NGN in the wallet at the moment of the start. */
  readonly balance: number;
};

/** Finds the demo account of earlier runs, or makes it: every permission, loopback whitelisted, money in its wallet. */
export const demoAccount = async (
  store: AccountStore,
  endpoints: EndpointStore,
  path: string,
): Promise<DemoAccount> => {
  const kept = readJsonFile(path, demoAccountFile);
  // The tables may be younger than the file, if they are in a DynamoDB elsewhere that kept them in memory.
  const isThere = kept !== undefined && (await findAccount(store, kept.account_id)) !== undefined;
  const account = isThere ? kept : await makeAccount(store, endpoints);
  if (!isThere) writeJsonFile(path, account);

  const ledger = { db: store.db, table: store.ledgerTable, clock: systemClock };
  const accountId = account.account_id;
  await fundWallet(ledger, { accountId, fundingId: fundingId(accountId), amountKobo: koboFromNaira(FUNDING_NGN) });
  const wallet = await readWallet(ledger, accountId);
  const { test_key, live_key, webhook_secret } = account;
  const balance = nairaFromKobo(wallet.balance_kobo);
  return { account_id: accountId, name: NAME, test_key, live_key, webhook_secret, balance };
};

const makeAccount = async (
  store: AccountStore,
  endpoints: EndpointStore,
): Promise<z.output<typeof demoAccountFile>> => {
  const { account_id } = await createAccount(store, { name: NAME, whitelist: WHITELIST });
  const permissions = permissionSchema.options;
  const test = await createKey(store, account_id, { mode: "test", permissions });
  const live = await createKey(store, account_id, { mode: "live", permissions });
  const webhookSecret = newWebhookSecret();
  await adoptWebhookSecret(endpoints, account_id, webhookSecret);
  return { account_id, test_key: test.key, live_key: live.key, webhook_secret: webhookSecret };
};
