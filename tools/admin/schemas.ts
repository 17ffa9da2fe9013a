import * as z from "zod";

/** The schema of a value that is there: without its default, and without that it may be absent or null. */
export const valueSchema = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
    ? valueSchema(schema.unwrap())
    : schema;

/** What a schema, or that of its value, is described as. */
export const metaOf = (schema: z.core.$ZodType): z.core.GlobalMeta => ({
  ...z.globalRegistry.get(valueSchema(schema)),
  ...z.globalRegistry.get(schema),
});
