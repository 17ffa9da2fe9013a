import * as z from "#zod";
import { type Account, type AccountStore, findAccount } from "../../shared/access/account-store.ts";
import { createAccount, setOwners } from "../../shared/access/accounts.ts";
import { createKey } from "../../shared/access/keys.ts";
import { ALL_ENTITLEMENTS, permissionSchema } from "../../shared/contract/permission.ts";
import { koboFromNaira, nairaFromKobo } from "../../shared/contract/values/money.ts";
import { fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { readWallet } from "../../shared/ledger/wallet.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { adoptWebhookSecret, type EndpointStore } from "../../shared/webhooks/endpoint.ts";
import { newWebhookSecret } from "../../shared/webhooks/signature.ts";
import { OWNER_EMAIL } from "./identity-provider.ts";
import { readJsonFile, writeJsonFile } from "./json-file.ts";

const NAME = "demo";
const FUNDING_NAIRA = 100_000;
/** The same at every start, so a restart replays the funding instead of repeating it. */
const fundingId = (accountId: string): string => `demo-funding-${accountId}`;
const OWNERS: Account["owners"] = [{ kind: "email", value: OWNER_EMAIL }];
const WHITELIST = ["127.0.0.1/32", "::1/128"];

/** The tables hold only hashes of the keys; this file lets a restart print the same keys. */
const demoAccountFile = z.object({
  account_id: z.string(),
  test_key: z.string(),
  live_key: z.string(),
  webhook_secret: z.string(),
});

/** An account in SERVICE_FILE. */
export type DemoAccount = Readonly<z.output<typeof demoAccountFile>> & {
  readonly name: string;
  /** The wallet's balance at the start, in NGN. */
  readonly balance: number;
};

/** Returns the demo account of earlier runs or creates it: everything allowed, loopback whitelisted, a funded wallet. */
export const openDemoAccount = async (
  store: AccountStore,
  endpoints: EndpointStore,
  path: string,
): Promise<DemoAccount> => {
  const stored = readJsonFile(path, demoAccountFile);
  // An external DynamoDB may have been cleared since the file was written.
  const exists = stored !== undefined && (await findAccount(store, stored.account_id)) !== undefined;
  const account = exists ? stored : await createDemoAccount(store, endpoints);
  if (!exists) writeJsonFile(path, account);

  const ledger = { db: store.db, table: store.ledgerTable, clock: systemClock };
  const accountId = account.account_id;
  await fundWallet(ledger, { accountId, fundingId: fundingId(accountId), amountKobo: koboFromNaira(FUNDING_NAIRA) });
  const wallet = await readWallet(ledger, accountId);
  const { test_key, live_key, webhook_secret } = account;
  const balance = nairaFromKobo(wallet.balance_kobo);
  return { account_id: accountId, name: NAME, test_key, live_key, webhook_secret, balance };
};

const createDemoAccount = async (
  store: AccountStore,
  endpoints: EndpointStore,
): Promise<z.output<typeof demoAccountFile>> => {
  const { account_id } = await createAccount(store, {
    name: NAME,
    whitelist: WHITELIST,
    entitlements: ALL_ENTITLEMENTS,
  });
  await setOwners(store, account_id, OWNERS);
  const permissions = permissionSchema.options;
  const test = await createKey(store, account_id, { mode: "test", permissions });
  const live = await createKey(store, account_id, { mode: "live", permissions });
  const webhookSecret = newWebhookSecret();
  await adoptWebhookSecret(endpoints, account_id, webhookSecret);
  return { account_id, test_key: test.key, live_key: live.key, webhook_secret: webhookSecret };
};
