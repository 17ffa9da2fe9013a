import * as z from "zod";
import { demandLimit, demandPart, type SurfaceDraft } from "./surface-schema.ts";

/** As much of a JSON schema as its users see. Texts and examples may change. */
const jsonSchema = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  allOf: z.array(z.unknown()).default([]),
  anyOf: z.array(z.unknown()).default([]),
  oneOf: z.array(z.unknown()).default([]),
  default: z.unknown().optional(),
});
/** What a value that is sent must be like; a whole number of JavaScript has limits that are none. */
const limits = z.object({
  format: z.string().optional(),
  pattern: z.string().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z
    .number()
    .min(Number.MIN_SAFE_INTEGER + 1)
    .optional()
    .catch(undefined),
  maximum: z
    .number()
    .max(Number.MAX_SAFE_INTEGER - 1)
    .optional()
    .catch(undefined),
  exclusiveMinimum: z.number().optional(),
  exclusiveMaximum: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
});

type Walk = {
  readonly draft: SurfaceDraft;
  /** Whether the users send it, or read it. */
  readonly direction: "sent" | "read";
  /** The schema that a `$ref` names. */
  readonly resolve: (ref: string) => unknown;
};

/**
 * Adds what a schema says of the value at `path`. A new field and a new value of an enumeration are added offers; of what
 * is read, a type that can be null from now on is another type, and a field that can be missing is a dropped offer.
 */
export const addSchema = (walk: Walk, path: string, schema: unknown, inRefs: readonly string[] = []): void => {
  const { draft, direction, resolve } = walk;
  const { $ref, ...found } = jsonSchema.parse(schema);
  if ($ref !== undefined) {
    // A schema that contains itself, such as JSON, ends here.
    if (!inRefs.includes($ref)) addSchema(walk, path, resolve($ref), [...inRefs, $ref]);
    return;
  }
  const alternatives = [...found.anyOf, ...found.oneOf];
  const types = [...typesOf(schema, resolve)].toSorted();
  if (direction === "sent") for (const type of types) draft.offers.set(`${path}: ${type}`, "");
  else if (types.length > 0) draft.offers.set(path, types.join(" | "));
  const values = found.const === undefined ? (found.enum ?? []) : [found.const];
  for (const value of values) draft.offers.set(`${path} = ${JSON.stringify(value)}`, "");
  if (direction === "sent") {
    for (const [name, limit] of Object.entries(limits.parse(schema)))
      if (limit !== undefined) demandLimit(draft, path, name, String(limit));
  }
  if (found.default !== undefined) draft.offers.set(`${path} default`, JSON.stringify(found.default));
  for (const [name, property] of Object.entries(found.properties)) {
    const field = `${path}.${name}`;
    if (found.required.includes(name)) {
      if (direction === "sent") demandPart(draft, path, name);
      else draft.offers.set(`${field} is always there`, "");
    }
    addSchema(walk, field, property, inRefs);
  }
  if (z.object({}).safeParse(found.additionalProperties).success)
    addSchema(walk, `${path}.*`, found.additionalProperties, inRefs);
  if (found.items !== undefined) addSchema(walk, `${path}[]`, found.items, inRefs);
  for (const part of [...found.allOf, ...alternatives]) addSchema(walk, path, part, inRefs);
  // Each alternative has said its own.
  if (direction === "read" && types.length > 0) draft.offers.set(path, types.join(" | "));
};

/** The JSON types that a value may have. */
const typesOf = (schema: unknown, resolve: Walk["resolve"]): ReadonlySet<string> => {
  const { $ref, type = [], const: only, allOf, anyOf, oneOf } = jsonSchema.parse(schema);
  if ($ref !== undefined) return typesOf(resolve($ref), resolve);
  const own = type.length === 0 && only !== undefined ? [only === null ? "null" : typeof only] : [type].flat();
  return new Set([...own, ...[...allOf, ...anyOf, ...oneOf].flatMap((part) => [...typesOf(part, resolve)])]);
};
