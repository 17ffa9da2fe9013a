import { defineConfig } from "vitest/config";
import { ClosingLine } from "../../test/builders/closing-line.ts";
import { limits } from "../../test/builders/limits.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["lab/faults/*.long.ts", "test/faults/realities.test.ts"],
    env: { REALITIES: "long" },
    setupFiles: ["test/builders/log-to-console.ts", "test/builders/refuse-denied-calls.ts"],
    globalSetup: "test/builders/temporary-files.ts",
    reporters: ["default", new ClosingLine()],
    // The functions' log lines are not printed; other output shows the progress.
    disableConsoleIntercept: true,
    ...limits,
    maxWorkers: 2,
  },
});
