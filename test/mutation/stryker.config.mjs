/** @type {import("@stryker-mutator/api/core").PartialStrykerOptions} */
// biome-ignore lint/style/noDefaultExport: Stryker reads its configuration from the default export.
export default {
  mutate: ["shared/wallet/**/*.ts", "shared/purchase/**/*.ts", "shared/status/**/*.ts"],
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner", "./test/mutation/ignore-words.mjs"],
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  // Schemas and constants are read once, when a module is loaded: each such mutant would cost a run of every test.
  ignoreStatic: true,
  ignorers: ["words"],
  // Kinds and statuses are checked by the compiler, keys and expressions by the first call of the table: an empty text there dies at
  // once and says nothing of the tests. What is left are words.
  mutator: { excludedMutations: ["StringLiteral"] },
  concurrency: 1,
  timeoutMS: 15_000,
  timeoutFactor: 2,
  tempDirName: ".local/mutation/tree",
  // It would rewrite the tsconfig with TypeScript's API, which TypeScript 7 has not. Nothing here needs it.
  tsconfigFile: "no-tsconfig.json",
  // The rest is the product and its tests; a second biome.json would be taken for a second project.
  ignorePatterns: [".local", ".ci", "docs", "biome.json"],
  incremental: true,
  incrementalFile: ".local/mutation/incremental.json",
  reporters: ["clear-text", "progress-append-only", "json", "html"],
  jsonReporter: { fileName: ".local/mutation/report.json" },
  htmlReporter: { fileName: ".local/mutation/report.html" },
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
};
