type Mutated = {
  /** What is mutated. */
  readonly mutate: readonly string[];
  /** The tests that run for it, of which none needs another process or load. */
  readonly tests: readonly string[];
};

const filesOf = (folder: string): readonly string[] => [`shared/${folder}/*.ts`];
const testsOf = (...folders: readonly string[]): readonly string[] =>
  folders.map((folder) => `test/{unit,integration}/shared/${folder}/*.test.ts`);
const integrationTests = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `test/integration/${name}.test.ts`);
const own = (folder: string): Mutated => ({ mutate: filesOf(folder), tests: testsOf(folder) });

/** What is mutated together, by its name. */
export const folders: Readonly<Record<string, Mutated>> = {
  orders: {
    mutate: filesOf("orders"),
    tests: [
      ...testsOf("orders"),
      "test/integration/shared/purchase/place-purchase.test.ts",
      "test/integration/shared/queued-orders/order-gate.test.ts",
      "test/unit/shared/queued-orders/send-purchase.test.ts",
    ],
  },
  purchase: {
    mutate: filesOf("purchase"),
    tests: [...testsOf("purchase", "prices"), ...integrationTests("shared/ledger/duplicate-guard")],
  },
  "queued-orders": {
    mutate: filesOf("queued-orders"),
    tests: [...testsOf("queued-orders"), "test/integration/shared/purchase/place-purchase.test.ts"],
  },
  "upstream-events": {
    mutate: filesOf("upstream-events"),
    tests: [
      ...testsOf("upstream-events"),
      ...integrationTests(
        "shared/actions/subjects",
        "shared/actions/transactions",
        "shared/actions/upstream-events",
        "shared/ledger/wallet-seal",
      ),
    ],
  },
  ledger: {
    mutate: filesOf("ledger"),
    tests: [
      ...testsOf("ledger", "read-account", "periods", "audit-stream"),
      ...integrationTests(
        "shared/access/accounts",
        "shared/access/keys",
        "shared/actions/audit",
        "shared/actions/proposals",
        "shared/actions/transactions",
        "shared/actions/wallet",
        "shared/queued-orders/queue-store",
        "shared/reconciliation/phone-retention",
        "shared/reconciliation/reconcile-wallet",
        "shared/upstream-events/apply-outcome-message",
        "shared/upstream-events/apply-upstream-event",
        "shared/upstream-events/heuristic-match",
        "tools/admin/carry-over/wallets",
      ),
    ],
  },
  access: {
    mutate: filesOf("access"),
    tests: [
      ...testsOf("access"),
      ...integrationTests(
        "shared/actions/access",
        "shared/actions/accounts",
        "shared/actions/keys",
        "shared/console/authorisation",
        "tools/admin/reconcile-keys",
      ),
    ],
  },
  webhooks: {
    mutate: filesOf("webhooks"),
    tests: [
      ...testsOf("webhooks"),
      ...integrationTests(
        "functions/enqueue-webhooks",
        "shared/actions/deliveries",
        "shared/actions/webhook",
        "shared/catalog/refresh-catalog",
      ),
    ],
  },
  prices: {
    mutate: filesOf("prices"),
    tests: [...testsOf("prices"), ...integrationTests("shared/actions/prices")],
  },
  upstream: {
    mutate: ["circuit-breaker", "classify", "key-pool", "rate-limit"].map((name) => `shared/upstream/${name}.ts`),
    tests: ["test/unit/shared/upstream/*.test.ts"],
  },
  "upstream-lookup": own("upstream-lookup"),
  "upstream-statement": own("upstream-statement"),
  reconciliation: own("reconciliation"),
  periods: {
    mutate: filesOf("periods"),
    tests: [...testsOf("periods"), ...integrationTests("tools/admin/period-export", "tools/local/sample-books")],
  },
  margin: {
    mutate: filesOf("margin"),
    tests: [
      ...testsOf("margin"),
      ...integrationTests(
        "functions/reconcile-ledger",
        "shared/actions/operations",
        "shared/actions/report-page",
        "tools/admin/carry-over/payments",
      ),
    ],
  },
  catalog: {
    mutate: filesOf("catalog"),
    tests: [...testsOf("catalog"), ...integrationTests("shared/actions/operations", "shared/actions/prices")],
  },
  identity: own("identity"),
  notifications: own("notifications"),
  actions: own("actions"),
  "keyed-hashes": {
    mutate: ["shared/platform/keyed-hashes.ts"],
    tests: ["test/unit/shared/platform/keyed-hashes.test.ts"],
  },
};

/** One function and one file of tests, which show that mutation testing works. */
const short: Mutated = {
  mutate: ["shared/orders/order-response.ts:6-12"],
  tests: ["test/unit/shared/orders/order-response.test.ts"],
};

/** The name of what is mutated in this run. */
export const folder = process.env.MUTATION_FOLDER ?? "short";
export const mutated: Mutated = folders[folder] ?? short;
