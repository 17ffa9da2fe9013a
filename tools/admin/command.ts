import type { Command } from "commander";
import * as z from "zod";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { type AdminContext, openAdminContext } from "./context.ts";
import { byField } from "./fields.ts";

/** What a command answers: for machines, and for people. */
export type Report = {
  readonly json: unknown;
  readonly text: string;
  /** False where something that was looked at is not as it should be: exit code 1. */
  readonly ok?: boolean;
};

export type CommandSpec<Input extends z.ZodObject> = {
  /** Its name and its arguments: `fund <account> <naira>`. */
  readonly usage: string;
  readonly summary: string;
  /** A line of the command's own arguments, as one types it. */
  readonly example: string;
  readonly options?: readonly Option[];
  /**
   * Makes no change that is put on record, so that AWS is not asked for its time and the caller. (`wallet verify` may reset a
   * checkpoint, which is derived.)
   */
  readonly readOnly?: true;
  /** Arguments and options by name. */
  readonly input: Input;
  readonly run: (desk: AdminContext, input: z.output<Input>) => Promise<Report>;
};

export type Option = {
  readonly flags: string;
  readonly text: string;
  readonly required?: true;
  readonly fallback?: string;
};

export const why: Option = { flags: "--why <reason>", text: "why it is done, for the record" };
export const whyRequired: Option = { ...why, required: true };

/** What every command takes beside its own options. */
const setting = z.object({
  json: z.boolean().default(false),
  stage: z.string().optional(),
  by: byField.optional(),
});

/** Adds a group of commands. */
export const addGroup = (parent: Command, name: string, summary: string): Command =>
  parent.command(name).description(summary).helpCommand(false);

/** Adds a command to a group. */
export const addCommand = <Input extends z.ZodObject>(group: Command, spec: CommandSpec<Input>): void => {
  const command = group.command(spec.usage).description(spec.summary);
  for (const { flags, text, required, fallback } of spec.options ?? []) {
    if (required) command.requiredOption(flags, `${text} (required)`, fallback);
    else command.option(flags, text, fallback);
  }
  const path = [...pathOf(group), spec.example].join(" ");
  command.addHelpText("after", `\nExample:\n  npm run admin -- ${path}`);
  command.action(async () => {
    const names = command.registeredArguments.map((argument) => argument.name());
    const given = Object.fromEntries(names.map((name, position) => [name, command.processedArgs[position]]));
    const options: unknown = command.optsWithGlobals();
    const { json, ...rest } = parsed(setting, options);
    const input = parsed(spec.input, { ...given, ...z.record(z.string(), z.unknown()).parse(options) });
    const desk = await openAdminContext(rest, spec.readOnly === true ? "read" : "write");
    try {
      const report = await spec.run(desk, input);
      process.stdout.write(`${json ? JSON.stringify(report.json) : report.text}\n`);
      if (report.ok === false) process.exitCode = 1;
    } finally {
      desk.close();
    }
  });
};

/** The group's name with those above it, the program's own left out. */
const pathOf = (group: Command): readonly string[] =>
  group.parent === null ? [] : [...pathOf(group.parent), group.name()];

const parsed = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new OperatorError(`${String(issue?.path[0])}: ${issue?.message}`);
};
