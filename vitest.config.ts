import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/builders/closing-line.ts";
import { limits } from "./test/builders/limits.ts";
import { LongestFirst } from "./test/builders/longest-first.ts";

// Workers and the commands that tests start inherit it, and spend half the CPU time on loading the same modules.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL(".local/compile-cache", import.meta.url));

const ALL = "test/**/*.test.ts";
/** A file that replaces modules would replace them for the files after it too. */
const replacesModules = (file: string): boolean => /\bvi\.(mock|resetModules)\b/.test(readFileSync(file, "utf8"));
const sharing = globSync("test/{unit,integration,strict,faults}/**/*.test.ts").filter((file) => !replacesModules(file));

const setupFiles = ["test/builders/log-to-console.ts", "test/builders/refuse-denied-calls.ts"];
/** These run the whole service, whose calls to emulators take longer on a busy machine. */
const served = ["test/{contract,e2e}/**/*.test.ts"];

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  // The examples import the client as an app does.
  resolve: { alias: { "@airtime-service/client": fileURLToPath(new URL("client/src/index.ts", import.meta.url)) } },
  test: {
    reporters: ["default", new ClosingLine()],
    // The functions log as they do in production; only a failing test shows it.
    silent: "passed-only",
    ...limits,
    sequence: { sequencer: LongestFirst },
    globalSetup: "test/builders/temporary-files.ts",
    // More than the cores: most files wait for emulators, child processes and deadlines. `.ci/run` has a second lane
    // (decision 0073 has what three, four and five took).
    maxWorkers: 4,
    projects: [
      {
        extends: true,
        // Loading modules, and synthesising stages, would take most of the CPU time.
        test: {
          name: "sharing modules",
          include: sharing,
          isolate: false,
          setupFiles: [...setupFiles, "test/builders/leave-nothing.ts"],
        },
      },
      {
        extends: true,
        test: { name: "served", include: served, setupFiles: ["test/builders/long-aws-timeouts.ts", ...setupFiles] },
      },
      {
        extends: true,
        test: { name: "isolated", include: [ALL], exclude: ["**/node_modules/**", ...served, ...sharing], setupFiles },
      },
    ],
  },
});
