import type { ActionContext, ConsoleRequest } from "../../../shared/actions/action-context.ts";
import { catalogStore } from "../../../shared/catalog/catalog-store.ts";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import type { Actor } from "../../../shared/ledger/audit.ts";
import type { WithSdk } from "../../../shared/platform/aws/sdk.ts";
import { openSqs } from "../../../shared/platform/aws/sdk.ts";
import { queueUrls } from "../../../shared/platform/queue-names.ts";
import { profileOf } from "../../../shared/upstream/profile.ts";
import type { freshTables } from "../dynamodb/tables.ts";
import { NOON_MS } from "../run/noon.ts";
import { FACE_VALUES, SOME_IDENTITY_PRICES } from "../upstream/upstream-costs.ts";
import { aSecret, checksumKey, keyedHashes } from "./secrets.ts";

/** Nothing is there: a test that uses queues gives its own. */
const QUEUES = "http://127.0.0.1:9/000000000000";
const SEALING_KEY = Buffer.alloc(32, 7).toString("base64");

/** The context of an action whose ledger has a client of the SDK. */
export type TestContext = ActionContext & { readonly ledger: WithSdk };

/** The context of an operator's action on these tables. */
export const anActionContext = (
  tables: Awaited<ReturnType<typeof freshTables>>,
  changes: Partial<TestContext> & { readonly clock?: () => number; readonly by?: Actor } = {},
): TestContext => {
  const { clock = () => NOON_MS, by = { by: "ada" }, ...rest } = changes;
  const { db, accessTable, ledgerTable, auditTable, cacheTable } = tables;
  const accounts = { db, accessTable, ledgerTable, clock, checksumKey };
  return {
    actor: () => by,
    capacity: "operator",
    ledger: { db, table: ledgerTable, auditTable, clock },
    accounts,
    endpoints: {
      accounts,
      webhookSealingKey: aSecret(SEALING_KEY),
      clock,
    },
    addressRules: { allowed: [], refusedHosts: [], resolve: async () => ["93.184.216.34"] },
    catalog: catalogStore(db, cacheTable),
    purchases: { db, table: cacheTable, initially: "on" },
    queueMinutes: 15,
    costs: FACE_VALUES,
    identityPrices: SOME_IDENTITY_PRICES,
    probe: {
      baseUrl: "http://127.0.0.1:1/v1",
      profile: profileOf({}),
      testKey: aSecret(undefined),
    },
    operatorActMax: koboFromNaira(1_000_000),
    floatAlarmHours: 12,
    timeZone: "Africa/Lagos",
    facts: { sells: true, workers: "on", hasConsole: true },
    keyedHashes,
    sqs: openSqs(),
    queues: queueUrls({ outcomes: `${QUEUES}/outcomes`, delivery: `${QUEUES}/delivery` }),
    ...rest,
  };
};

/** What the console knows of the request of an account's owner. */
export const anOwnersRequest = (
  changes: Partial<ConsoleRequest> = {},
): Pick<ActionContext, "capacity" | "request"> => ({
  capacity: "owner",
  request: {
    by: "bola@example.com",
    identity: "bola",
    actor: { by: "bola@example.com", person: { issuer: "https://login.example.com/", sub: "bola" } },
    roles: [],
    owner: { email: "bola@example.com", groups: [] },
    ownedAccounts: async () => [],
    sourceIp: "203.0.113.7",
    stage: { name: "local" },
    ...changes,
  },
});
