import { defineConfig } from "vitest/config";
import { ClosingLine } from "../builders/run/closing-line.ts";
import { limits } from "../builders/run/limits.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/integration/**/*.test.ts"],
    // It counts 4 write units for an item of a transaction, where AWS documents 2; see decision 0008.
    exclude: ["test/integration/tools/costs/budgets.test.ts"],
    setupFiles: ["test/builders/run/log-to-console.ts"],
    reporters: ["default", new ClosingLine()],
    silent: "passed-only",
    ...limits,
    maxWorkers: 1,
  },
});
