import { isTransientError } from "@smithy/core/retry";
import { UnprocessedKeysError } from "../../shared/ledger/get-item.ts";
import { isContention } from "../../shared/platform/backoff.ts";

type SdkError = Parameters<typeof isTransientError>[0];

const isSdkError = (error: unknown): error is SdkError =>
  error instanceof Error && (error.cause === undefined || error.cause instanceof Error);

/** Contention, a time-out, a broken connection or a server error: the same call may succeed in a moment. */
export const isTransient = (error: unknown): boolean =>
  isContention(error) || error instanceof UnprocessedKeysError || (isSdkError(error) && isTransientError(error));
