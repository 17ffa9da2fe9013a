import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { SettingsError } from "../../infra/settings-error.ts";

/** Asks for the code of an MFA device on the terminal itself: standard input may hold a secret's value. */
export const askMfaCode = (device: string): string => {
  const terminal = openTerminal(device);
  try {
    writeSync(terminal, `Code of the MFA device ${device}: `);
    const answer = Buffer.alloc(64);
    return answer.toString("utf8", 0, readSync(terminal, answer)).trim();
  } finally {
    closeSync(terminal);
  }
};

const openTerminal = (device: string): number => {
  try {
    return openSync("/dev/tty", "r+");
  } catch {
    throw new SettingsError(
      `The MFA device ${device} has a code to type in, and there is no terminal. Use credentials without mfa_serial here.`,
    );
  }
};
