import { createHash, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  ResourceNotFoundException,
} from "@aws-sdk/client-dynamodb";
import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import type { BuildOptions } from "esbuild";
import { bundleOptions, functionEntry } from "../../infra/bundle/bundle-options.ts";
import { type TableShape, tables } from "../../infra/tables.ts";
import { createAccount } from "../../shared/access/accounts.ts";
import { createKey } from "../../shared/access/keys.ts";
import { builtInSnapshot } from "../../shared/catalog/built-in-catalog.ts";
import { catalogStore } from "../../shared/catalog/catalog-store.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { localTableNames, tableDefinition } from "../../tools/local/tables.ts";
import type { Backends } from "./backends.ts";
import { serviceEnvironment } from "./service-environment.ts";

/** One of the compared stacks that sell data bundles. */
export type Stack = {
  readonly name: "service" | "service-sdk" | "floor" | "express" | "powertools" | "fastify" | "hono" | "empty";
  readonly title: string;
  /** Starts it as a server; a stack without one is a Lambda handler only. */
  readonly server?: readonly string[];
  /** Its handler as it is deployed to Lambda. */
  readonly entry: string;
  readonly bundle: BuildOptions;
  readonly environment: (backends: Backends) => Readonly<Record<string, string>>;
  /** Creates empty tables and one funded account. Resolves with its keys. */
  readonly prepare: (backends: Backends, keys: number) => Promise<readonly string[]>;
};

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** More than a slice spends. */
const FUNDED_KOBO = koboFromNaira(1_000_000_000);

const service: Stack = {
  name: "service",
  title: "this service",
  server: [pathOf("service-server.ts")],
  entry: functionEntry("purchase"),
  bundle: bundleOptions,
  environment: ({ upstreamUrl }) => serviceEnvironment({ upstreamUrl }),
  prepare: async ({ db, checksumKey }, keys) => {
    // Without a stream, because the emulator's writes slow down as its stream grows, which they do not on AWS.
    for (const [noun, { stream: _stream, ...shape }] of Object.entries<TableShape>(tables)) {
      await recreateTable(db, tableDefinition(`local-${noun}`, shape));
    }
    await catalogStore(db, localTableNames.cache).write({ ...builtInSnapshot, fetchedAtMs: systemClock() });
    const checksum = async (): Promise<string> => checksumKey;
    const accounts = {
      db,
      accessTable: localTableNames.access,
      ledgerTable: localTableNames.ledger,
      clock: systemClock,
      checksumKey: { value: checksum, refetch: checksum },
    };
    const { account_id: accountId } = await createAccount(accounts, { name: "bench", whitelist: ["127.0.0.1"] });
    const ledger = { db, table: localTableNames.ledger, clock: systemClock };
    await fundWallet(ledger, { accountId, fundingId: `first-${accountId}`, amountKobo: FUNDED_KOBO });
    const newKey = { mode: "live", permissions: ["vtu"] } as const;
    const made = Array.from({ length: keys }, async () => (await createKey(accounts, accountId, newKey)).key);
    return Promise.all(made);
  },
};

/** The same, with all calls to AWS by the SDK. */
const serviceBySdk: Stack = {
  ...service,
  name: "service-sdk",
  title: "this service, AWS_CALLS=sdk",
  environment: ({ upstreamUrl }) => serviceEnvironment({ upstreamUrl, awsCalls: "sdk" }),
};

/** The same SDK is bundled in the same way, but without the service's replacements, and what these must have. */
const { alias: _replacements, external: _lateModules, logOverride: _exports, ...asUsual } = bundleOptions;

/** The same calls to the same tables, and nothing else. */
const floor: Stack = {
  ...service,
  name: "floor",
  title: "the floor: the three calls alone, signed by hand",
  server: [pathOf("peers/server.ts"), "floor"],
  entry: pathOf("peers/lambda/floor.ts"),
  bundle: asUsual,
};

const peerTables = {
  KEYS_TABLE: { name: "bench-keys", key: "pk" },
  WALLETS_TABLE: { name: "bench-wallets", key: "pk" },
  PURCHASES_TABLE: { name: "bench-purchases", key: "pk" },
  IDEMPOTENCY_TABLE: { name: "bench-idempotency", key: "id" },
  LIMITS_TABLE: { name: "bench-limits", key: "key" },
};

const peer = (name: "express" | "powertools" | "fastify" | "hono" | "empty", title: string): Stack => ({
  name,
  title,
  entry: pathOf(`peers/lambda/${name}.ts`),
  bundle: asUsual,
  environment: ({ upstreamUrl, upstreamKey }) => ({
    ...Object.fromEntries(Object.entries(peerTables).map(([variable, { name: table }]) => [variable, table])),
    UPSTREAM_BASE_URL: upstreamUrl,
    UPSTREAM_KEY: upstreamKey,
  }),
  prepare: async ({ db }, keys) => {
    for (const { name: table, key } of Object.values(peerTables)) {
      await recreateTable(db, {
        TableName: table,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [{ AttributeName: key, AttributeType: "S" }],
        KeySchema: [{ AttributeName: key, KeyType: "HASH" }],
      });
    }
    const wallet = { pk: "account-1", balance_kobo: FUNDED_KOBO };
    await db.put({ TableName: peerTables.WALLETS_TABLE.name, Item: wallet });
    const made = Array.from({ length: keys }, () => randomBytes(32).toString("base64url"));
    for (const key of made) {
      const pk = createHash("sha256").update(key).digest("hex");
      const Item = { pk, account_id: wallet.pk, whitelist: ["127.0.0.1/32"] };
      await db.put({ TableName: peerTables.KEYS_TABLE.name, Item });
    }
    return made;
  },
});

/** Creates an empty table and replaces an existing one. */
const recreateTable = async (db: DynamoDBDocument, table: CreateTableCommandInput): Promise<void> => {
  try {
    await db.send(new DeleteTableCommand({ TableName: table.TableName }));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  }
  await db.send(new CreateTableCommand(table));
};

const served = (stack: Stack): Stack => ({ ...stack, server: [pathOf("peers/server.ts"), stack.name] });

/** This service is the first: the others are compared with it. */
export const stacks: readonly Stack[] = [
  service,
  serviceBySdk,
  floor,
  served(peer("express", "express, the least one can write")),
  peer("powertools", "no framework, Powertools, rate-limiter-flexible"),
  served(peer("fastify", "fastify, Powertools, rate-limiter-flexible")),
  served(peer("hono", "hono, Powertools, rate-limiter-flexible")),
];

export const emptyStack = peer("empty", "a handler that does nothing");
