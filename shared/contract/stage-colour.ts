import * as z from "#zod";

/** The colours by which people tell stages apart; console/app/shell.module.css has them. */
export const stageColourSchema = z.enum(["red", "amber", "green", "blue", "violet"]);
export type StageColour = z.output<typeof stageColourSchema>;
