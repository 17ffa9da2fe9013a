import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** An AWS emulator that deploys CloudFormation stacks and runs their functions, and its web server. */
const PACKAGES = ["ministack==1.5.33", "uvicorn==0.54.0"];

const localFolder = fileURLToPath(new URL("../../.local", import.meta.url));
const execute = promisify(execFile);

/** Runs before the first test file: files that run at the same time would install the emulator twice. */
export const setup = async (): Promise<void> => {
  await installEmulator();
};

/** Installs the emulator into its own folder, once; resolves with its Python. */
export const installEmulator = async (): Promise<string> => {
  const folder = join(localFolder, PACKAGES.join("+"));
  const python = join(folder, "bin", "python");
  if (existsSync(join(folder, "installed"))) return python;
  mkdirSync(localFolder, { recursive: true });
  await execute("python3", ["-m", "venv", folder]).catch(
    orFail("The deployment test needs Python 3.10 or newer with venv: install python3 and python3-venv."),
  );
  await execute(python, ["-m", "pip", "install", "--quiet", ...PACKAGES]).catch(
    orFail(`The deployment test needs ${PACKAGES.join(" and ")} from PyPI, with Python 3.10 or newer.`),
  );
  mkdirSync(join(folder, "installed"));
  return python;
};

const orFail =
  (message: string) =>
  (cause: unknown): never => {
    throw new Error(message, { cause });
  };
