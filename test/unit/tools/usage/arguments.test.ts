import { afterEach, describe, expect, test, vi } from "vitest";
import { knownNames, onlyOption, readArguments, wholeNumber } from "../../../../tools/usage/arguments.ts";

/** Goal: a command says in a sentence what is wrong with its arguments, and does nothing. */
class Exit extends Error {}
const { argv } = process;
afterEach(() => {
  process.argv = argv;
});

/** What a command with an option is given or says, and its exit code. */
const outcomeOf = (args: readonly string[]) => {
  const log = vi.spyOn(console, "log").mockReturnValue();
  const error = vi.spyOn(console, "error").mockReturnValue();
  const exit = vi.spyOn(process, "exit").mockImplementation(() => {
    throw new Exit();
  });
  process.argv = ["node", "command.ts", ...args];
  let given: string | undefined;
  try {
    given = readArguments("npm run shop -- [--json]", (words) => onlyOption(words, "--json", "--short") ?? "none");
  } catch (thrown) {
    if (!(thrown instanceof Exit)) throw thrown;
  }
  return { given, exits: exit.mock.calls.flat(), stdout: log.mock.calls.flat(), stderr: error.mock.calls.flat() };
};

test.each([
  [[], { given: "none", exits: [], stdout: [], stderr: [] }],
  [["--json"], { given: "--json", exits: [], stdout: [], stderr: [] }],
  [["--json", "--help"], { given: undefined, exits: [0], stdout: ["npm run shop -- [--json]"], stderr: [] }],
  [
    ["--jsn"],
    { exits: [2], stderr: ['There is no option "--jsn". Known: --json, --short.\nUsage: npm run shop -- [--json]'] },
  ],
  [["--json", "--short"], { exits: [2], stderr: ["Give one option at a time.\nUsage: npm run shop -- [--json]"] }],
])("a command with the arguments %j is given, or refuses and says: %j", (args, expected) => {
  expect(outcomeOf(args)).toMatchObject(expected);
});

describe("a number", () => {
  test.each(["1", "007", "10"])("%j is taken", (text) => {
    expect(wholeNumber("--seed", text, 0, 10)).toBe(Number(text));
  });

  test.each(["", " ", "11", "-1", "1.5", "1e1", "0x1", "seven", "Infinity"])("%j is refused", (text) => {
    expect(() => wholeNumber("--seed", text, 0, 10)).toThrow("--seed must be a whole number from 0 to 10.");
  });
});

test.each(["constructor", "toString", "", "warm ", "Warm"])("the name %j, which no table has, is refused", (name) => {
  expect(() => knownNames("part", ["warm", name], ["warm", "memory"])).toThrow(
    `There is no part "${name}". Known: warm, memory.`,
  );
});
