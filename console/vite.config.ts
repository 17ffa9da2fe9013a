import { join } from "node:path";
import { defineConfig } from "vite";
import { runbookSections } from "./runbook-sections.ts";

// biome-ignore lint/style/noDefaultExport: Vite reads its configuration from the default export.
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [runbookSections(join(import.meta.dirname, "../docs/runbook.md"))],
  oxc: { jsx: { runtime: "automatic" } },
  build: {
    // A data: URL would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    // 0031 limits the first page to 250 KB compressed, and a test holds it.
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      // Libraries mark their files for servers that render pages; nothing here does.
      checks: { moduleLevelDirective: false },
      output: {
        // A page needs three scripts: the libraries, what pages share, and its own.
        codeSplitting: {
          groups: [
            { name: "libraries", test: /node_modules/ },
            { name: "shared", minShareCount: 2 },
          ],
        },
      },
    },
  },
});
