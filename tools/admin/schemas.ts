import * as z from "#zod";

/** The schema of a value that is there: without its default, and without that it may be absent or null. */
export const valueSchema = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniNullable || schema instanceof z.ZodMiniDefault
    ? valueSchema(schema.def.innerType)
    : schema;

/** What a schema, or that of its value, is described as. */
export const metaOf = (schema: z.core.$ZodType): z.core.GlobalMeta => ({
  ...z.globalRegistry.get(valueSchema(schema)),
  ...z.globalRegistry.get(schema),
});
