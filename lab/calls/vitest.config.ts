import { defineConfig } from "vitest/config";
import { ClosingLine } from "../../test/builders/closing-line.ts";
import { limits } from "../../test/builders/limits.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/unit/shared/platform/dynamodb/same-as-sdk.test.ts"],
    reporters: ["default", new ClosingLine()],
    ...limits,
    env: { CALLS: process.env.CALLS ?? "100000" },
  },
});
