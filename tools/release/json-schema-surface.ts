import * as z from "#zod";
import { demandLimit, demandPart, type SurfaceDraft } from "./surface-schema.ts";

/** As much of a JSON schema as its users see. Texts and examples may change. */
const jsonSchema = z.object({
  $ref: z.optional(z.string()),
  type: z.optional(z.union([z.string(), z.array(z.string())])),
  enum: z.optional(z.array(z.unknown())),
  const: z.optional(z.unknown()),
  /** Of a boolean with one value (shared/contract/openapi/openapi-schemas.ts). */
  not: z.optional(z.object({ const: z.boolean() })),
  properties: z._default(z.record(z.string(), z.unknown()), {}),
  required: z._default(z.array(z.string()), []),
  additionalProperties: z.optional(z.unknown()),
  /** Of an array; of a tuple `false`, after its `prefixItems`. */
  items: z.optional(z.unknown()),
  prefixItems: z._default(z.array(z.unknown()), []),
  allOf: z._default(z.array(z.unknown()), []),
  anyOf: z._default(z.array(z.unknown()), []),
  oneOf: z._default(z.array(z.unknown()), []),
  default: z.optional(z.unknown()),
});
/** What a value that is sent must be like; a whole number of JavaScript has limits that are none. */
const limits = z.object({
  format: z.optional(z.string()),
  pattern: z.optional(z.string()),
  minLength: z.optional(z.number()),
  maxLength: z.optional(z.number()),
  minimum: z.catch(z.optional(z.number().check(z.minimum(Number.MIN_SAFE_INTEGER + 1))), undefined),
  maximum: z.catch(z.optional(z.number().check(z.maximum(Number.MAX_SAFE_INTEGER - 1))), undefined),
  exclusiveMinimum: z.optional(z.number()),
  exclusiveMaximum: z.optional(z.number()),
  minItems: z.optional(z.number()),
  maxItems: z.optional(z.number()),
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
  const only = found.not ? !found.not.const : found.const;
  const values = only === undefined ? (found.enum ?? []) : [only];
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
  for (const [index, item] of found.prefixItems.entries()) addSchema(walk, `${path}[${index}]`, item, inRefs);
  if (z.object({}).safeParse(found.items).success) addSchema(walk, `${path}[]`, found.items, inRefs);
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
