import type { Reporter, TestModule } from "vitest/node";

/** Ends the run with one line that people and machines can read: `N passed, N failed`. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const results = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
    const count = (state: string): number => results.filter((result) => result === state).length;
    // A file that could not be loaded has no tests that could fail.
    const broken = modules.filter((module) => module.errors().length > 0).length + unhandledErrors.length;
    const skipped = count("skipped");
    const line = `${count("passed")} passed, ${count("failed") + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    // After the default reporter's summary, which is written in the same moment.
    process.once("exit", () => console.log(`\n${line}`));
  }
}
