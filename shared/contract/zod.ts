import { config, type core, ZodMiniCatch } from "zod/mini";

/** zod's functional API: a bundle has only the functions that its schemas use (decision 0025), and none of zod's messages. */
export * from "zod/mini";
// With `z.core.$ZodError` a bundle would have all of `z.core`.
export { $ZodError } from "zod/v4/core";
export { caught as catch };

/** `z.catch` of a value. With zod's own a bundle would have all of `z.util`. */
function caught<Inner extends core.SomeType>(innerType: Inner, value: core.output<Inner>): ZodMiniCatch<Inner>;
function caught(innerType: core.$ZodType, value: unknown): ZodMiniCatch {
  return new ZodMiniCatch({ type: "catch", innerType, catchValue: () => value });
}

const UNITS: Readonly<Record<string, string>> = { string: "characters", array: "entries", set: "entries" };

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

const FORMATS: Readonly<Record<string, string>> = {
  email: "an e-mail address",
  url: "a URL",
  date: "a date such as 2026-11-21",
  datetime: "a time in UTC, such as 2026-11-21T09:30:00Z",
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  uuid: "a UUID",
};

const oneOf = (values: readonly unknown[]): string =>
  values.length > 2 ? `Must be one of ${values.join(", ")}` : `Must be ${values.join(" or ")}`;

/** `Must have at most 60 characters`, `Must be above 0`. */
const bounded = (
  origin: string,
  inclusive: boolean | undefined,
  side: "most" | "least",
  bound: number | bigint,
): string => {
  const unit = UNITS[origin];
  if (unit !== undefined)
    return side === "least" && bound === 1 ? "Must not be empty" : `Must have at ${side} ${bound} ${unit}`;
  if (inclusive) return `Must be at ${side} ${bound}`;
  return `Must be ${side === "most" ? "below" : "above"} ${bound}`;
};

/** Of no number at all, such as a text, `z.int()` says that it expected a number. */
const isInteger = ({ inst }: core.$ZodRawIssue): boolean => inst !== undefined && "format" in inst._zod.def;

/** What is wrong with a value, for schemas that say it in no words of their own. Never the value: it may be a person's number. */
const messageOf = (issue: core.$ZodRawIssue): string => {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "Is required";
      return `Must be ${isInteger(issue) ? TYPES.int : (TYPES[issue.expected] ?? issue.expected)}`;
    case "invalid_value":
      return issue.input === undefined ? "Is required" : oneOf(issue.values);
    case "invalid_union":
      return Array.isArray(issue.options) ? oneOf(issue.options) : "Is not valid";
    case "too_big":
      return bounded(issue.origin, issue.inclusive, "most", issue.maximum);
    case "too_small":
      return bounded(issue.origin, issue.inclusive, "least", issue.minimum);
    case "invalid_format":
      return `Must be ${FORMATS[issue.format] ?? "of another form"}`;
    case "unrecognized_keys":
      return `Has the unknown field${issue.keys.length > 1 ? "s" : ""} ${issue.keys.map((key) => `"${key}"`).join(", ")}`;
    default:
      return "Is not valid";
  }
};

config({ localeError: messageOf });
