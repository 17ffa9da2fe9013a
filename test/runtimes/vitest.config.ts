import { defineConfig } from "vitest/config";
import { ClosingLine } from "../builders/run/closing-line.ts";
import { limits } from "../builders/run/limits.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/runtimes/**/*.runtime.ts"],
    globalSetup: "test/builders/run/temporary-files.ts",
    reporters: ["default", new ClosingLine()],
    silent: "passed-only",
    ...limits,
  },
});
