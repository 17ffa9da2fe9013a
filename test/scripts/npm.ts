import { expect } from "vitest";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { startGroup } from "../builders/service/process-group.ts";

type Options = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

export const startNpm = (args: readonly string[], { cwd = projectRoot, env = {} }: Options = {}) =>
  startGroup("npm", args, { cwd, env: { ...process.env, ...env, NO_COLOR: "1" } });

/** Expects that the tests of a script ran and passed. */
export const expectPassed = (output: string): void => expect(output).toMatch(/^[1-9]\d* passed, 0 failed/m);

/** `npm run NAME -- ARGS`; resolves with the output of a success. */
export const run = async (name: string, args: readonly string[] = [], options: Options = {}): Promise<string> => {
  const { exitCode, output } = startNpm(["run", "--silent", name, "--", ...args], options);
  const code = await exitCode;
  expect(code, output()).toBe(0);
  return output();
};
