import { defineConfig } from "vitest/config";
import { ClosingLine } from "../builders/closing-line.ts";

/** Started by `npm run acceptance` (tools/acceptance/steps/contract.ts), which names the deployed stage. */
// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/acceptance/contract.ts"],
    reporters: ["default", new ClosingLine()],
    silent: "passed-only",
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
