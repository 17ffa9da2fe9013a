import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/builders/closing-line.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/builders/emulators.ts"],
    reporters: ["default", new ClosingLine()],
    // The functions log as they do in production; only a failing test shows it.
    silent: "passed-only",
    testTimeout: 20_000,
    // Two cores: more workers only make timing tests wait for each other.
    maxWorkers: 2,
  },
});
