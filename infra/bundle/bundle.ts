import type { BuildOptions } from "esbuild";
import { docsPageForBundle } from "../../functions/serve-docs/docs-page.ts";
import type { FunctionName } from "../functions.ts";
import { consoleFiles } from "./console-files.ts";
import { projectRoot } from "./project-root.ts";

/** How every function is bundled. The SDK is bundled too, because that starts faster. */
export const bundleOptions = {
  bundle: true,
  minify: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // The ES modules of zod and the SDK are tree-shaken; the default prefers their CommonJS.
  mainFields: ["module", "main"],
  // The SDK's import() of node:http would also load fetch, which is unused and costs 25 ms with plain-http endpoints.
  supported: { "dynamic-import": false },
  inject: [`${projectRoot}infra/bundle/zod-without-compiling.ts`],
  alias: { "@aws-sdk/credential-provider-node": `${projectRoot}infra/bundle/function-credentials.ts` },
  // Only serve-docs uses it; unused definitions are not bundled.
  define: { BUNDLED_DOCS_PAGE: JSON.stringify(docsPageForBundle()) },
  // Some dependencies still call require, which an ES module does not have.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
} as const satisfies BuildOptions;

/** How one function is bundled. Only serve-console contains the console's pages, which take seconds to build. */
export const bundleOptionsOf = (name: FunctionName) =>
  ({
    ...bundleOptions,
    entryPoints: [functionEntry(name)],
    define: {
      ...bundleOptions.define,
      ...(name === "serve-console" && { CONSOLE_FILES: JSON.stringify(consoleFiles()) }),
    },
  }) satisfies BuildOptions;

/** The entry of a function's bundle. */
export const functionEntry = (name: FunctionName): string => `${projectRoot}functions/${name}/handler.ts`;
