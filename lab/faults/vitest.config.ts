import { defineConfig } from "vitest/config";
import { ClosingLine } from "../../test/builders/run/closing-line.ts";
import { limits } from "../../test/builders/run/limits.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["lab/faults/*.long.ts", "test/faults/realities.test.ts"],
    env: { REALITIES: "long" },
    setupFiles: ["test/builders/run/log-to-console.ts", "test/builders/iam/refuse-denied-calls.ts"],
    globalSetup: "test/builders/run/temporary-files.ts",
    reporters: ["default", new ClosingLine()],
    // The functions' log lines are not printed; other output shows the progress.
    disableConsoleIntercept: true,
    ...limits,
    maxWorkers: 2,
  },
});
