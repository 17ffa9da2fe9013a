import type { TransactionStatus } from "./contract-types.ts";
import { isRecord } from "./field-names.ts";

const STATUSES: Readonly<Record<TransactionStatus, true>> = { processing: true, success: true, failed: true };

/**
 * Only what decides a transaction is checked, because fields of an answer may be added later. A status that this release
 * does not know is no answer: an app that compares with `success` would take it for `failed`.
 */
export const isTransaction = <Transaction extends { reference: string; status: TransactionStatus }>(
  value: unknown,
): value is Transaction =>
  isRecord(value) &&
  typeof value.reference === "string" &&
  typeof value.status === "string" &&
  Object.hasOwn(STATUSES, value.status);

/** In the path of a lookup, a URL takes these for folders: the lookup would be of something else. */
export const isFolder = (reference: string): boolean => reference === "." || reference === "..";
