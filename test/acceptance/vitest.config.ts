import { defineConfig } from "vitest/config";
import { ClosingLine } from "../builders/run/closing-line.ts";
import { limits } from "../builders/run/limits.ts";

/** Started by `npm run acceptance` (tools/acceptance/steps/contract.ts), which names the deployed stage. */
// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/acceptance/contract.ts"],
    reporters: ["default", new ClosingLine()],
    silent: "passed-only",
    ...limits,
  },
});
