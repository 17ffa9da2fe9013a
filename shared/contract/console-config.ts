import * as z from "#zod";

/** `/console/config.json`: how the page signs people in. */
export const consoleConfigSchema = z.object({
  /** The OpenID Connect provider, exactly as its tokens name it. */
  issuer: z.string(),
  clientId: z.string(),
  /** The scopes that the page asks for, separated by spaces. */
  scope: z.string(),
  /** The service refuses a token that is older. */
  tokenMinutesMax: z.int(),
});
export type ConsoleConfig = z.output<typeof consoleConfigSchema>;
