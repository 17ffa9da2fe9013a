import type { Command } from "commander";
import * as z from "#zod";
import { EXIT_FAILED } from "../../infra/exit-codes.ts";
import { operatorName, whySchema } from "../../shared/contract/actions/action.ts";
import { roles } from "../../shared/contract/roles.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { type Change, changesText, type Shown } from "./changes.ts";
import { confirm } from "./confirm.ts";
import { type AdminContext, openAdminContext } from "./context.ts";
import { hasChanged } from "./perform.ts";
import { metaOf } from "./schemas.ts";
import { ProposedError } from "./send-action.ts";
import { printResult, terminal } from "./terminal.ts";
import { localTime } from "./views/print.ts";

/** A command's result: for `--json`, and as text. */
export type Report = {
  readonly json: unknown;
  /** Parts are printed as they come. */
  readonly text: string | AsyncIterable<string>;
  /** False if a check found a fault: exit code 1. */
  readonly ok?: boolean;
};

type CommandSpec<Input extends z.ZodMiniType> = {
  /** The name and the arguments: `fund <account> <naira>`. */
  readonly usage: string;
  readonly summary: string;
  /** The command and its arguments, as an operator types them after the group's name. */
  readonly example: string;
  readonly options?: readonly Option[];
  /** Writes no audit entry, so it does not need AWS's time. */
  readonly readOnly?: true;
  /** Without `--direct` the service records it, at its own time and in the name that AWS verified. */
  readonly isAction?: true;
  /** On a deployed stage it asks first, unless `--yes` or `--json` is given. */
  readonly asks?: boolean;
  /** What it would change now: for `--dry-run`, and for the question. */
  readonly changes?: (context: AdminContext, input: z.output<Input>) => Promise<Shown<z.output<Input>>>;
  /** What some arguments are, by name. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Arguments and options by name. */
  readonly input: Input;
  readonly run: (context: AdminContext, input: z.output<Input>) => Promise<Report>;
  /** Instead of `run`, if there is no service to operate: `reason` says why. */
  readonly runWithoutService?: (input: z.output<Input>, reason: string) => Promise<Report>;
};

export type Option = {
  readonly flags: string;
  readonly text: string;
  readonly required?: true;
  readonly fallback?: string;
};

/**
 * How the help marks an option that the input's schema requires. Not commander's `requiredOption`, which names one missing
 * option at a time.
 */
export const REQUIRED = " (required)";

export const why: Option = { flags: "--why <reason>", text: metaOf(whySchema).description ?? "" };

/** The options of a report of days, which `--csv` prints as CSV. */
export const reportOptions = (groups: readonly string[], byDefault: string): readonly Option[] => [
  { flags: "--from <date>", text: "the first day, in the time zone of the stage", required: true },
  { flags: "--to <date>", text: "the last day, in the time zone of the stage", required: true },
  { flags: "--by <groups>", text: `comma-separated, of ${groups.join(", ")}`, fallback: byDefault },
  { flags: "--csv", text: "print CSV" },
];

/** The options that every command takes. */
const globalOptions = z.object({
  json: z._default(z.boolean(), false),
  stage: z.optional(z.string()),
  profile: z.optional(z.string()),
  by: z.optional(operatorName),
  role: z._default(z.enum(roles), "operator"),
  direct: z._default(z.boolean(), false),
});

/** The options of a command that asks first. */
const askingOptions = z.object({ yes: z._default(z.boolean(), false), dryRun: z._default(z.boolean(), false) });

export const addGroup = (parent: Command, name: string, summary: string): Command =>
  parent.command(name).description(summary).helpCommand(false);

export const addCommand = <Input extends z.ZodMiniType>(group: Command, spec: CommandSpec<Input>): void => {
  const command = group.command(spec.usage).description(spec.summary);
  for (const argument of command.registeredArguments) argument.description = spec.texts?.[argument.name()] ?? "";
  for (const { flags, text, required, fallback } of spec.options ?? []) {
    command.option(flags, required ? `${text}${REQUIRED}` : text, fallback);
  }
  if (spec.asks) command.option("--yes", "do not ask for confirmation; neither do --json and commands on this machine");
  if (spec.changes) command.option("--dry-run", "show what would change, and change nothing");
  const path = [...pathOf(group), spec.example].join(" ");
  // Without `-s`, npm writes its own lines into the file.
  const silent = spec.example.includes(" > ") ? "-s " : "";
  command.addHelpText("after", `\nExample:\n  npm run ${silent}admin -- ${path}`);
  command.action(async () => {
    const names = command.registeredArguments.map((argument) => argument.name());
    const given = Object.fromEntries(names.map((name, position) => [name, command.processedArgs[position]]));
    const options: unknown = command.optsWithGlobals();
    const typedNames = typedNamesOf(command);
    const { json, ...target } = parseInput(globalOptions, options, typedNames);
    const input = parseInput(spec.input, { ...given, ...z.record(z.string(), z.unknown()).parse(options) }, typedNames);
    const print = async (report: Report): Promise<void> => {
      const text = json ? JSON.stringify(report.json) : report.text;
      await printResult(text);
      if (report.ok === false) terminal().exitCode = EXIT_FAILED;
    };
    let context: AdminContext;
    try {
      context = await openAdminContext(target, spec.readOnly || (spec.isAction && !target.direct) ? "read" : "write");
    } catch (error) {
      if (spec.runWithoutService === undefined || !(error instanceof OperatorError)) throw error;
      return print(await spec.runWithoutService(input, error.message));
    }
    try {
      const { yes, dryRun } = askingOptions.parse(options);
      if (spec.changes && dryRun) return await print(dryRunReport((await spec.changes(context, input)).changes));
      let decided = input;
      if (spec.asks && !yes && !json && !context.target.isLocal) {
        const shown = await spec.changes?.(context, input);
        await confirm([...pathOf(group), command.name()].join(" "), context.target.name, shown?.changes ?? []);
        decided = shown?.decided ?? input;
      }
      await print(await spec.run(context, decided));
    } catch (error) {
      if (error instanceof ProposedError) return await print(proposedReport(error, context.timeZone));
      throw error instanceof OperatorError && hasChanged(context) ? new PartlyDoneError(error) : error;
    } finally {
      context.close();
    }
  });
};

/** A command was refused after it had made a change. */
export class PartlyDoneError extends Error {
  override readonly name = "PartlyDoneError";
  constructor(refusal: Error) {
    super(`${refusal.message.replace(/\.$/, "")}. What the command had done before stays.`, { cause: refusal });
  }
}

const dryRunReport = (changes: readonly Change[]): Report => ({
  json: { dry_run: true, changes },
  text: `${changesText(changes)}\n\nNothing was changed: this was a dry run.`,
});

/** What the person sees whose change another person has to approve. */
export const proposedReport = ({ proposal }: ProposedError, timeZone: string): Report => ({
  json: { proposal },
  text: `Proposed as ${proposal.proposal}: ${proposal.consequence}. Nothing has changed yet.
Another person approves it before ${localTime(proposal.expires_at, timeZone)}: npm run admin -- proposals approve ${proposal.proposal}`,
});

/** What a refused command line ends with. */
export const HELP = "--help lists what the command takes";

/** The names of a group and of the groups above it, without the program's own. */
const pathOf = (group: Command): readonly string[] =>
  group.parent === null ? [] : [...pathOf(group.parent), group.name()];

/** How the help of a command writes its arguments and options, by their names in the input: `<account>`, `--why`. */
const typedNamesOf = (command: Command): ReadonlyMap<string, string> => {
  const options = [command, ...ancestorsOf(command)].flatMap((each) => each.options);
  return new Map([
    ...options.map((option): [string, string] => [option.attributeName(), option.long ?? option.flags]),
    ...command.registeredArguments.map((argument): [string, string] => [argument.name(), `<${argument.name()}>`]),
  ]);
};

const ancestorsOf = ({ parent }: Command): readonly Command[] =>
  parent === null ? [] : [parent, ...ancestorsOf(parent)];

const parseInput = <Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  typedNames: ReadonlyMap<string, string>,
): z.output<Schema> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = new Map<string, string>();
  for (const { path, message } of result.error.issues) {
    const field = String(path[0]);
    if (!problems.has(field)) problems.set(field, `${typedNames.get(field) ?? field}: ${message}`);
  }
  throw new OperatorError([...problems.values()].join(". "), { command: HELP });
};
