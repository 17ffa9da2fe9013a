import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What covers the mutated folders without waiting for real time, without other processes and without load: cheapest first. */
const FILES = [
  "test/unit/naming.test.ts",
  "test/unit/transaction.test.ts",
  "test/unit/ledger.test.ts",
  "test/unit/deliver.test.ts",
  "test/unit/receive-status.test.ts",
  "test/unit/upstream-gate.test.ts",
  "test/unit/lookup-cursor.test.ts",
  "test/integration/index-pages.test.ts",
  "test/integration/wallet.test.ts",
  "test/integration/status-queue.test.ts",
  "test/integration/transactions.test.ts",
  "test/integration/operator.test.ts",
  "test/integration/watch-ledger.test.ts",
  "test/integration/place-order.test.ts",
  "test/integration/buy-data.test.ts",
  "test/integration/verdicts.test.ts",
  "test/integration/ledger-writes.test.ts",
  "test/integration/proofs.test.ts",
  "test/integration/status-in.test.ts",
  "test/integration/airtime.test.ts",
  "test/integration/purchase.test.ts",
];

/** A mutant dies at the first test that fails: the cheap ones try first. */
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
    globalSetup: ["test/builders/emulators.ts"],
    // A mutant that waits for ever fails its test before it costs the whole run's patience.
    testTimeout: 10_000,
    sequence: { sequencer: CheapestFirst },
  },
});
