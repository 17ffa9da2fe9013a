import { afterAll, beforeEach } from "vitest";
import { type Account, type AccountStore, requireAccount } from "../../../shared/access/account-store.ts";
import { changeWhitelist, createAccount } from "../../../shared/access/accounts.ts";
import { createAdmission } from "../../../shared/access/admission.ts";
import { hashApiKey } from "../../../shared/access/api-key.ts";
import { type ChecksumKey, loadChecksumKey } from "../../../shared/access/checksum-key.ts";
import { type KeyItem, keyItemSchema } from "../../../shared/access/key-store.ts";
import { createKey } from "../../../shared/access/keys.ts";
import type { Admission } from "../../../shared/call/call.ts";
import { ServiceError } from "../../../shared/contract/errors.ts";
import { type RateGroup, rateGroups } from "../../../shared/contract/limits.ts";
import { ALL_ENTITLEMENTS, type Entitlements, type Permission } from "../../../shared/contract/permission.ts";
import { routes } from "../../../shared/contract/routes.ts";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { apiEvent, callRequest } from "../../../shared/lambda/api-request.ts";
import { accountPk } from "../../../shared/ledger/schema.ts";
import type { WithSdk } from "../../../shared/platform/aws/sdk.ts";
import { anApiEvent } from "../aws/api-event.ts";
import { changeItem } from "../dynamodb/change-item.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "../dynamodb/dynamodb-proxy.ts";
import { dynamodbEndpoint } from "../dynamodb/emulator.ts";
import { emulatorClient, freshTables } from "../dynamodb/tables.ts";
import { NOON_MS } from "../run/noon.ts";
import { checksumKey } from "./secrets.ts";
export const OFFICE = "203.0.113.7";
export const NEIGHBOUR = "203.0.113.8";

type AccountOptions = {
  readonly whitelist?: readonly string[];
  readonly entitlements?: Entitlements;
  readonly permissions?: readonly Permission[];
  readonly mode?: Mode;
};

type Ask = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly sourceIp?: string;
  readonly route?: (typeof routes)[keyof typeof routes];
  readonly checksums?: ChecksumKey;
};

/** Admission and accounts on tables of their own, with a clock that the test sets. */
export type AccessFixture = {
  nowMs: number;
  readonly tables: Awaited<ReturnType<typeof freshTables>>;
  readonly proxy: DynamoDbProxy;
  readonly store: AccountStore & WithSdk;
  /** An account with one key. */
  readonly anAccount: (
    options?: AccountOptions,
  ) => Promise<{ readonly accountId: string; readonly key: string; readonly keyId: string }>;
  /** What one instance of a function admits or refuses; `proxy` records its DynamoDB calls. */
  readonly newInstance: (checksums?: ChecksumKey) => (request: Omit<Ask, "checksums">) => Promise<Admission>;
  /** Admits or refuses one request by an instance of its own. */
  readonly admit: (ask: Ask) => Promise<Admission>;
  readonly withKey: (key: string, ask?: Omit<Ask, "headers">) => Promise<Admission>;
  readonly keyItem: (key: string) => Promise<KeyItem>;
  readonly isAdmitted: (key: string, sourceIp?: string) => Promise<boolean>;
  readonly account: (accountId: string) => Promise<Account>;
  /** Adds ranges to the account's whitelist. */
  readonly allow: (accountId: string, ...ranges: readonly string[]) => Promise<Account>;
  readonly disallow: (accountId: string, range: string) => Promise<Account>;
  /** Reads an account or a key's item now; the returned function restores that state. */
  readonly rememberAccount: (accountId: string) => Promise<() => Promise<unknown>>;
  readonly rememberItem: (key: string) => Promise<() => Promise<unknown>>;
  readonly deleteItem: (key: string) => Promise<unknown>;
  /** Counts as many requests of a key in this minute as its rate has, or all but `left` of them. */
  readonly useUp: (key: string, group: RateGroup, left?: number) => Promise<void>;
  readonly countersOf: (key: string) => Promise<Record<string, unknown>>;
  /** Sets the clock to noon, and clears faults and recorded calls. */
  readonly reset: () => void;
};

export const openAccess = async (): Promise<AccessFixture> => {
  const tables = await freshTables();
  const proxy = await startDynamoDbProxy(dynamodbEndpoint);
  const { db, accessTable, ledgerTable } = tables;
  const clock = () => access.nowMs;
  const store: AccountStore & WithSdk = { db, accessTable, ledgerTable, clock, checksumKey };
  const remember = async (TableName: string, pk: string): Promise<() => Promise<unknown>> => {
    const { Item } = await db.get({ TableName, Key: { pk }, ConsistentRead: true });
    if (Item === undefined) return () => db.delete({ TableName, Key: { pk } });
    return () => db.put({ TableName, Item });
  };
  const access: AccessFixture = {
    nowMs: NOON_MS,
    tables,
    proxy,
    store,
    anAccount: async ({ whitelist = [OFFICE], entitlements = ALL_ENTITLEMENTS, permissions, mode = "live" } = {}) => {
      const { account_id } = await createAccount(store, { name: "demo", whitelist, entitlements });
      const created = await createKey(store, account_id, { mode, ...(permissions && { permissions }) });
      return { accountId: account_id, ...created };
    },
    newInstance: (checksums = loadChecksumKey(checksumKey)) => {
      const admit = createAdmission(emulatorClient(proxy.endpoint), accessTable, checksums, clock);
      return ({ headers = {}, sourceIp = OFFICE, route = routes.buyData }) =>
        admit(
          route,
          callRequest(apiEvent.parse(anApiEvent({ method: route.method, path: route.path, headers, sourceIp }))),
        );
    },
    admit: ({ checksums, ...request }) => access.newInstance(checksums)(request),
    withKey: (key, ask = {}) => access.admit({ ...ask, headers: { authorization: `Bearer ${key}` } }),
    keyItem: async (key) => {
      const { Item } = await db.get({ TableName: accessTable, Key: { pk: hashApiKey(key) }, ConsistentRead: true });
      return keyItemSchema.parse(Item);
    },
    isAdmitted: async (key, sourceIp = OFFICE) =>
      (await admissionCode(access.withKey(key, { sourceIp }))) === "admitted",
    account: (accountId) => requireAccount(store, accountId),
    allow: (accountId, ...ranges) => changeWhitelist(store, accountId, (before) => [...before, ...ranges]),
    disallow: (accountId, range) =>
      changeWhitelist(store, accountId, (before) => before.filter((entry) => entry !== range)),
    rememberAccount: (accountId) => remember(ledgerTable, accountPk(accountId)),
    rememberItem: (key) => remember(accessTable, hashApiKey(key)),
    deleteItem: (key) => db.delete({ TableName: accessTable, Key: { pk: hashApiKey(key) } }),
    useUp: (key, group, left = 0) =>
      changeItem({ db, table: accessTable }, hashApiKey(key), {
        [`${group}:${Math.floor(access.nowMs / MINUTE_MS)}`]: rateGroups[group].requestsPerMinute - left,
      }),
    countersOf: async (key) =>
      Object.fromEntries(Object.entries(await access.keyItem(key)).filter(([name]) => name.includes(":"))),
    reset: () => {
      access.nowMs = NOON_MS;
      proxy.fault = () => undefined;
      proxy.calls.length = 0;
    },
  };
  return access;
};

/** One for the tests of the importing file, which is reset before each. */
export const accessForTests = async (): Promise<AccessFixture> => {
  const access = await openAccess();
  beforeEach(() => access.reset());
  afterAll(() => access.proxy.stop());
  return access;
};

/** The code of a refusal, or `admitted`. */
export const admissionCode = async (admission: Promise<Admission>): Promise<string> => {
  try {
    const result = await admission;
    return "refusal" in result ? result.refusal.code : "admitted";
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
};
export const remainingOf = async (admission: Promise<Admission>): Promise<number> => (await admission).rate.remaining;
