import { CommanderError } from "commander";
import { EXIT_FAILED, EXIT_REFUSED } from "../../infra/exit-codes.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { PartlyDoneError } from "./command.ts";
import { isUnreachable } from "./connection-error.ts";
import { adminProgram, usageSentence } from "./program.ts";
import { printMessage, printResult, terminal, UnprintedError } from "./terminal.ts";

/** The error as `--json` prints it. `refused`: nothing was changed. */
type CommandError = { readonly kind: "refused" | "failed"; readonly message: string };

const commandErrorOf = (error: unknown): CommandError => {
  if (error instanceof CommanderError) return { kind: "refused", message: usageErrorMessage(error) };
  if (error instanceof OperatorError || error instanceof SettingsError)
    return { kind: "refused", message: `${error.message.replace(/\.$/, "")}.` };
  if (error instanceof PartlyDoneError) return { kind: "failed", message: error.message };
  if (isUnreachable(error))
    return {
      kind: "failed",
      message:
        "The service does not answer. Check that it is running. A stage can be operated with --direct without it.",
    };
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { kind: "failed", message: `The command failed. ${text}` };
};

/** commander's own message. Without a command commander prints the help and gives no message. */
const usageErrorMessage = ({ code, message }: CommanderError): string =>
  code === "commander.help" ? "Name a command. --help lists them." : usageSentence(message);

/** Runs one command line; resolves with its exit code. */
export const runAdmin = async (args: readonly string[]): Promise<number> => {
  const isJson = args.includes("--json");
  try {
    const program = await adminProgram({ isQuiet: isJson });
    await program.parseAsync(args, { from: "user" });
    return Number(terminal().exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (error instanceof UnprintedError) {
      printMessage(error.message);
      return EXIT_FAILED;
    }
    const commandError = commandErrorOf(error);
    const printError = () => printMessage(commandError.message);
    if (isJson) await printResult(JSON.stringify({ error: commandError })).catch(printError);
    // commander has printed it already.
    else if (!(error instanceof CommanderError)) printError();
    return commandError.kind === "refused" ? EXIT_REFUSED : EXIT_FAILED;
  }
};
