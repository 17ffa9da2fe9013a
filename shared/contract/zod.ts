import { config } from "zod/mini";
import en from "zod/v4/locales/en.js";

/**
 * zod's functional API: a bundle has only the functions that its schemas use (decision 0025). Its messages are English
 * only if that is asked for.
 */
export * from "zod/mini";
// With `z.core.$ZodError` a bundle would have all of `z.core`.
export { $ZodError } from "zod/v4/core";

config(en());
