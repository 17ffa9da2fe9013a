import { defineConfig } from "vitest/config";
import { ClosingLine } from "../../test/builders/run/closing-line.ts";
import { limits } from "../../test/builders/run/limits.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["lab/load/*.load.ts"],
    setupFiles: ["test/builders/run/log-to-console.ts"],
    reporters: ["default", new ClosingLine()],
    ...limits,
    // One at a time, so that the runs do not affect each other's results.
    fileParallelism: false,
  },
});
