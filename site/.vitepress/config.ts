import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { anchorOf } from "../../tools/site/site-markdown.ts";

/** What `npm run site` has written from the documents of this repository (tools/site/write-sources.ts). */
const sources = new URL("../../.local/site/", import.meta.url);

// biome-ignore lint/style/noDefaultExport: VitePress reads its configuration from the default export.
export default defineConfig({
  title: "Airtime, Data and Identity",
  description: "Sell airtime and data bundles, and verify identities, from your own AWS account",
  lang: "en",
  base: process.env.SITE_BASE ?? "/",
  srcDir: "../.local/site/pages",
  outDir: "../.local/site/dist",
  cacheDir: "../.local/site/cache",
  // The Markdown files in it are copies for language models.
  srcExclude: ["public/**"],
  // Anchors and pictures are checked in the documents themselves (test/unit/docs/links.test.ts).
  ignoreDeadLinks: process.env.SITE_IS_SHORT === "true",
  markdown: {
    anchor: { slugify: anchorOf },
    // The documents are GitHub's Markdown: `<account>` is text, braces are text, and a file's name is no link.
    html: false,
    linkify: false,
    attrs: { disable: true },
    config: (markdown) => {
      const fence = markdown.renderer.rules.fence;
      markdown.renderer.rules.fence = (tokens, index, ...rest) => {
        const token = tokens[index];
        return token?.info.trim() === "mermaid"
          ? `<Diagram source="${encodeURIComponent(token.content)}" />`
          : (fence?.(tokens, index, ...rest) ?? "");
      };
    },
  },
  themeConfig: {
    sidebar: JSON.parse(readFileSync(new URL("sidebar.json", sources), "utf8")),
    outline: [2, 3],
    search: { provider: "local" },
  },
});
