import { SettingsError } from "./settings-error.ts";

/** Runs a command, which may return its exit code. A SettingsError is a message, and `refusedCode`. */
export const runCommand = async (command: () => Promise<number | undefined>, refusedCode: number): Promise<void> => {
  try {
    const exitCode = await command();
    if (exitCode !== undefined) process.exitCode = exitCode;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = refusedCode;
  }
};
