import type { TransactionStatus } from "./contract-types.ts";
import { isRecord } from "./field-names.ts";
import type { Settings } from "./settings.ts";

const STATUSES: Readonly<Record<TransactionStatus, true>> = { processing: true, success: true, failed: true };

/**
 * Only what decides a transaction is checked, because fields of an answer may be added later. A status that this
 * release does not know is no answer: an app that compares with `success` would take it for `failed`. Nor is a
 * transaction of the other mode: a simulated success delivers nothing.
 */
export const isTransaction = <Transaction extends { reference: string; status: TransactionStatus }>(
  settings: Pick<Settings, "apiKey">,
  value: unknown,
): value is Transaction =>
  isRecord(value) &&
  typeof value.reference === "string" &&
  value.reference !== "" &&
  isOfMode(settings, value.reference) &&
  typeof value.status === "string" &&
  Object.hasOwn(STATUSES, value.status);

/** True if the transaction is of the key's mode. */
export const isOfMode = ({ apiKey }: Pick<Settings, "apiKey">, reference: string): boolean =>
  reference.startsWith("TEST_") === apiKey.startsWith("test_");

/** Throws a `TypeError` for what cannot be a reference. In the path of a lookup, a URL takes `.` and `..` for folders. */
export const checkReference = (reference: unknown): string => {
  if (typeof reference !== "string" || !/^(?!\.{1,2}$)[\w.:-]{1,100}$/.test(reference)) {
    throw new TypeError("reference must be 1 to 100 of the characters A-Z a-z 0-9 . _ : - and not . or ..");
  }
  return reference;
};
