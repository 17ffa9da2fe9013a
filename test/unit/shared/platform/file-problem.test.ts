import { mkdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fileProblem } from "../../../../shared/platform/file-problem.ts";

const problemOf = (work: () => unknown): string => {
  try {
    work();
    return "none";
  } catch (error) {
    return error instanceof Error ? fileProblem(error) : "no error";
  }
};

test("what is wrong with a file is said in words, with the code of the system", () => {
  expect(problemOf(() => readFileSync("/none"))).toBe("it does not exist (ENOENT)");
  expect(problemOf(() => readFileSync("/"))).toBe("it is a folder (EISDIR)");
  expect(problemOf(() => mkdirSync("/dev/null/data"))).toBe("a part of its path is no folder (ENOTDIR)");
  expect(fileProblem(new Error("unable to open database file"))).toBe("unable to open database file");
});
