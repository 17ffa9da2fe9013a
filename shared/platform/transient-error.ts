import { isThrottlingError, isTransientError } from "@smithy/core/retry";
import { isContention } from "./backoff.ts";

type SdkError = Parameters<typeof isTransientError>[0];

const isSdkError = (error: unknown): error is SdkError =>
  error instanceof Error && (error.cause === undefined || error.cause instanceof Error);

/** Contention, throttling, a time-out, a broken connection or a server error: the same call may succeed in a moment. */
export const isTransient = (error: unknown): boolean =>
  isContention(error) ||
  (isSdkError(error) && (isAborted(error) || isTransientError(error) || isThrottlingError(error)));

/** Calls are aborted when their time is over. */
const isAborted = ({ name }: Error): boolean => name === "AbortError";
