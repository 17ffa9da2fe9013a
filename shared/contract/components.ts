import * as z from "#zod";

/** The schemas that have a name in the OpenAPI document: `components.schemas`. Descriptions are in their `meta`. */
export const components = z.registry<{ id: string }>();
