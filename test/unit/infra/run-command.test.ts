import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterEach, expect, test, vi } from "vitest";
import { runCommand } from "../../../infra/run-command.ts";
import { SettingsError } from "../../../infra/settings-error.ts";

const { exitCode } = process;
afterEach(() => {
  process.exitCode = exitCode;
});

/** What a command that fails by this error says, and its exit code. */
const outcomeOf = async (fail: () => unknown) => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  await runCommand(async () => {
    await fail();
    return 0;
  });
  const said = write.mock.calls.map(([text]) => text).join("");
  write.mockRestore();
  return { said, exitCode: process.exitCode };
};

const refused = Object.assign(new Error("no permission"), { name: "AccessDeniedException", $fault: "client" });
const fetchFailed = (cause: Error, code: string) =>
  new TypeError("fetch failed", { cause: Object.assign(cause, { code }) });
const unreachable = fetchFailed(new Error("connect ECONNREFUSED 127.0.0.1:1"), "ECONNREFUSED");
const unreachableAtAll = fetchFailed(new AggregateError([]), "ECONNREFUSED");
const offline = fetchFailed(new Error("getaddrinfo EAI_AGAIN api.example.com"), "EAI_AGAIN");

test.each<readonly [what: string, fail: () => unknown, exitCode: number, said: string]>([
  ["a refusal", () => Promise.reject(new SettingsError("Name the stage.")), 2, "Name the stage.\n"],
  ["a file that is not there", () => readFileSync("/none"), 1, "The command failed. Error: ENOENT: no such file"],
  ["a refusal of AWS", () => Promise.reject(refused), 1, "The command failed. AccessDeniedException: no permission\n"],
  ["no connection", () => Promise.reject(unreachable), 1, "The command failed. Error: connect ECONNREFUSED"],
  ["no connection to any address", () => Promise.reject(unreachableAtAll), 1, "AggregateError: ECONNREFUSED\n"],
  [
    "no name server",
    () => Promise.reject(offline),
    1,
    "The command failed. Error: getaddrinfo EAI_AGAIN api.example.com",
  ],
  [
    "a package that is not there",
    () => createRequire(import.meta.url)("no-such-package"),
    1,
    "If it is in a package, npm ci installs all packages again.\n",
  ],
])("%s is a sentence without a trace, and an exit code", async (_, fail, expectedCode, said) => {
  const outcome = await outcomeOf(fail);
  expect(outcome.exitCode).toBe(expectedCode);
  expect(outcome.said).toContain(said);
  expect(outcome.said.trim().split("\n")).toHaveLength(1);
});

test.each([
  ["of our own code", new RangeError("a bug")],
  ["of a wrong call of Node", Object.assign(new RangeError("a bug"), { code: "ERR_OUT_OF_RANGE" })],
])("an error %s keeps its trace", async (_, error) => {
  await expect(outcomeOf(() => Promise.reject(error))).rejects.toThrow(RangeError);
});
