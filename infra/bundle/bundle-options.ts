import type { BuildOptions } from "esbuild";
import { docsPageForBundle } from "../../functions/serve-docs/docs-page.ts";
import type { FunctionName } from "../functions.ts";
import { builtins } from "./builtins.ts";
import { consoleFiles } from "./console-files.ts";
import { projectRoot } from "./project-root.ts";
import { SDK_FILE } from "./sdk-file.ts";

/** Imported by what the bundles of functions leave out. esbuild wraps each module that this `import()` reaches. */
const EVENT_STREAMS = "@smithy/core/event-streams";

/** What else bundles have in place of modules. */
const alias = {
  "#aws-sdk": `./${SDK_FILE}`,
  "@aws-sdk/credential-provider-node": `${projectRoot}infra/bundle/function-credentials.ts`,
} as const;
const RETRY_ERRORS = "dist-es/submodules/retry/service-error-classification/service-error-classification.js";

/**
 * How every function is bundled, and the SDK, because that starts faster than the one of the runtime. A module that a
 * bundle imports and does not use is left out, unless package.json lists it among those with side effects.
 */
export const bundleOptions = {
  bundle: true,
  minify: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // The ES modules of zod and the SDK are tree-shaken; the default prefers their CommonJS.
  mainFields: ["module", "main"],
  // A file of its own beside the bundle, which is loaded when it is needed (decision 0025).
  external: [`./${SDK_FILE}`, EVENT_STREAMS],
  // The SDK's import() of node:http would also load fetch, which is unused and costs 25 ms with plain-http endpoints.
  supported: { "dynamic-import": false },
  // Of a whole module, what is not among its exports would be undefined.
  logOverride: { "import-is-undefined": "error" },
  alias: {
    ...alias,
    ...builtins,
    // What is used of it. The middleware beside it runs code when it is loaded, so that esbuild would keep it: 7 KB.
    "@smithy/core/retry": `${projectRoot}node_modules/@smithy/core/${RETRY_ERRORS}`,
  },
  // Some dependencies still call require, which an ES module does not have.
  banner: { js: 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);' },
} as const satisfies BuildOptions;

/** How code is bundled that has a client of the SDK, which retries. */
export const clientOptions = { ...bundleOptions, alias: { ...alias, ...builtins } } as const satisfies BuildOptions;

/** How the SDK's file is bundled: as CommonJS, because Lambda's Node does not let `require` load an ES module. */
export const sdkOptions = {
  ...clientOptions,
  alias,
  format: "cjs",
  banner: {},
  external: [],
  entryPoints: [`${projectRoot}shared/platform/aws/sdk.ts`],
} as const satisfies BuildOptions;

/** How one function is bundled. Only serve-console contains the console's pages, which take seconds to build. */
export const bundleOptionsOf = (name: FunctionName) =>
  ({
    ...bundleOptions,
    entryPoints: [functionEntry(name)],
    // The client of S3 imports event streams statically.
    ...(name === "copy-audit" && { ...clientOptions, external: [`./${SDK_FILE}`] }),
    define: {
      ...(name === "serve-docs" && { BUNDLED_DOCS_PAGE: JSON.stringify(docsPageForBundle()) }),
      ...(name === "serve-console" && { CONSOLE_FILES: JSON.stringify(consoleFiles()) }),
    },
  }) satisfies BuildOptions;

export const functionEntry = (name: FunctionName): string => `${projectRoot}functions/${name}/handler.ts`;
