import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { afterAll } from "vitest";
import * as z from "#zod";
import type { AccountStore } from "../../../shared/access/account-store.ts";
import { createAccount } from "../../../shared/access/accounts.ts";
import { createKey } from "../../../shared/access/keys.ts";
import { ALL_ENTITLEMENTS, type Permission, permissionSchema } from "../../../shared/contract/permission.ts";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { DAY_MS } from "../../../shared/contract/values/durations.ts";
import { koboFromNaira, nairaFromKobo } from "../../../shared/contract/values/money.ts";
import type { AuditedLedger } from "../../../shared/ledger/ledger.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import type { WithSdk } from "../../../shared/platform/aws/sdk.ts";
import { openSecretsManager } from "../../../shared/platform/aws/sdk.ts";
import { secret } from "../../../shared/platform/secrets.ts";
import { systemClock } from "../../../shared/platform/time.ts";
import type { EndpointStore } from "../../../shared/webhooks/endpoint.ts";
import { startService } from "../../../tools/local/service.ts";
import { localTableNames } from "../../../tools/local/tables.ts";
import type { Simulator } from "../../../tools/simulator/server.ts";
import type { StrictSettings } from "../../strict/settings.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "../dynamodb/dynamodb-proxy.ts";
import { emulatorClientAt } from "../dynamodb/emulator-client.ts";
import { startTestDynamoDb } from "../dynamodb/test-dynamodb.ts";
import { upstreamKind } from "../upstream/upstream-kind.ts";

/** An answer of the service, its body parsed. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: z.output<typeof answerBody>;
};
const answerBody = z.object({
  status: z.boolean(),
  message: z.string(),
  errors: z.optional(z.record(z.string(), z.array(z.string()))),
  data: z.optional(z.record(z.string(), z.unknown())),
});
const transaction = z.object({
  transaction: z.object({
    reference: z.string(),
    status: z.string(),
    amount: z.number(),
    description: z.string(),
    type: z.string(),
    caller_reference: z.nullable(z.string()),
    phone_number: z.nullable(z.string()),
  }),
});
export const transactionOf = (answer: Answer) => transaction.parse(answer.body.data).transaction;

/** An account of its own with a live key and money. */
export type TestCaller = {
  readonly accountId: string;
  readonly key: string;
  readonly balance: () => Promise<number>;
  readonly newKey: (options?: {
    readonly mode?: Mode;
    readonly permissions?: readonly Permission[];
  }) => Promise<string>;
};

export type TestService = {
  readonly baseUrl: string;
  readonly consoleUrl: string;
  /** Where the console's people sign in. */
  readonly issuer: string;
  /** The account that the local service makes, whose owner is a person of the local provider. */
  readonly demoAccount: string;
  readonly simulator: Simulator;
  /** The proxy between the service and its tables. */
  readonly proxy: DynamoDbProxy;
  /** The endpoint of the emulator behind the proxy. */
  readonly dynamodbEndpoint: string;
  /** The ledger by a client without the proxy. */
  readonly db: DynamoDBDocument;
  readonly ledger: AuditedLedger & WithSdk;
  readonly accounts: AccountStore;
  readonly endpoints: EndpointStore;
  readonly newCaller: (options?: {
    readonly naira?: number;
    readonly whitelist?: readonly string[];
  }) => Promise<TestCaller>;
  readonly call: (
    method: "GET" | "POST",
    path: string,
    options?: {
      readonly key?: string;
      readonly body?: unknown;
      readonly raw?: string;
      readonly headers?: Record<string, string>;
    },
  ) => Promise<Answer>;
  readonly stop: () => Promise<void>;
};

/** The whole service on this machine, with a proxy before its tables and a simulator that does not limit. */
export const startTestService = async ({
  announces = false,
  strict,
  idTokenS = () => DAY_MS / 1_000,
  front,
  fourEyes,
  ...options
}: {
  readonly stallMs?: number;
  readonly virtualNin?: boolean;
  /** How long an ID token of the console's people lasts that is issued now, in seconds: by default longer than any tests. */
  readonly idTokenS?: () => number;
  readonly front?: "http" | "rest";
  readonly fourEyes?: boolean;
  /** Whether webhooks are enqueued and delivered; their calls would be counted with the others. */
  readonly announces?: boolean;
  /** The settings of the strict layer once the service has started; `proxy.strict` counts its effects. */
  readonly strict?: { readonly settings: StrictSettings; readonly seed: number };
} = {}): Promise<TestService> => {
  const folder = mkdtempSync(join(tmpdir(), "service-test-"));
  const dynamodb = await startTestDynamoDb(folder);
  const proxy = await startDynamoDbProxy(dynamodb.endpoint);
  const service = await startService({
    dynamodbEndpoint: proxy.endpoint,
    sendsWebhooks: announces,
    idTokenS,
    ...(front && { front }),
    ...(fourEyes && { fourEyes }),
    simulator: { limits: { vtu: 1_000_000, identity: 1_000_000, catalog: 1_000_000 }, ...upstreamKind, ...options },
  });
  const [demoAccount] = service.details.accounts;
  if (service.simulator === undefined || demoAccount === undefined) throw new Error("No simulator was started");
  if (strict !== undefined) proxy.beStrict(strict.settings, strict.seed);
  const db = emulatorClientAt(dynamodb.endpoint);
  const ledger: AuditedLedger & WithSdk = {
    db,
    table: localTableNames.ledger,
    auditTable: localTableNames.audit,
    clock: systemClock,
  };
  const accounts: AccountStore = {
    db,
    accessTable: localTableNames.access,
    ledgerTable: localTableNames.ledger,
    checksumKey: secret(openSecretsManager(), "checksum-key"),
  };
  const baseUrl = service.details.base_url;

  return {
    baseUrl,
    consoleUrl: service.details.console.url,
    issuer: service.details.console.issuer,
    demoAccount: demoAccount.account_id,
    simulator: service.simulator,
    proxy,
    dynamodbEndpoint: dynamodb.endpoint,
    db,
    ledger,
    accounts,
    endpoints: { accounts, webhookSealingKey: secret(openSecretsManager(), "webhook-key"), clock: systemClock },
    newCaller: async ({ naira = 10_000, whitelist = ["127.0.0.1"] } = {}) => {
      const { account_id: accountId } = await createAccount(accounts, {
        name: "test",
        whitelist,
        entitlements: ALL_ENTITLEMENTS,
      });
      if (naira > 0)
        await fundWallet(ledger, { accountId, fundingId: `first-${accountId}`, amountKobo: koboFromNaira(naira) });
      const newKey: TestCaller["newKey"] = async ({ mode = "live", permissions = permissionSchema.options } = {}) =>
        (await createKey(accounts, accountId, { mode, permissions })).key;
      return {
        accountId,
        key: await newKey(),
        newKey,
        balance: async () => nairaFromKobo((await readWallet(ledger, accountId)).balance_kobo),
      };
    },
    call: async (method, path, { key, body, raw, headers = {} } = {}) => {
      const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(text !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(text !== undefined && { body: text }),
      });
      return {
        status: response.status,
        headers: response.headers,
        body: answerBody.parse(await response.json()),
      };
    },
    stop: async () => {
      await service.stop();
      await proxy.stop();
      await dynamodb.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** One for the tests of the importing file, after which it is stopped. */
export const serviceForTests = async (options?: Parameters<typeof startTestService>[0]): Promise<TestService> => {
  const service = await startTestService(options);
  afterAll(service.stop);
  return service;
};

/** A data bundle of 500 NGN on MTN; a test states only the fields that it is about. */
export const anOrder = (changes: Readonly<Record<string, unknown>> = {}) => ({
  network_id: 1,
  plan_id: 101,
  phone_number: "08031234567",
  ...changes,
});
export const ORDER_NAIRA = 500;
export const BUY_DATA = "/vtu/data/purchase";
