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
  },
});
