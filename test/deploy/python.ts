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
  const pip = await once("pip", (folder) => makePython(folder));
  return once(packages.join("+"), async (folder) => {
    await makePython(folder, "--without-pip");
    // Python compiles a module when it is imported first, and of most packages few are.
    const options = ["--quiet", "--no-compile", "--ignore-installed", "--prefix", folder, ...pipOptions];
    await execute(pip, ["-m", "pip", "install", ...options, ...packages]).catch(
      orFail(`The deployment test needs ${packages.join(" and ")} from PyPI, with Python 3.10 or newer.`),
    );
  });
};

/** The folder of its packages. */
export const packagesOf = async (python: string): Promise<string> => {
  const { stdout } = await execute(python, ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]);
  return stdout.trim();
};

/** A Python of its own. Only one has pip, because its installation takes seconds. */
const makePython = async (folder: string, ...options: readonly string[]): Promise<void> => {
  await execute("python3", ["-m", "venv", ...options, folder]).catch(
    orFail("The deployment test needs Python 3.10 or newer with venv: install python3 and python3-venv."),
  );
};

const once = async (name: string, make: (folder: string) => Promise<void>): Promise<string> => {
  const folder = join(localFolder, name);
  if (!existsSync(join(folder, "installed"))) {
    mkdirSync(localFolder, { recursive: true });
    await make(folder);
    mkdirSync(join(folder, "installed"));
  }
  return join(folder, "bin", "python");
};

const orFail =
  (message: string) =>
  (cause: unknown): never => {
    throw new Error(message, { cause });
  };
