import { EXIT_FAILED, EXIT_REFUSED } from "./exit-codes.ts";
import { SettingsError } from "./settings-error.ts";

/**
 * Runs a command, which may return its exit code. A SettingsError is a message, and the exit code of a refusal. Only an error of
 * our own code leaves its trace.
 */
export const runCommand = async (command: () => Promise<number | undefined>): Promise<void> => {
  try {
    const exitCode = await command();
    if (exitCode !== undefined) process.exitCode = exitCode;
  } catch (error) {
    const isRefusal = error instanceof SettingsError;
    const message = isRefusal ? error.message : messageOfOthers(error);
    if (message === undefined) throw error;
    process.stderr.write(`${message}\n`);
    process.exitCode = isRefusal ? EXIT_REFUSED : EXIT_FAILED;
  }
};

/** What this machine, the network or AWS says; undefined if the error is our own. */
const messageOfOthers = (error: unknown): string | undefined => {
  // fetch hides the error of the connection in its own.
  const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return undefined;
  const code = "code" in cause ? String(cause.code) : "";
  if (/^(ERR_)?MODULE_NOT_FOUND$/.test(code)) {
    return `${cause.message.split("\n")[0]}. If it is in a package, npm ci installs all packages again.`;
  }
  // Node's own errors begin with ERR_. Of a host with several addresses the error has no message.
  return "$fault" in cause || /^E(?!RR_)[A-Z_]+$/.test(code)
    ? `The command failed. ${cause.name}: ${cause.message || code}`
    : undefined;
};
