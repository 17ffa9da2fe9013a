import * as z from "#zod";

export const DUPLICATE_WINDOW_S_MAX = 86_400;

/** Seconds in which a purchase like an earlier one of the account is refused. */
export const duplicateWindowSchema = z.int().check(z.minimum(1), z.maximum(DUPLICATE_WINDOW_S_MAX));
