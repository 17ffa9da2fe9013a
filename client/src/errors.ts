import type { Transaction } from "./contract-types.ts";

/** The codes of `X-Error-Code`. A later release of the service can add codes: a `switch` needs a `default`. */
export type ErrorCode = NonNullable<Transaction["errorCode"]>;

/** The requests of this key's rate group in this minute. */
export type RateState = { readonly limit: number; readonly remaining: number };

type Known = {
  /** The order's reference; undefined for a read. */
  readonly reference?: string | undefined;
  /** `X-Request-Id` of the last answer, for the service's support. */
  readonly requestId?: string | undefined;
  readonly rate?: RateState | undefined;
};

/** Every error that this package throws, except for a `TypeError` if it is called in a wrong way. */
export abstract class AirtimeError extends Error {
  /** The order's reference: the caller's, or the one that the client made. Undefined for a read. */
  readonly reference: string | undefined;
  /** `X-Request-Id` of the last answer, for the service's support. */
  readonly requestId: string | undefined;
  /** The rate of the last answer. */
  readonly rate: RateState | undefined;

  constructor(message: string, known: Known = {}, options?: { cause?: unknown }) {
    super(message, options);
    this.reference = known.reference;
    this.requestId = known.requestId;
    this.rate = known.rate;
  }
}

export type ServiceErrorDetails<Code extends string = ErrorCode> = Known & {
  readonly code: Code;
  readonly status: number;
  readonly message: string;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly retryAfterS: number | undefined;
  readonly transactionReference: string | undefined;
  readonly duplicateOf: string | undefined;
  readonly replayed: boolean;
};

/**
 * The service refused the request or reports a failed order: the answer had `X-Error-Code`. An order that throws it has
 * failed for good: it was refunded, or cancelled before it was placed. Only a check's `ReferenceReusedError` was
 * charged. Every other refusal of an order is the `cause` of an `OutcomeUnknownError`.
 */
export class ServiceError extends AirtimeError {
  override readonly name: string = "ServiceError";
  readonly code: ErrorCode;
  /** The HTTP status. */
  readonly status: number;
  /** Messages by request field, if single fields are wrong. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Seconds after which the same request may be sent again. */
  readonly retryAfterS: number | undefined;
  /** The service's reference of the transaction, if one was made. The order's reference is then used up. */
  readonly transactionReference: string | undefined;
  /** The service's reference of the order that this one is like, if it was refused as a possible duplicate. */
  readonly duplicateOf: string | undefined;
  /** True if an earlier request with this reference made the transaction. */
  readonly replayed: boolean;

  constructor(details: ServiceErrorDetails) {
    super(details.message, details);
    this.code = details.code;
    this.status = details.status;
    this.fields = details.fields;
    this.retryAfterS = details.retryAfterS;
    this.transactionReference = details.transactionReference;
    this.duplicateOf = details.duplicateOf;
    this.replayed = details.replayed;
  }
}

/** A field is missing or wrong: `fields` says which. */
export class InvalidRequestError extends ServiceError {
  override readonly name = "InvalidRequestError";
}
/** The wallet holds less than the price. */
export class InsufficientBalanceError extends ServiceError {
  override readonly name = "InsufficientBalanceError";
}
/** The API key is not valid. */
export class AuthenticationError extends ServiceError {
  override readonly name = "AuthenticationError";
}
/** The account is restricted, the key lacks a permission, or this address is not whitelisted. */
export class PermissionError extends ServiceError {
  override readonly name = "PermissionError";
}
/** No transaction has this reference so far: a request that is under way can still make one. */
export class NotFoundError extends ServiceError {
  override readonly name = "NotFoundError";
}
/** No person has this number; the check was refunded. */
export class RecordNotFoundError extends ServiceError {
  override readonly name = "RecordNotFoundError";
}
/**
 * The reference belongs to another order, perhaps to this one with other fields. With `transactionReference` it belongs
 * to this check, whose result is not kept any more.
 */
export class ReferenceReusedError extends ServiceError {
  override readonly name = "ReferenceReusedError";
}
/** The order was cancelled before it was placed. Another attempt needs a new reference. */
export class OrderCancelledError extends ServiceError {
  override readonly name = "OrderCancelledError";
}
/** The plan is not in the catalog, or belongs to another network. */
export class PlanUnavailableError extends ServiceError {
  override readonly name = "PlanUnavailableError";
}
/** The plan has another price than the catalog that the order was made from. Read it again: `catalog.get()`. */
export class PriceChangedError extends ServiceError {
  override readonly name = "PriceChangedError";
}
/**
 * The order is like the one with the reference `duplicateOf`, which was placed shortly before. If it is meant, order
 * again with a new reference and `confirmDuplicate: true`.
 */
export class PossibleDuplicateError extends ServiceError {
  override readonly name = "PossibleDuplicateError";
}
/** The order would pass a limit of the account or the key: by order, day or month. Its message says which. */
export class LimitReachedError extends ServiceError {
  override readonly name = "LimitReachedError";
}
/** Too many requests, and the deadline does not allow to wait for `retryAfterS`. */
export class RateLimitedError extends ServiceError {
  override readonly name = "RateLimitedError";
}
/** The service cannot take the request now, and the deadline does not allow to wait for `retryAfterS`. */
export class UnavailableError extends ServiceError {
  override readonly name = "UnavailableError";
}
/** The order was not delivered and was refunded. Another attempt needs a new reference. */
export class DeliveryFailedError extends ServiceError {
  override readonly name = "DeliveryFailedError";
}
/** No identity result in time; the check was refunded. Another attempt needs a new reference. */
export class ProviderTimeoutError extends ServiceError {
  override readonly name = "ProviderTimeoutError";
}
/** A failure of the service; the request charged nothing. */
export class InternalError extends ServiceError {
  override readonly name = "InternalError";
}

const classes: Readonly<Record<ErrorCode, new (details: ServiceErrorDetails) => ServiceError>> = {
  invalid_json: InvalidRequestError,
  missing_parameter: InvalidRequestError,
  consent_required: InvalidRequestError,
  validation_failed: InvalidRequestError,
  insufficient_balance: InsufficientBalanceError,
  missing_api_key: AuthenticationError,
  invalid_api_key: AuthenticationError,
  account_restricted: PermissionError,
  permission_denied: PermissionError,
  ip_not_whitelisted: PermissionError,
  not_found: NotFoundError,
  record_not_found: RecordNotFoundError,
  reference_reused: ReferenceReusedError,
  order_cancelled: OrderCancelledError,
  plan_unavailable: PlanUnavailableError,
  price_changed: PriceChangedError,
  possible_duplicate: PossibleDuplicateError,
  limit_reached: LimitReachedError,
  rate_limited: RateLimitedError,
  internal_error: InternalError,
  delivery_failed: DeliveryFailedError,
  provider_unavailable: UnavailableError,
  provider_timeout: ProviderTimeoutError,
};

const isKnown = (details: ServiceErrorDetails<string>): details is ServiceErrorDetails =>
  Object.hasOwn(classes, details.code);

/** The error of the code's class. A code that a later release of the service added makes a plain `ServiceError`. */
export const serviceError = (details: ServiceErrorDetails<string>): ServiceError =>
  isKnown(details) ? new classes[details.code](details) : new ServiceError(details as ServiceErrorDetails);

/** The same error of an order that is cancelled since. */
export const withTransaction = (error: ServiceError, transactionReference: string): ServiceError =>
  serviceError({ ...error, message: error.message, transactionReference });

/** Why an attempt has no readable answer. */
export type NoAnswerReason = "network" | "timeout" | "unreadable" | "mismatch";

/** A read got no readable answer. (For an order it is the `cause` of an `OutcomeUnknownError`.) */
export class NoAnswerError extends AirtimeError {
  override readonly name = "NoAnswerError";
  readonly reason: NoAnswerReason;
  /** The HTTP status, if there was an answer that is not the service's. */
  readonly status: number | undefined;

  constructor(reason: NoAnswerReason, message: string, known: Known & { status?: number }, cause?: unknown) {
    super(message, known, { cause });
    this.reason = reason;
    this.status = known.status;
  }
}

/**
 * The order is not decided: it was placed, or is not placed so far and still may be. Never order again with another
 * reference: send the same order with this reference again, or cancel it. `cause` is how the last attempt ended.
 */
export class OutcomeUnknownError extends AirtimeError {
  override readonly name = "OutcomeUnknownError";
  declare readonly reference: string;

  constructor(reference: string, cause: unknown) {
    const { requestId, rate } = cause instanceof AirtimeError ? cause : {};
    super(
      `The order ${reference} is not decided: it may have been placed, or may still be (${messageOf(cause)}). Send the same ` +
        "order with the same reference again, or give it up with client.transactions.cancel",
      { reference, requestId, rate },
      { cause },
    );
  }
}

/** The caller's signal ended a read, or an order before it was sent. */
export class AbortedError extends AirtimeError {
  override readonly name = "AbortedError";
}

/**
 * `transactions.wait` ended without a final status, at its deadline, by the caller's signal or because a lookup was
 * refused: `cause` says why. It says nothing about how the order ends.
 */
export class WaitEndedError extends AirtimeError {
  override readonly name = "WaitEndedError";
  declare readonly reference: string;
  /** The transaction as it was last seen; undefined if no transaction was found. */
  readonly transaction: Transaction | undefined;

  constructor(reference: string, transaction: Transaction | undefined, cause: unknown) {
    const { requestId, rate } = cause instanceof AirtimeError ? cause : {};
    const why = cause === undefined ? "" : ` (${messageOf(cause)})`;
    super(
      transaction
        ? `The transaction ${reference} is still processing${why}: wait again, or for its webhook. Do not order again`
        : `No transaction ${reference} was found in time${why}: wait again, or send the same order with the same reference`,
      { reference, requestId, rate },
      { cause },
    );
    this.transaction = transaction;
  }
}

/** The request is not a webhook of the service: answer 400 and do nothing. */
export class WebhookVerificationError extends AirtimeError {
  override readonly name = "WebhookVerificationError";
}

export const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
