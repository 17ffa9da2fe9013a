import * as z from "#zod";
import type { ActionCommand } from "../../../shared/contract/actions/action.ts";
import { metaOf, valueSchema } from "../schemas.ts";
import { type Cell, fields, localTime, nairaText, table } from "./print.ts";

const record = z.record(z.string(), z.unknown());
const texts = z.array(z.string());

/** An action's output as its entry says, with times in the zone of the stage. */
export const outputText = (
  schema: z.ZodMiniType,
  command: ActionCommand,
  output: unknown,
  timeZone: string,
): string => {
  const named = record.parse(output);
  const shape = schema instanceof z.ZodMiniObject ? schema.shape : {};
  const text =
    command.table === undefined ? fieldsText(shape, named, timeZone) : tableText(shape, command.table, named, timeZone);
  return command.note === undefined ? text : `${text}\n\n${command.note}`;
};

type Named = Readonly<Record<string, unknown>>;

const fieldsText = (shape: z.core.$ZodShape, named: Named, timeZone: string): string =>
  fields(
    Object.fromEntries(Object.entries(named).map(([name, value]) => [name, cellOf(shape[name], value, timeZone)])),
  );

const tableText = (
  shape: z.core.$ZodShape,
  { rows, columns }: NonNullable<ActionCommand["table"]>,
  named: Named,
  timeZone: string,
): string => {
  const found = z.union([texts, z.array(record)]).parse(named[rows]);
  const shown = columns.map(columnOf);
  const row = rowShape(shape[rows]);
  return table(
    shown.map(({ heading }) => heading),
    found.map((each) =>
      typeof each === "string" ? [each] : shown.map(({ field }) => cellOf(row[field], each[field], timeZone)),
    ),
  );
};

/** The fields of a list's records; none if it is a list of texts, or of records of several kinds. */
const rowShape = (list: z.core.$ZodType | undefined): z.core.$ZodShape =>
  list instanceof z.ZodMiniArray && list.def.element instanceof z.ZodMiniObject ? list.def.element.shape : {};

/** `created_at` has the heading `created`; `value: owner` is the field `value` with the heading `owner`. */
const columnOf = (column: string): { readonly field: string; readonly heading: string } => {
  const [field = "", heading = field.replace(/_(id|at)$/, "").replaceAll("_", " ")] = column.split(": ");
  return { field, heading };
};

const isTime = (schema: z.core.$ZodType | undefined): boolean =>
  schema !== undefined && valueSchema(schema) instanceof z.ZodMiniISODateTime;

const cellOf = (schema: z.core.$ZodType | undefined, value: unknown, timeZone: string): Cell => {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return schema && metaOf(schema).unit === "NGN" ? nairaText(value) : value;
  if (typeof value === "string" && isTime(schema)) return localTime(value, timeZone);
  if (Array.isArray(value)) return value.map(String).join(", ");
  if (typeof value !== "object") return String(value);
  const own = schema === undefined ? undefined : valueSchema(schema);
  const shape = own instanceof z.ZodMiniObject ? own.shape : {};
  return Object.entries(value)
    .map(([name, each]) => [name, cellOf(shape[name], each, timeZone)])
    .filter(([, cell]) => cell !== null)
    .map(([name, cell]) => `${name}=${cell}`)
    .join(" ");
};
