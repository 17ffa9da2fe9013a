import { config } from "zod";

/**
 * zod writes and compiles a parser for each schema when it is first used, which costs a new function some 30 ms and wins nothing
 * measurable later, at the size of our schemas. First in each bundle, for zod asks when a schema is made.
 */
config({ jitless: true });
