import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Goal: the page answers each requirement of level 1 and 2 once, and each answer says where it is shown. */

/** All of version 5.0.0. Source: https://github.com/OWASP/ASVS, 5.0/docs_en, the JSON file. */
const REQUIREMENTS = `
1.1.1-2, 1.2.1-9, 1.3.1-11, 1.4.1-3, 1.5.1-2, 2.1.1-3, 2.2.1-3, 2.3.1-4, 2.4.1, 3.2.1-2, 3.3.1-4, 3.4.1-6, 3.5.1-5, 3.7.1-2,
4.1.1-3, 4.2.1, 4.3.1-2, 4.4.1-4, 5.1.1, 5.2.1-3, 5.3.1-2, 5.4.1-3, 6.1.1-3, 6.2.1-12, 6.3.1-4, 6.4.1-4, 6.5.1-5, 6.6.1-3,
6.8.1-4, 7.1.1-3, 7.2.1-4, 7.3.1-2, 7.4.1-5, 7.5.1-2, 7.6.1-2, 8.1.1-2, 8.2.1-3, 8.3.1, 8.4.1, 9.1.1-3, 9.2.1-4, 10.1.1-2,
10.2.1-2, 10.3.1-4, 10.4.1-11, 10.5.1-5, 10.6.1-2, 10.7.1-3, 11.1.1-2, 11.2.1-3, 11.3.1-3, 11.4.1-4, 11.5.1, 11.6.1, 12.1.1-3,
12.2.1-2, 12.3.1-4, 13.1.1, 13.2.1-5, 13.3.1-2, 13.4.1-5, 14.1.1-2, 14.2.1-4, 14.3.1-3, 15.1.1-3, 15.2.1-3, 15.3.1-7, 16.1.1,
16.2.1-5, 16.3.1-4, 16.4.1-3, 16.5.1-3, 17.1.1, 17.2.1-4, 17.3.1-2`;

/** `1.2.1-3` is `1.2.1`, `1.2.2`, `1.2.3`. */
const numbersIn = (list: string): readonly string[] =>
  list.split(",").flatMap((range) => {
    const [, section, first, last = first] = /^\s*(\d+\.\d+\.)(\d+)(?:-(\d+))?\s*$/.exec(range) ?? [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${section}${Number(first) + index}`);
  });

const rows = readFileSync("docs/asvs.md", "utf8")
  .split("\n")
  .filter((line) => /^\| \d/.test(line))
  .map((line) => {
    const [, requirements = "", state = "", how = "", shownBy = ""] = line.split("|").map((cell) => cell.trim());
    return { requirements, state, how, shownBy };
  });

test("each requirement of level 1 and 2 is answered once", () => {
  expect(numbersIn(REQUIREMENTS)).toHaveLength(253);
  const answered = rows.flatMap(({ requirements }) => numbersIn(requirements));
  expect(answered.toSorted()).toEqual(numbersIn(REQUIREMENTS).toSorted());
});

test("each answer has a state and a sentence", () => {
  const states = ["met", "company", "AWS", "none", "not met"];
  expect(rows.filter(({ state, how }) => how === "" || !states.includes(state))).toEqual([]);
});
