import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/builders/emulators.ts"],
    testTimeout: 20_000,
    // Two cores: more workers only make timing tests wait for each other.
    maxWorkers: 2,
  },
});
