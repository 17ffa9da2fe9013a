import { EXIT_REFUSED } from "./exit-codes.ts";
import { SettingsError } from "./settings-error.ts";

/** Runs a command, which may return its exit code. A SettingsError is a message, and the exit code of a refusal. */
export const runCommand = async (command: () => Promise<number | undefined>): Promise<void> => {
  try {
    const exitCode = await command();
    if (exitCode !== undefined) process.exitCode = exitCode;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT_REFUSED;
  }
};
