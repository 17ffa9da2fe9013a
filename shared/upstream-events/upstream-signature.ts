import { createHmac } from "node:crypto";
import * as z from "zod";

/**
 * How the upstream signs its events: HMAC-SHA256 over the exact bytes of the body. Header and encoding are settings,
 * because the upstream's interface names neither.
 */
export const upstreamSignature = z.strictObject({
  header: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,100}$/, "A header's name has letters, digits and hyphens only")
    .transform((name) => name.toLowerCase()),
  encoding: z.enum(["hex", "base64"], "The encoding must be hex or base64"),
  /** Precedes the signature in the header, such as `sha256=`. */
  prefix: z
    .string()
    .regex(/^[\x21-\x7e]{0,20}$/, "A prefix has at most 20 printable characters")
    .default(""),
});
export type UpstreamSignature = z.output<typeof upstreamSignature>;

/** The setting as functions get it: JSON, or empty if signatures are not checked. */
export const parseUpstreamSignature = (setting: string): UpstreamSignature | undefined =>
  setting === "" ? undefined : upstreamSignature.parse(JSON.parse(setting));

/** The value of the header for a body. */
export const signatureOf = (
  { encoding, prefix }: Omit<UpstreamSignature, "header">,
  key: string,
  body: string | Uint8Array,
): string => `${prefix}${createHmac("sha256", key).update(body).digest(encoding)}`;
