import { Console } from "node:console";
import { CommanderError } from "commander";
import { AccountError } from "../../shared/access/account-store.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { EndpointUrlError } from "../../shared/webhook/address-guard.ts";
import { SettingsError } from "../local/settings.ts";
import { adminProgram } from "./program.ts";

/** Something else failed; and what was asked for cannot be. */
const EXIT_FAILED = 1;
const EXIT_REFUSED = 2;

const isRefusal = (error: unknown): error is Error =>
  [OperatorError, AccountError, EndpointUrlError, SettingsError].some((kind) => error instanceof kind);

/** A connection to a part of the service that does not stand. */
const isUnreachable = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["ECONNREFUSED", "ECONNRESET"].includes(String(error.code));

const main = async (): Promise<number> => {
  try {
    await adminProgram().parseAsync();
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // commander has said it already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_REFUSED;
    if (isRefusal(error)) {
      process.stderr.write(`${error.message.replace(/\.$/, "")}.\n`);
      return EXIT_REFUSED;
    }
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    process.stderr.write(
      isUnreachable(error) ? "The service does not answer: is it still running?\n" : `It failed. ${text}\n`,
    );
    return EXIT_FAILED;
  }
};

// What the shared code logs is not the answer.
globalThis.console = new Console(process.stderr, process.stderr);
process.exitCode = await main();
