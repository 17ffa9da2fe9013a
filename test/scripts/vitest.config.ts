import { defineConfig } from "vitest/config";
import { ClosingLine } from "../builders/run/closing-line.ts";
import { limits } from "../builders/run/limits.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/scripts/*.script.ts"],
    reporters: ["default", new ClosingLine()],
    ...limits,
    // Installations wait for the network most of the time.
    maxWorkers: 2,
  },
});
