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

/** In the path of a lookup, a URL takes these for folders: the lookup would be of something else. */
export const isFolder = (reference: string): boolean => reference === "." || reference === "..";
