import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/builders/run/closing-line.ts";
import { limits } from "./test/builders/run/limits.ts";
import { LongestFirst } from "./test/builders/run/longest-first.ts";

// Workers and the commands that tests start inherit it, and spend half the CPU time on loading the same modules.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL(".local/compile-cache", import.meta.url));

/** These run the whole service, whose calls to emulators take longer on a busy machine. */
const isServed = (file: string): boolean =>
  /^test\/(contract|e2e)\//.test(file) || /\b(startTestService|serviceForTests)\b/.test(readFileSync(file, "utf8"));
/** A file that replaces modules would replace them for the files after it too. */
const replacesModules = (file: string): boolean => /\bvi\.(mock|resetModules)\b/.test(readFileSync(file, "utf8"));

const files = globSync("test/**/*.test.ts", { exclude: ["**/node_modules/**"] });
const project = ({ served, isolate }: { readonly served: boolean; readonly isolate: boolean }) => ({
  // With a literal type, as Vitest wants it.
  extends: true as const,
  test: {
    name: `${served ? "served" : "direct"}, ${isolate ? "isolated" : "sharing modules"}`,
    include: files.filter((file) => isServed(file) === served && replacesModules(file) === isolate),
    // Loading modules, and synthesising stages, would take most of the CPU time.
    isolate,
    setupFiles: [
      ...(served ? ["test/builders/run/long-aws-timeouts.ts"] : []),
      "test/builders/run/log-to-console.ts",
      "test/builders/iam/refuse-denied-calls.ts",
      ...(isolate ? [] : ["test/builders/run/leave-nothing.ts"]),
    ],
  },
});

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
    globalSetup: "test/builders/run/temporary-files.ts",
    // More than the cores: most files wait for emulators, child processes and deadlines. `.ci/run` has a second lane
    // (decision 0008 has what three, four and five took).
    maxWorkers: 4,
    projects: [true, false].flatMap((served) => [false, true].map((isolate) => project({ served, isolate }))),
  },
});
