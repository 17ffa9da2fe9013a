import { folder, mutated } from "./folders.ts";

/** @type {import("@stryker-mutator/api/core").PartialStrykerOptions} */
// biome-ignore lint/style/noDefaultExport: Stryker reads its configuration from the default export.
export default {
  mutate: [...mutated.mutate],
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner", "./test/mutation/ignore-words.mjs"],
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  // Schemas and constants are evaluated when their module loads: each such mutant would cost a run of all tests.
  ignoreStatic: true,
  ignorers: ["words"],
  // The compiler checks kinds and statuses, and the first call of a table checks keys and expressions: an empty string
  // there dies at once and measures no test. The other strings are prose.
  mutator: { excludedMutations: ["StringLiteral"] },
  concurrency: 1,
  timeoutMS: 15_000,
  timeoutFactor: 2,
  tempDirName: ".local/mutation/tree",
  // Stryker would rewrite the tsconfig with an API that TypeScript 7 does not have.
  tsconfigFile: "no-tsconfig.json",
  // The rest is copied, because the tests need it. A second biome.json would make a second project. Maven, which may run
  // beside this, deletes files in clients.
  ignorePatterns: [".local", ".ci", "clients", "docs", "biome.json"],
  incremental: true,
  incrementalFile: `.local/mutation/${folder}-incremental.json`,
  reporters: ["clear-text", "progress-append-only", "json", "html"],
  jsonReporter: { fileName: `.local/mutation/${folder}.json` },
  htmlReporter: { fileName: `.local/mutation/${folder}.html` },
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
};
