import * as z from "#zod";
import { components } from "./components.ts";
import { lazyObject } from "./lazy-object.ts";

const messageField = z.string().register(z.globalRegistry, { description: "A sentence for people; it may change." });

/** The success envelope. Source: docs/interface.md 4.2. */
export const successEnvelope = <Data extends z.ZodMiniType>(data: Data) =>
  z.object({ status: z.literal(true), message: messageField, data });

/** The error envelope; `errors` names single fields that are wrong. Source: docs/interface.md 4.3. */
export const errorEnvelope = lazyObject(() => ({
  status: z.literal(false),
  message: messageField,
  errors: z
    .optional(z.record(z.string(), z.array(z.string())))
    .register(z.globalRegistry, { description: "Messages by request field; present if single fields are wrong." }),
})).register(components, { id: "ErrorEnvelope" });
