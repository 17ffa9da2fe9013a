import { defineConfig } from "vitest/config";
import { ClosingLine } from "../builders/closing-line.ts";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/faults/long/*.long.ts"],
    reporters: ["default", new ClosingLine()],
    // What a system's functions log is kept from the console; the rest says how far the run is.
    disableConsoleIntercept: true,
    maxWorkers: 2,
  },
});
