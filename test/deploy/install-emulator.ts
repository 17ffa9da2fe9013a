import { installedPython } from "./python.ts";

/** An AWS emulator that deploys CloudFormation stacks and runs their functions, and its web server. */
const PACKAGES = ["ministack==1.5.33", "uvicorn==0.54.0", "cryptography==50.0.2"];

/** Runs before the first test file: files that run at the same time would install the emulator twice. */
export const setup = async (): Promise<void> => {
  await installEmulator();
};

/** Resolves with the emulator's Python. */
export const installEmulator = (): Promise<string> => installedPython(PACKAGES);
