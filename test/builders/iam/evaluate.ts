import { BlockList, isIP } from "node:net";
import * as z from "#zod";

/**
 * Evaluates identity-based policies as IAM does, in the subset of their language that the templates use. Everything
 * else is refused with an error, so that a policy is never evaluated as something that it is not. Sources: AWS IAM
 * User Guide, "Policy evaluation logic", "IAM JSON policy elements reference", "Condition operators", "Single-valued
 * vs. multivalued context keys".
 */
export type Decision = "allowed" | "denied" | "not allowed";

/** What IAM is asked: `dynamodb:GetItem`, an ARN, and the context keys. A list is the value of a multivalued key. */
export type IamRequest = {
  readonly action: string;
  readonly resource: string;
  readonly context: Readonly<Record<string, string | readonly string[]>>;
};

const oneOrMore = z
  .union([
    z.array(z.string()).check(z.minLength(1)),
    z.pipe(
      z.string(),
      z.transform((one) => [one]),
    ),
  ])
  .check(
    z.refine((values) => !values.some((value) => value.includes("${")), "Policy variables are not evaluated here"),
  );
const statement = z
  .strictObject({
    Sid: z.optional(z.string()),
    Effect: z.enum(["Allow", "Deny"]),
    Action: z.optional(oneOrMore),
    NotAction: z.optional(oneOrMore),
    Resource: z.optional(oneOrMore),
    NotResource: z.optional(oneOrMore),
    Condition: z._default(
      z.record(
        z.string().check(z.refine((name) => isKnown(name), "Unknown condition operator")),
        z.record(z.string(), oneOrMore),
      ),
      {},
    ),
  })
  .check(
    z.refine(({ Action, NotAction }) => (Action === undefined) !== (NotAction === undefined), "Action or NotAction"),
    z.refine(
      ({ Resource, NotResource }) => (Resource === undefined) !== (NotResource === undefined),
      "Resource or NotResource",
    ),
  );
export type Statement = z.output<typeof statement>;

const document = z.strictObject({
  Version: z.literal("2012-10-17"),
  Statement: z.union([
    z.array(statement),
    z.pipe(
      statement,
      z.transform((one) => [one]),
    ),
  ]),
});

/** The statements of a policy whose references are resolved; throws on whatever is not evaluated here. */
export const statementsIn = (policy: unknown): readonly Statement[] => document.parse(policy).Statement;

/** An explicit deny wins; without an allow nothing is allowed. */
export const evaluate = (statements: readonly Statement[], request: IamRequest): Decision => {
  const applying = statements.filter((one) => applies(one, request));
  if (applying.some(({ Effect }) => Effect === "Deny")) return "denied";
  return applying.length > 0 ? "allowed" : "not allowed";
};

/** Whether a statement is about a request. */
export const applies = (statement: Statement, { action, resource, context }: IamRequest): boolean => {
  if (!isAbout(statement, action, resource)) return false;
  const conditions = Object.entries(statement.Condition);
  if (conditions.length === 0) return true;
  const values = new Map(Object.entries(context).map(([key, value]) => [key.toLowerCase(), value]));
  return conditions.every(([name, keys]) =>
    Object.entries(keys).every(([key, wanted]) => holds(name, key, values.get(key.toLowerCase()), wanted)),
  );
};

const known = new WeakMap<Statement, Map<string, boolean>>();
/** Actions and resources are few, and the functions of a test ask thousands of times. */
const isAbout = (statement: Statement, action: string, resource: string): boolean => {
  const ofStatement = known.get(statement) ?? new Map<string, boolean>();
  known.set(statement, ofStatement);
  const asked = `${action} ${resource}`;
  const about = ofStatement.get(asked) ?? matchesBoth(statement, action, resource);
  ofStatement.set(asked, about);
  return about;
};

const matchesBoth = (
  { Action, NotAction, Resource, NotResource }: Statement,
  action: string,
  resource: string,
): boolean => {
  const isAction = (pattern: string): boolean => glob(pattern.toLowerCase(), action.toLowerCase());
  const isResource = (pattern: string): boolean => pattern === "*" || matchesArn(pattern, resource);
  if (Action !== undefined ? !Action.some(isAction) : NotAction?.some(isAction)) return false;
  return !(Resource !== undefined ? !Resource.some(isResource) : NotResource?.some(isResource));
};

const patterns = new Map<string, RegExp>();
/** `*` is any text, also none, and `?` one character. */
const glob = (pattern: string, text: string): boolean => {
  const known = patterns.get(pattern);
  const compiled =
    known ??
    new RegExp(
      `^${pattern
        .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
        .replaceAll("*", ".*")
        .replaceAll("?", ".")}$`,
      "s",
    );
  if (known === undefined) patterns.set(pattern, compiled);
  return compiled.test(text);
};

/** Each of the six parts of an ARN is matched separately; the last one may contain colons. */
const matchesArn = (pattern: string, arn: string): boolean => {
  const [wanted, found] = [partsOf(pattern), partsOf(arn)];
  return wanted.every((part, position) => glob(part, found[position] ?? ""));
};
const partsOf = (arn: string): readonly string[] => {
  const parts = arn.split(":");
  if (parts.length < 6 || parts[0] !== "arn") throw new Error(`No ARN: ${arn}`);
  return [...parts.slice(0, 5), parts.slice(5).join(":")];
};

/** Whether a value of the request matches one of the policy. */
type Match = (wanted: string, found: string) => boolean;

const isWithin: Match = (range, address) => {
  const [network = "", bits] = range.split("/");
  const family = isIP(network) === 6 ? "ipv6" : "ipv4";
  const list = new BlockList();
  list.addSubnet(network, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
};

const matches: Readonly<Record<string, Match>> = {
  StringEquals: (wanted, found) => wanted === found,
  StringLike: glob,
  ArnEquals: matchesArn,
  ArnLike: matchesArn,
  Bool: (wanted, found) => wanted.toLowerCase() === found.toLowerCase(),
  IpAddress: isWithin,
};
const negations: Readonly<Record<string, Match>> = {
  StringNotEquals: (wanted, found) => wanted === found,
  StringNotLike: glob,
  ArnNotEquals: matchesArn,
  ArnNotLike: matchesArn,
  NotIpAddress: isWithin,
};
const NULL = "Null";

const OPERATOR = /^(?:(ForAllValues|ForAnyValue):)?([A-Za-z]+?)(IfExists)?$/;
const isKnown = (name: string): boolean => {
  const [, set, base = "", ifExists] = OPERATOR.exec(name) ?? [];
  if (base === NULL) return set === undefined && ifExists === undefined;
  return Object.hasOwn(matches, base) || Object.hasOwn(negations, base);
};

const holds = (
  name: string,
  key: string,
  found: string | readonly string[] | undefined,
  wanted: readonly string[],
): boolean => {
  const [, set, base = "", ifExists] = OPERATOR.exec(name) ?? [];
  // A list without a value counts as an absent key.
  const isAbsent = found === undefined || found.length === 0;
  if (base === NULL) return wanted.some((value) => (value.toLowerCase() === "true") === isAbsent);
  const negated = negations[base];
  const match = negated ?? matches[base];
  if (match === undefined) throw new Error(`Unknown condition operator ${name}`);
  const isMatch = (value: string): boolean => wanted.some((one) => match(one, value)) !== (negated !== undefined);
  if (isAbsent) return set === undefined ? negated !== undefined || ifExists !== undefined : set === "ForAllValues";
  if (typeof found === "string") {
    // AWS warns of it: such a policy may allow too much.
    if (set !== undefined) throw new Error(`${name} of ${key}, which has one value`);
    return isMatch(found);
  }
  if (set === undefined) throw new Error(`${name} of ${key}, which has many values, needs ForAllValues or ForAnyValue`);
  return set === "ForAllValues" ? found.every(isMatch) : found.some(isMatch);
};
