import type { FieldErrors } from "../../shared/contract/errors.ts";

type ActionErrorDetails = {
  /** Absent if no answer came. */
  readonly status?: number;
  /** `x-error-code`. */
  readonly code?: string;
  /** Messages by field of the input. */
  readonly fields?: FieldErrors;
  /** The same request may succeed after this many seconds. */
  readonly retryAfterS?: number;
  /** It is not known whether the change was made. */
  readonly isOutcomeUnknown?: boolean;
  /** The change was made or proposed, but the page does not understand the answer. */
  readonly isDone?: boolean;
};

/** Why an action failed, as a sentence for the person. */
export class ActionError extends Error {
  override readonly name = "ActionError";
  readonly details: ActionErrorDetails;

  constructor(sentence: string, details: ActionErrorDetails = {}, options?: ErrorOptions) {
    super(sentence, options);
    this.details = details;
  }
}

/** Whether the same request would fail again: it was refused, or the page does not understand the service's answers. */
export const isLasting = (error: unknown): boolean => {
  const status = error instanceof ActionError ? error.details.status : undefined;
  return status !== undefined && status < 500 && status !== 401 && status !== 429;
};

/** The sentence of any error, for an alert. */
export const sentenceOf = (error: unknown): string =>
  error instanceof ActionError ? error.message : "The page failed unexpectedly. Reload it.";
