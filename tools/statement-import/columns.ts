import { readFileSync } from "node:fs";
import * as z from "#zod";
import { transactionStatus, transactionType } from "../../shared/contract/transaction.ts";
import { isTimeZone } from "../../shared/contract/values/time-zone.ts";
import { fileProblem } from "../../shared/platform/file-problem.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { ISO, isTimeFormat, TIME_FORMAT_RULE } from "./zoned-time.ts";

/** How a value of the file is written, upper or lower case alike. */
const writtenText = z.string().check(z.trim(), z.toLowerCase());
/** An empty type says nothing of an order, and so stands for none. */
const typeText = writtenText.check(z.minLength(1));

const IGNORED = "ignored";

/** By each text what it stands for: `{"success": ["delivered"], "ignored": ["reversed"]}`. A name stands for itself too. */
const choicesOf = <const Names extends readonly string[]>(names: Names, text: z.ZodMiniType<string, string>) => {
  const choice = z.enum([...names, IGNORED]);
  type Choice = z.output<typeof choice>;
  return z.pipe(
    z.record(z.string(), z.array(text)),
    z.transform((given, context): ReadonlyMap<string, Choice> => {
      const own = names.map((name): [string, Choice] => [name, choice.parse(name)]);
      const others = Object.entries(given).flatMap(([name, all]): [string, Choice][] => {
        const { data } = choice.safeParse(name);
        if (data !== undefined) return all.map((text) => [text, data]);
        context.issues.push({
          code: "custom",
          input: context.value,
          message: `"${name}" is none of ${choice.options.join(", ")}`,
        });
        return [];
      });
      const twice = others.find(([text, choice]) => others.some((each) => each[0] === text && each[1] !== choice));
      if (twice !== undefined)
        context.issues.push({ code: "custom", input: context.value, message: `"${twice[0]}" stands for two of them` });
      return new Map([...own, ...others]);
    }),
  );
};

/** How the columns of an upstream's statement are read: the file of `--columns`. */
const columnMap = z.strictObject({
  delimiter: z._default(z.string().check(z.length(1)), ","),
  columns: z.strictObject({
    upstream_reference: z.optional(z.string()),
    reference: z.optional(z.string()),
    type: z.optional(z.string()),
    phone_number: z.optional(z.string()),
    amount: z.string(),
    status: z.string(),
    time: z.string(),
    balance: z.optional(z.string()),
  }),
  amount: z.strictObject({
    unit: z.enum(["naira", "kobo"]),
    /** How the amount of an order is signed; a row with the other sign is refused. */
    sign: z._default(z.enum(["plus", "minus"]), "plus"),
  }),
  time: z.strictObject({
    /** `ISO 8601`, or such as `DD/MM/YYYY HH:mm:ss`. */
    format: z.string().check(z.refine(isTimeFormat, TIME_FORMAT_RULE)),
    /** The zone of times without an offset, and of the statement's day. */
    zone: z.string().check(z.refine(isTimeZone, "Must be a time zone such as Africa/Lagos")),
  }),
  /** The texts of each status; rows with an ignored one are left out. */
  statuses: choicesOf(transactionStatus.options, writtenText),
  types: z.prefault(choicesOf(transactionType.options, typeText), {}),
  /** How far apart the two times of an order may be. */
  within_minutes: z._default(z.int().check(z.minimum(1), z.maximum(1_440)), 30),
});
export type ColumnMap = z.output<typeof columnMap>;

/** The upstream that speaks the documented interface: a column for each field of a transaction, named as there. */
export const documentedColumns: ColumnMap = columnMap.parse({
  columns: {
    upstream_reference: "reference",
    reference: "caller_reference",
    type: "type",
    phone_number: "phone_number",
    amount: "amount",
    status: "status",
    time: "created_at",
  },
  amount: { unit: "naira" },
  time: { format: ISO, zone: "Africa/Lagos" },
  statuses: {},
});

export const readColumnMap = (path: string): ColumnMap => {
  const text = readText(path);
  const { data, error } = columnMap.safeParse(parsedJson(text, path));
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw new OperatorError(`${path}: ${issue?.path.join(".") || "the file"}: ${issue?.message}`);
};

const readText = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new OperatorError(`${path} cannot be read${error instanceof Error ? `: ${fileProblem(error)}` : ""}`, {
      cause: error,
    });
  }
};

const parsedJson = (text: string, path: string): unknown => {
  try {
    // Some editors begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    // The rest of the message quotes the file, which may be the statement by mistake.
    const place = error instanceof Error ? /line \d+ column \d+/.exec(error.message)?.[0] : undefined;
    throw new OperatorError(`${path} is no JSON${place === undefined ? "" : `: ${place}`}`, { cause: error });
  }
};
