import { existsSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The tests of the mutated folders that need no real time, no other process and no load, cheapest first. */
const ALL = [
  "test/unit/shared/platform/keyed-hashes.test.ts",
  "test/unit/shared/upstream/circuit-breaker.test.ts",
  "test/unit/shared/upstream/rate-limit.test.ts",
  "test/unit/shared/upstream/key-pool.test.ts",
  "test/unit/shared/upstream/classify.test.ts",
  "test/unit/shared/upstream-statement/match-statement.test.ts",
  "test/unit/shared/ledger/transaction.test.ts",
  "test/unit/shared/ledger/schema.test.ts",
  "test/unit/shared/ledger/transact.test.ts",
  "test/unit/shared/queued-orders/send-purchase.test.ts",
  "test/unit/shared/orders/order-response.test.ts",
  "test/unit/shared/orders/log-outcome.test.ts",
  "test/unit/shared/upstream-events/receive-upstream-event.test.ts",
  "test/unit/shared/upstream-events/upstream-admission.test.ts",
  "test/unit/shared/ledger/list-transactions.test.ts",
  "test/integration/shared/ledger/query-index.test.ts",
  "test/integration/shared/ledger/low-balance-threshold.test.ts",
  "test/integration/shared/orders/outcome-queue.test.ts",
  "test/integration/shared/read-account/read-account.test.ts",
  "test/integration/shared/upstream-events/operator-resolution.test.ts",
  "test/integration/shared/reconciliation/reconcile-ledger.test.ts",
  "test/integration/shared/orders/place-order.test.ts",
  "test/integration/shared/purchase/place-purchase.test.ts",
  "test/integration/shared/purchase/buy-data.test.ts",
  "test/integration/shared/upstream-events/apply-upstream-event.test.ts",
  "test/integration/shared/upstream-events/heuristic-match.test.ts",
  "test/integration/shared/upstream-events/stored-event.test.ts",
  "test/integration/shared/ledger/open-transaction.test.ts",
  "test/integration/shared/ledger/settle-transaction.test.ts",
  "test/integration/shared/ledger/ledger-entry.test.ts",
  "test/integration/shared/reconciliation/reconcile-wallet.test.ts",
  "test/integration/functions/receive-upstream-event.test.ts",
  "test/integration/shared/purchase/buy-airtime.test.ts",
];

const FILES = process.env.MUTATION_TESTS === undefined ? ALL : [process.env.MUTATION_TESTS];
const missing = FILES.filter((file) => !existsSync(file));
if (missing.length > 0) throw new Error(`These tests are not in the tree: ${missing.join(", ")}`);

/** The first test that fails kills a mutant, so that cheap tests run first. */
class CheapestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const cost = ({ moduleId }: TestSpecification): number => FILES.findIndex((file) => moduleId.endsWith(file));
    return files.toSorted((one, other) => cost(one) - cost(other));
  }
}

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: FILES,
    setupFiles: ["test/builders/log-to-console.ts"],
    // A mutant that never ends fails its test before the whole run times out.
    testTimeout: 10_000,
    sequence: { sequencer: CheapestFirst },
  },
});
