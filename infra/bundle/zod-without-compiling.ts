import { config } from "zod/v4";

export * from "zod/v4";

/**
 * By default zod compiles a parser for each schema at its first use, which costs a cold start some 30 ms and gains
 * nothing measurable with schemas of this size. In bundles this module takes zod's place, because zod reads this when a
 * schema is created.
 */
config({ jitless: true });
