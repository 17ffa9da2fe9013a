import { defineConfig } from "vitest/config";
import { ClosingLine } from "../builders/run/closing-line.ts";
import { limits } from "../builders/run/limits.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/deploy/*.deploy.ts"],
    globalSetup: ["test/deploy/install-emulator.ts"],
    setupFiles: ["test/builders/run/log-to-console.ts"],
    reporters: ["default", new ClosingLine()],
    silent: "passed-only",
    ...limits,
    // Each file has an emulator of its own, and waits for it most of the time.
    maxWorkers: 3,
  },
});
