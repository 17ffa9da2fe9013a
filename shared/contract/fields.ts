import * as z from "zod";

/** The caller's own id of an order, unique within account and mode for ever. Source: docs/interface.md 7.1, 7.3. */
export const referenceField = z
  .string("Must be a string")
  .regex(/^[A-Za-z0-9._:-]{1,100}$/, "Must be 1 to 100 of the characters A-Z a-z 0-9 . _ : -");

/** A Nigerian mobile number of 11 digits. Source: docs/interface.md 4.D5. */
export const phoneNumberField = z
  .string("Must be a string of 11 digits")
  .regex(/^0[789][01][0-9]{8}$/, "Must be an 11-digit Nigerian mobile number such as 08031234567");

/** A time whose year in UTC has four digits: the ledger sorts times as texts. */
export const timeField = z.iso
  .datetime({ offset: true })
  .refine((time) => new Date(time).getUTCFullYear() >= 0 && new Date(time).getUTCFullYear() <= 9_999, {
    error: "Must be a time of the years 0 to 9999 in UTC",
  });

/** An id from the catalog. */
export const idField = z
  .int({ error: (issue) => (issue.input === undefined ? undefined : "Must be an integer") })
  .positive("Must be a positive integer");
