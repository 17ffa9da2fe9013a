import { Console } from "node:console";
import { CommanderError } from "commander";
import { SettingsError } from "../../infra/settings-error.ts";
import { AccountError } from "../../shared/access/account-store.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { EndpointUrlError } from "../../shared/webhooks/address-guard.ts";
import { adminProgram } from "./program.ts";

/** Something else failed; and what was asked for cannot be. */
const EXIT_FAILED = 1;
const EXIT_REFUSED = 2;

const isRefusal = (error: unknown): error is Error =>
  [OperatorError, AccountError, EndpointUrlError, SettingsError].some((kind) => error instanceof kind);

/** A connection to a part of the service that does not stand. */
const isUnreachable = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["ECONNREFUSED", "ECONNRESET"].includes(String(error.code));

/** What went wrong, for the operator. `refused`: nothing was changed. */
type CommandError = { readonly kind: "refused" | "failed"; readonly message: string };

const commandErrorOf = (error: unknown): CommandError => {
  if (error instanceof CommanderError) return { kind: "refused", message: argumentFault(error) };
  if (isRefusal(error)) return { kind: "refused", message: `${error.message.replace(/\.$/, "")}.` };
  if (isUnreachable(error)) return { kind: "failed", message: "The service does not answer: is it still running?" };
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { kind: "failed", message: `It failed. ${text}` };
};

/** commander's own sentence; without a command it shows its help instead of one. */
const argumentFault = ({ code, message }: CommanderError): string =>
  code === "commander.help" ? "Name a command: --help lists them." : message.replace(/^error: /, "");

const main = async (args: readonly string[]): Promise<number> => {
  const isJson = args.includes("--json");
  try {
    await adminProgram({ isQuiet: isJson }).parseAsync();
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const commandError = commandErrorOf(error);
    if (isJson) process.stdout.write(`${JSON.stringify({ error: commandError })}\n`);
    // commander has said it already.
    else if (!(error instanceof CommanderError)) process.stderr.write(`${commandError.message}\n`);
    return commandError.kind === "refused" ? EXIT_REFUSED : EXIT_FAILED;
  }
};

// What the shared code logs is not the answer.
globalThis.console = new Console(process.stderr, process.stderr);
process.exitCode = await main(process.argv.slice(2));
