import { config } from "zod";

/**
 * By default zod compiles a parser for each schema at its first use, which costs a cold start some 30 ms and gains
 * nothing measurable with schemas of this size. It must run first in each bundle, because zod reads this when a schema
 * is created.
 */
config({ jitless: true });
