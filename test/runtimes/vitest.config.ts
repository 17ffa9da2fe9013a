import { defineConfig } from "vitest/config";
import { ClosingLine } from "../builders/closing-line.ts";
import { limits } from "../builders/limits.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/runtimes/**/*.runtime.ts"],
    globalSetup: "test/builders/temporary-files.ts",
    reporters: ["default", new ClosingLine()],
    silent: "passed-only",
    ...limits,
  },
});
