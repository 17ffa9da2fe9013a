import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const localFolder = fileURLToPath(new URL("../../.local", import.meta.url));
const execute = promisify(execFile);

/** Installs packages of Python into a folder of their own, once; resolves with the Python that has them. */
export const installedPython = async (
  packages: readonly string[],
  pipOptions: readonly string[] = [],
): Promise<string> => {
  const folder = join(localFolder, packages.join("+"));
  const python = join(folder, "bin", "python");
  if (existsSync(join(folder, "installed"))) return python;
  mkdirSync(localFolder, { recursive: true });
  await execute("python3", ["-m", "venv", folder]).catch(
    orFail("The deployment test needs Python 3.10 or newer with venv: install python3 and python3-venv."),
  );
  await execute(python, ["-m", "pip", "install", "--quiet", ...pipOptions, ...packages]).catch(
    orFail(`The deployment test needs ${packages.join(" and ")} from PyPI, with Python 3.10 or newer.`),
  );
  mkdirSync(join(folder, "installed"));
  return python;
};

const orFail =
  (message: string) =>
  (cause: unknown): never => {
    throw new Error(message, { cause });
  };
