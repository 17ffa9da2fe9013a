import { createHmac } from "node:crypto";
import type { EventSignature } from "../upstream/profile.ts";

/** The value of the header for a body. */
export const signatureOf = (
  { encoding, prefix }: Omit<EventSignature, "header">,
  key: string,
  body: string | Uint8Array,
): string => `${prefix}${createHmac("sha256", key).update(body).digest(encoding)}`;
