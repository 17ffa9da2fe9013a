import * as z from "#zod";
import { components } from "../components.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

const refTo = (id: string): string => `#/components/schemas/${id}`;

export const schemaName = (schema: z.ZodMiniType): string | undefined => components.get(schema)?.id;

export const schemaRef = (schema: z.ZodMiniType): { $ref: string } => {
  const name = schemaName(schema);
  if (name === undefined) {
    const fields = Object.keys(z.toJSONSchema(schema).properties ?? {}).join(", ");
    throw new Error(`The schema with the fields ${fields} has no name: end it with .register(components, { id })`);
  }
  return { $ref: refTo(name) };
};

/** Every named schema as JSON Schema: `inputs` as callers send them, the others as the service does. */
export const jsonSchemas = (inputs: readonly z.ZodMiniType[]): Record<string, JsonSchema> => {
  const names = new Set(inputs.map(schemaName));
  const received = jsonSchemasOf("input");
  return Object.fromEntries(
    Object.entries(jsonSchemasOf("output"))
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, sent]) => {
        const { $schema: _dialect, $id: _id, ...schema } = { ...(names.has(name) ? received[name] : sent) };
        return [name, schema];
      }),
  );
};

const jsonSchemasOf = (io: "input" | "output") =>
  z.toJSONSchema(components, { io, uri: refTo, override: ({ jsonSchema }) => tidy(jsonSchema) }).schemas;

/**
 * Removes redundant or misleading keywords: patterns of formats, bounds of integers, `multipleOf` (0.01 is no binary
 * fraction) and closed objects, because v1 may grow. Generators of clients take a boolean constant for the text "true", and
 * make a class of a choice between formats.
 */
const tidy = (schema: JsonSchema): void => {
  delete schema.multipleOf;
  delete schema.propertyNames;
  if (schema.format !== undefined) delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  const { additionalProperties: others } = schema;
  if (others === false) delete schema.additionalProperties;
  if (typeof others === "object" && Object.keys(others).length === 0) schema.additionalProperties = true;
  if (typeof schema.const === "boolean") {
    schema.not = { const: !schema.const };
    delete schema.const;
  }
  if (schema.anyOf?.every(({ type, format }) => type === "string" && format !== undefined)) {
    delete schema.anyOf;
    schema.type = "string";
  }
  if (schema.anyOf) schema.anyOf = schema.anyOf.flatMap((option) => option.anyOf ?? [option]);
};
