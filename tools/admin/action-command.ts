import { Argument, type Command, Option } from "commander";
import * as z from "#zod";
import { type Action, type ActionCommand, needsReason } from "../../shared/contract/actions/action.ts";
import {
  type ActionInput,
  type ActionName,
  type ActionOutput,
  actions,
} from "../../shared/contract/actions/actions.ts";
import { actionChanges } from "./changes.ts";
import { addCommand, type Report } from "./command.ts";
import { typedField } from "./fields.ts";
import { perform } from "./perform.ts";
import { metaOf, valueSchema } from "./schemas.ts";
import { actionTexts } from "./views/action-texts.ts";
import { outputText } from "./views/output.ts";

/** The command that an action's entry states; undefined if it states none. */
export const commandOf = (name: ActionName): ActionCommand | undefined => {
  const { command }: Action = actions[name];
  return typeof command === "string" ? undefined : command;
};

const WHY = "--why <reason>";

/** A field of an action's input, and the name that it has where it is typed. */
type TypedField = {
  readonly field: string;
  readonly name: string;
  readonly flags: string;
  readonly isOption: boolean;
  readonly schema: z.core.$ZodType;
};

const typedFields = (name: ActionName, { takes = {} }: ActionCommand): readonly TypedField[] => {
  const shape: Action["input"]["shape"] = actions[name].input.shape;
  return Object.entries({ ...takes, ...("why" in shape && { why: WHY }) }).map(([field, flags]) => {
    const schema = shape[field];
    if (schema === undefined) throw new Error(`The input of ${name} has no field ${field}`);
    const isOption = flags.startsWith("-");
    const typedName = isOption ? new Option(flags).attributeName() : new Argument(flags).name();
    return { field, name: typedName, flags, isOption, schema };
  });
};

const inputs: { readonly [Name in ActionName]: { readonly input: z.ZodMiniType<ActionInput<Name>> } } = actions;

/** The input of an action from what was typed. A refused field has the name under which it was typed. */
export const typedInput = <Name extends ActionName>(name: Name, command: ActionCommand) => {
  const typed = typedFields(name, command);
  return z.pipe(
    z.record(z.string(), z.unknown()),
    z.transform((given, context): ActionInput<Name> => {
      const refuse = (path: PropertyKey | undefined, message: string): void => {
        context.issues.push({ code: "custom", input: context.value, path: [path ?? ""], message });
      };
      const values: Record<string, unknown> = {};
      for (const { field, name: typedName, flags, schema } of typed) {
        if (given[typedName] === undefined) continue;
        const { data, error } = typedField(field, valueSchema(schema), flags.includes("...")).safeParse(
          given[typedName],
        );
        if (error) refuse(typedName, error.issues[0]?.message ?? "");
        else values[field] = data;
      }
      const { data, error } = inputs[name].input.safeParse(values);
      if (data !== undefined) return data;
      for (const { path, message } of error?.issues ?? []) {
        refuse(typed.find(({ field }) => field === path[0])?.name ?? path[0], message);
      }
      return z.NEVER;
    }),
  );
};

/** Adds the command that an action's entry states. */
export const addActionCommand = <Name extends ActionName>(group: Command, name: Name, command: ActionCommand): void => {
  const action: Action = actions[name];
  const { kind, audited, summary, output } = action;
  const changes = actionChanges[name];
  const typed = typedFields(name, command);
  const verb = name.split(" ").at(-1) ?? name;
  const { example = "", fallbacks = {} } = command;
  addCommand<z.ZodMiniType<ActionInput<Name>>>(group, {
    usage: [verb, ...typed.filter(({ isOption }) => !isOption).map(({ flags }) => flags)].join(" "),
    summary: isCheck(output) ? `${summary}; exit code 1 unless the result is ok` : summary,
    example: `${verb} ${example}`.trimEnd(),
    texts: Object.fromEntries(
      typed.map(({ name: typedName, schema }) => [typedName, metaOf(schema).description ?? ""]),
    ),
    options: typed.flatMap(({ isOption, field, flags, schema }) =>
      isOption ? [optionOf(schema, flags, fallbacks[field])] : [],
    ),
    ...(kind === "read" && !audited && { readOnly: true }),
    isAction: true,
    asks: command.asks ?? needsReason(action),
    ...(changes && { changes }),
    input: typedInput(name, command),
    run: async (context, input) => reportOf(name, command, await perform(context, name, input), context.timeZone),
  });
};

const isCheck = (output: z.ZodMiniType): boolean => output instanceof z.ZodMiniObject && "ok" in output.shape;

const optionOf = (schema: z.core.$ZodType, flags: string, fallback: string | undefined) => {
  const preset = schema instanceof z.ZodMiniDefault ? schema.def.defaultValue : fallback;
  const isRequired = preset === undefined && !z.safeParse(schema, undefined).success;
  return {
    flags,
    text: metaOf(schema).description ?? "",
    ...(isRequired && { required: true as const }),
    ...(typeof preset === "string" && { fallback: preset }),
  };
};

const fault = z.union([z.object({ ok: z.literal(false) }), z.object({ audit_error: z.string() })]);

/** An action's output as its command prints it. */
export const reportOf = <Name extends ActionName>(
  name: Name,
  command: ActionCommand,
  json: ActionOutput<Name>,
  timeZone: string,
): Report => {
  const { output }: Action = actions[name];
  const own = actionTexts[name];
  const text = own === undefined ? outputText(output, command, json, timeZone) : own(json, timeZone);
  return { json, text, ...(fault.safeParse(json).success && { ok: false }) };
};
