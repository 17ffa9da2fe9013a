import * as z from "#zod";
import { accountOwnersSchema } from "../../shared/contract/actions/accounts.ts";
import { orderLimitName, orderLimitsSchema } from "../../shared/contract/order-limits.ts";
import { entitlementSchema, entitlementsSchema } from "../../shared/contract/permission.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { koboFromText } from "../../shared/contract/values/money.ts";
import { numberFromText } from "../../shared/contract/values/typed-number.ts";

/** Schemas of arguments and options, each with its error message. */

/** An amount of NGN, in kobo. */
const nairaField = z.pipe(
  z.string(),
  z.transform((text) => koboFromText(text) ?? Number.NaN),
);

/** `email:ada@example.com group:checkout-team`, or `none`. */
export const ownersField = z.pipe(
  z.array(z.string()),
  z.transform((entries, context) => {
    if (entries.length === 1 && entries[0] === "none") return [];
    const owners = entries.map((entry) => {
      const [kind, ...rest] = entry.split(":");
      return { kind, value: rest.join(":") };
    });
    const result = accountOwnersSchema.safeParse(owners);
    if (result.success) return result.data;
    context.issues.push({
      code: "custom",
      input: context.value,
      message: ownersProblem(entries, result.error.issues[0]),
    });
    return z.NEVER;
  }),
);

const ownersProblem = (entries: readonly string[], issue: z.core.$ZodIssue | undefined): string => {
  const [position, field] = issue?.path ?? [];
  const message = field === "value" ? issue?.message : "Must be email:ADDRESS, group:NAME or none";
  return typeof position === "number" ? `"${entries[position]}": ${message}` : (issue?.message ?? "");
};

/** Names with numbers, each once, such as `vtu identity=1000`, or `none`. */
const numbersByName = <Schema extends z.ZodMiniType>(
  schema: Schema,
  names: readonly string[],
  numberOf: (text?: string) => number | null,
) =>
  z.pipe(
    z.array(z.string()),
    z.transform((entries, context) => {
      if (entries.length === 1 && entries[0] === "none") return {};
      const pairs = entries.map((entry) => {
        const [name = "", ...numbers] = entry.split("=");
        return { entry, name, number: numberOf(numbers.length === 0 ? undefined : numbers.join("=")) };
      });
      const result = schema.safeParse(Object.fromEntries(pairs.map(({ name, number }) => [name, number])));
      const unknown = pairs.find(({ name }) => !names.includes(name));
      const repeated = pairs.find(({ name }, at) => pairs.findIndex((pair) => pair.name === name) < at);
      if (result.success && unknown === undefined && repeated === undefined) return result.data;
      const issue = result.error?.issues[0];
      const refused = unknown ?? repeated ?? pairs.find(({ name }) => name === issue?.path[0]);
      const problem = unknown
        ? `Must be ${names.join(", ")} or none`
        : repeated
          ? `${repeated.name} is there already`
          : issue?.message;
      context.issues.push({ code: "custom", input: context.value, message: `"${refused?.entry}": ${problem}` });
      return z.NEVER;
    }),
  );

/** `vtu identity=1000`, or `none`. */
export const entitlementsField = numbersByName(entitlementsSchema, entitlementSchema.options, (perDay) =>
  perDay === undefined ? null : numberFromText(perDay),
);

/** `day_naira=100000 day_orders=500`, or `none`. */
export const limitsField = numbersByName(orderLimitsSchema, orderLimitName.options, (most = "") =>
  numberFromText(most),
);

/** `vtu,identity`. */
const listField = z.pipe(
  z.string(),
  z.transform((text) => [...new Set(text.split(",").map((entry) => entry.trim()))]),
);

const UNITS_MS = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;

/** `0`, `30m`, `24h`, `7d`, in milliseconds. */
export const durationField = z.pipe(
  z.string().check(z.regex(/^(0|\d{1,4}[smhd])$/, "Must be a duration such as 30m, 24h or 7d")),
  z.transform((text) => {
    const unit = z.enum(["s", "m", "h", "d"]).safeParse(text.at(-1)).data;
    return unit === undefined ? 0 : Number(text.slice(0, -1)) * UNITS_MS[unit];
  }),
);

/** The text of an option that takes a `momentField` as the end of a period. */
export const END_TIME = "a date (that whole day, in the time zone of the stage) or a time";

/** Values whose text is of their own kind. */
const ownFields: ReadonlyMap<z.core.$ZodType, z.ZodMiniType> = new Map<z.core.$ZodType, z.ZodMiniType>([
  [accountOwnersSchema, ownersField],
  [entitlementsSchema, entitlementsField],
  [orderLimitsSchema, limitsField],
]);

/** How a field of an action's input is typed; with `isRepeated`, a list has an argument for each entry. */
export const typedField = (field: string, schema: z.core.$ZodType, isRepeated: boolean): z.ZodMiniType => {
  const own = ownFields.get(schema);
  if (own !== undefined) return own;
  if (field.endsWith("_kobo")) return nairaField;
  if (field.endsWith("_ms")) return durationField;
  return schema instanceof z.ZodMiniArray && !isRepeated ? listField : z.unknown();
};
