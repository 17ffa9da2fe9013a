import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Their files run for minutes, and many of them are short texts: without recorded times the largest file begins. */
const LONG = /\/test\/(faults|e2e|load|contract)\//;

/** Begins with the files that run longest, so that at the end no worker waits for the last one. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
