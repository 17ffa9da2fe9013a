import { defineConfig } from "vite";

// biome-ignore lint/style/noDefaultExport: Vite reads its configuration from the default export.
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  oxc: { jsx: { runtime: "automatic" } },
  build: {
    // A data: URL would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // 0031 limits the first page to 300 KB compressed, and a test holds it.
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      // Libraries mark their files for servers that render pages; nothing here does.
      checks: { moduleLevelDirective: false },
      // app/zod-settings.ts has to run before schemas are made, also of those in other files of the build.
      output: { strictExecutionOrder: true },
    },
  },
});
