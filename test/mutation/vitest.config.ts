import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { mutated } from "./folders.ts";

process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("../../.local/compile-cache", import.meta.url));

/** The first test that fails kills a mutant, so that cheap tests run first: unit tests, then by their last duration. */
class CheapestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification): number => (moduleId.includes("/test/unit/") ? 0 : 1);
    const ms = (file: TestSpecification): number => this.ctx.cache.getTestSpecificationResult(file)?.duration ?? 0;
    return files.toSorted((one, other) => isSlow(one) - isSlow(other) || ms(one) - ms(other));
  }
}

/** A test that runs for longer fails: a mutant may never end. */
const TEST_TIMEOUT_MS = 20_000;

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    include: [...mutated.tests],
    setupFiles: ["test/builders/run/log-to-console.ts", "test/builders/run/leave-nothing.ts"],
    isolate: false,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
    sequence: { sequencer: CheapestFirst },
  },
});
