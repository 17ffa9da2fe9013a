import * as z from "#zod";

/**
 * Whether a filter pattern of CloudWatch Logs finds a log event: the subset that this project uses. A JSON pattern
 * (`{ $.status = "5*" && $.route != "x" }`, with `&&`, `||`, parentheses, `=`, `!=` and `*` within strings) finds only
 * events that are one JSON object; a term or a quoted text finds events that contain it. Source: AWS, "Filter pattern
 * syntax for metric filters, subscription filters, filter log events, and Live Tail".
 */
export const matchesFilter = (pattern: string, event: string): boolean => {
  const trimmed = pattern.trim();
  if (!trimmed.startsWith("{")) return termsIn(trimmed).every((term) => event.includes(term));
  const fields = jsonObject.safeParse(event);
  if (!fields.success) return false;
  const tokens = [...trimmed.slice(1, trimmed.lastIndexOf("}")).matchAll(TOKEN)].map(([token]) => token);
  const { value, rest } = either(tokens, fields.data);
  if (rest.length > 0) throw new Error(`Not read in the filter pattern ${pattern}: ${rest.join(" ")}`);
  return value;
};

const TOKEN = /"[^"]*"|&&|\|\||!=|=|[()]|[^\s()=!&|"]+/g;

const jsonObject = z.pipe(
  z.pipe(
    z.string(),
    z.transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.issues.push({ code: "custom", input: context.value, message: "is no JSON" });
        return z.NEVER;
      }
    }),
  ),
  z.record(z.string(), z.unknown()),
);

type Fields = z.output<typeof jsonObject>;
type Read = { readonly value: boolean; readonly rest: readonly string[] };

const termsIn = (pattern: string): readonly string[] =>
  [...pattern.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");

const chain =
  (operator: "&&" | "||", read: (tokens: readonly string[], fields: Fields) => Read) =>
  (tokens: readonly string[], fields: Fields): Read => {
    let { value, rest } = read(tokens, fields);
    while (rest[0] === operator) {
      const next = read(rest.slice(1), fields);
      value = operator === "&&" ? value && next.value : value || next.value;
      rest = next.rest;
    }
    return { value, rest };
  };

const one = (tokens: readonly string[], fields: Fields): Read => {
  const [first, operator, operand = "", ...rest] = tokens;
  if (first === "(") {
    const inner = either(tokens.slice(1), fields);
    if (inner.rest[0] !== ")") throw new Error(`A parenthesis is not closed: ${tokens.join(" ")}`);
    return { value: inner.value, rest: inner.rest.slice(1) };
  }
  const name = /^\$\.(\w+)$/.exec(first ?? "")?.[1];
  if (name === undefined || (operator !== "=" && operator !== "!=")) {
    throw new Error(`Not a condition: ${tokens.slice(0, 3).join(" ")}`);
  }
  const found = fields[name];
  if (found === undefined || found === null) return { value: false, rest };
  const wanted = new RegExp(
    `^${operand
      .replaceAll('"', "")
      .replaceAll(/[^\w*]/g, "\\$&")
      .replaceAll("*", ".*")}$`,
  );
  return { value: wanted.test(String(found)) === (operator === "="), rest };
};

const both = chain("&&", one);
const either = chain("||", both);
