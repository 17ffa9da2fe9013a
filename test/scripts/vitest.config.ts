import { defineConfig } from "vitest/config";
import { ClosingLine } from "../builders/closing-line.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/scripts/*.script.ts"],
    reporters: ["default", new ClosingLine()],
    // Ends a command that hangs; the longest takes about half a minute.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
