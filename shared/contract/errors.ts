import { BODY_BYTES_MAX } from "./limits.ts";

export const BODY_LIMIT = `${BODY_BYTES_MAX / 1_024} KB`;

/** Ends the message of every error that follows a debit. */
export const REFUNDED = "the amount was refunded. Another attempt needs a new reference";

/** Every error: its code (the header `X-Error-Code`), HTTP status and message. Source: docs/interface.md 5.5. */
export const errors = {
  invalid_json: { status: 400, message: `The request body must be a JSON object of at most ${BODY_LIMIT}` },
  missing_parameter: { status: 400, message: "A required parameter is missing" },
  consent_required: { status: 400, message: "The individual's consent is required: send is_consent true" },
  insufficient_balance: { status: 400, message: "The wallet balance is too low for this request" },
  missing_api_key: { status: 401, message: "No API key was sent: use Authorization: Bearer <key> or X-API-KEY" },
  invalid_api_key: { status: 401, message: "The API key is not valid" },
  account_restricted: { status: 403, message: "This account is restricted" },
  permission_denied: { status: 403, message: "This API key lacks the permission for this request" },
  ip_not_whitelisted: { status: 403, message: "The IP address of this request is not whitelisted" },
  not_found: { status: 404, message: "No such resource" },
  record_not_found: { status: 404, message: `No record was found; ${REFUNDED}` },
  validation_failed: { status: 422, message: "Some fields are not valid" },
  reference_reused: { status: 422, message: "This reference was used for a different request" },
  plan_unavailable: { status: 422, message: "This data plan is not available" },
  price_changed: { status: 422, message: "The price is not the expected one; nothing was charged" },
  possible_duplicate: {
    status: 422,
    message:
      "The order is like one that was placed shortly before; nothing was charged. If it is meant, send it with the header X-Confirm-Duplicate: true",
  },
  limit_reached: {
    status: 422,
    message: "The order would pass a limit of this account or API key; nothing was charged",
  },
  order_cancelled: {
    status: 422,
    message: "The order was cancelled before it was placed; nothing was charged. Another attempt needs a new reference",
  },
  rate_limited: { status: 429, message: "Too many requests: wait before sending another" },
  internal_error: { status: 500, message: "The service failed unexpectedly; this request charged nothing" },
  delivery_failed: { status: 502, message: `The order was not delivered; ${REFUNDED}` },
  provider_unavailable: {
    status: 503,
    message: "The service cannot take this request now and charged nothing: send it again after Retry-After seconds",
  },
  provider_timeout: { status: 504, message: `The upstream did not answer in time; ${REFUNDED}` },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errors;
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errors, code);
export const errorCodes = Object.keys(errors).filter(isErrorCode);

/** Messages by request field. Source: docs/interface.md 4.3. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** What an error says beyond its code. */
export type ErrorDetails = {
  /** Replaces the table's message, for example to name the address that was refused. */
  readonly message?: string;
  readonly fields?: FieldErrors;
  /** Seconds to wait before a retry: `Retry-After`. */
  readonly retryAfterS?: number;
  /** The reference of the transaction that the order is like: `X-Duplicate-Of`. */
  readonly duplicateOf?: string;
  /** Set if a transaction was made: `X-Transaction-Reference`. */
  readonly transactionReference?: string;
  /** True if this is the response to a replay. */
  readonly replayed?: boolean;
};

/**
 * An error with `X-Error-Code`. Guarantees that this request charged nothing and left no open transaction. It says
 * nothing about an earlier request with the same reference (docs/interface.md 5.6).
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(details.message ?? errors[code].message, options);
    this.code = code;
    this.details = details;
  }
}

/**
 * It is unknown whether this request, or an earlier one with its reference, was charged, so a `ServiceError` would be
 * wrong. The caller gets the platform's own 500, without `X-Error-Code` (docs/interface.md 5.7).
 */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}
