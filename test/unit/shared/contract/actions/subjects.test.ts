import { expect, test } from "vitest";
import { subjectsActions } from "../../../../../shared/contract/actions/subjects.ts";

const issuesOf = (kind: string, number: string, why: string) =>
  Object.values(subjectsActions).flatMap(({ input }) => {
    const { error } = input.safeParse({ kind, number, why });
    return error?.issues.map(({ path, message }) => `${path.join()}: ${message}`) ?? [];
  });

const RECORDED = "why: Must not contain the virtual NIN: it is recorded";

test.each([
  ["as it is", "request AB12CD34EF56GH78"],
  ["in small letters and parts", "request ab12-cd34 ef56.gh78"],
  ["in digits of another alphabet", "AB１２CD３４EF５６GH７８"],
])("a reason that has the virtual NIN %s is refused, because it is kept in the audit log", (_, why) => {
  expect(issuesOf("nin", " AB12CD34EF56GH78 ", why)).toEqual([RECORDED, RECORDED]);
});

test("a reason without it is taken, and one with a long number is refused", () => {
  expect(issuesOf("nin", "AB12CD34EF56GH78", "request 2026-014")).toEqual([]);
  expect(issuesOf("nin", "12345678901", "request of 123-4567-8901")).toHaveLength(2);
});
