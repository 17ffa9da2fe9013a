import { createHmac } from "node:crypto";
import * as z from "zod";

/**
 * How the upstream signs its events: HMAC-SHA256 over the body's exact bytes. Its interface names no header and no encoding, so
 * that both are settings.
 */
export const upstreamSignature = z.strictObject({
  header: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,100}$/, "A header's name has letters, digits and hyphens only")
    .transform((name) => name.toLowerCase()),
  encoding: z.enum(["hex", "base64"], "The encoding must be hex or base64"),
  /** What stands before the signature in the header, such as `sha256=`. */
  prefix: z
    .string()
    .regex(/^[\x21-\x7e]{0,20}$/, "A prefix has at most 20 printable characters")
    .default(""),
});
export type UpstreamSignature = z.output<typeof upstreamSignature>;

/** The setting as functions get it: JSON, or empty where signatures are not checked. */
export const parseUpstreamSignature = (setting: string): UpstreamSignature | undefined =>
  setting === "" ? undefined : upstreamSignature.parse(JSON.parse(setting));

/** The header's value for a body. */
export const signatureOf = (
  { encoding, prefix }: Omit<UpstreamSignature, "header">,
  key: string,
  body: string | Uint8Array,
): string => `${prefix}${createHmac("sha256", key).update(body).digest(encoding)}`;
