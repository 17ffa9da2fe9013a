import { fileURLToPath } from "node:url";
import type { BuildOptions } from "esbuild";
import { docsPageForBundle } from "../../functions/serve-docs/docs-page.ts";

/** The project's folder, with a slash at its end. */
export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** How every function is bundled, for AWS and for the tests that weigh the bundles. The SDK is in the bundle: it starts faster. */
export const bundleOptions = {
  bundle: true,
  minify: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // With zod's and the SDK's ES modules, unused parts fall away; the default prefers their CommonJS.
  mainFields: ["module", "main"],
  // The SDK's import() of node:http would also load fetch, which nobody uses: 25 ms where AWS is reached by plain http.
  supported: { "dynamic-import": false },
  inject: [`${projectRoot}infra/bundle/zod-without-compiling.ts`],
  alias: { "@aws-sdk/credential-provider-node": `${projectRoot}infra/bundle/function-credentials.ts` },
  // Used by serve-docs alone; the others do not get it.
  define: { BUNDLED_DOCS_PAGE: JSON.stringify(docsPageForBundle()) },
  // Some dependencies still call require; an ES module has none of its own.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
} as const satisfies BuildOptions;

/** The entry of a function's bundle. */
export const functionEntry = (name: string): string => `${projectRoot}functions/${name}/handler.ts`;
