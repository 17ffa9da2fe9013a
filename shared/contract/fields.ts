import * as z from "#zod";
import { components } from "./components.ts";

/** DynamoDB refuses half of a surrogate pair, which is left where a text was cut within a character: it becomes U+FFFD. */
export const wellFormed = z.overwrite((text: string) => text.toWellFormed());

/** The same where another text would name another thing: it is refused. */
export const wholeText = z.refine<string>((text) => text.isWellFormed(), "Must be Unicode");

const REFERENCE_RULE = "Must be 1 to 100 of the characters A-Z a-z 0-9 . _ : -, and not . or ..";

/** The caller's own id of an order, unique within account and mode for ever. Source: docs/interface.md 7.1, 7.3. */
export const referenceField = z
  .string()
  .check(
    z.regex(/^[A-Za-z0-9._:-]{1,100}$/, REFERENCE_RULE),
    // In a path they are resolved before the request is sent: the order could not be looked up.
    z.refine((reference) => reference !== "." && reference !== "..", REFERENCE_RULE),
  )
  .register(z.globalRegistry, {
    description:
      "The caller's own id of an order, not `.` or `..`, nor the service's reference of another order. It is stored in clear text: a request whose reference contains its own NIN, BVN or phone number is refused.",
    examples: ["order-1042"],
  })
  .register(components, { id: "Reference" });

/** A Nigerian mobile number of 11 digits. Source: docs/interface.md 4.D5. */
export const phoneNumberField = z
  .string("Must be a string of 11 digits")
  .check(z.regex(/^0[789][01][0-9]{8}$/, "Must be an 11-digit Nigerian mobile number such as 08031234567"))
  .register(z.globalRegistry, { description: "A Nigerian mobile number, 11 digits.", examples: ["08031234567"] })
  .register(components, { id: "PhoneNumber" });

export const idField = z.int().check(z.positive());

/** An amount of NGN in a response. */
export const amountField = z.number().register(z.globalRegistry, { description: "NGN, at most 2 decimals." });
export const createdAtField = z.iso.datetime().register(z.globalRegistry, { description: "Time of creation, in UTC." });
export const updatedAtField = z.iso
  .datetime()
  .register(z.globalRegistry, { description: "Time of the last change, in UTC." });
