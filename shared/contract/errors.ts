/**
 * Every failure that a caller meets: its code (the header `X-Error-Code`), its HTTP status and its sentence.
 * The one list; source: INTERFACE "Errors" and docs/decisions/0001-contract-gaps.md.
 */
export const errors = {
  invalid_json: { status: 400, message: "The request body must be a JSON object of at most 16 KB" },
  missing_parameter: { status: 400, message: "A required parameter is missing" },
  consent_required: { status: 400, message: "The individual's consent is required: send is_consent true" },
  insufficient_balance: { status: 400, message: "The wallet balance is too low for this request" },
  missing_api_key: { status: 401, message: "No API key was sent: use Authorization: Bearer <key> or X-API-KEY" },
  invalid_api_key: { status: 401, message: "The API key is not valid" },
  account_restricted: { status: 403, message: "This account is restricted" },
  permission_denied: { status: 403, message: "This API key lacks the permission for this request" },
  ip_not_whitelisted: { status: 403, message: "The IP address of this request is not whitelisted" },
  not_found: { status: 404, message: "No such resource" },
  record_not_found: {
    status: 404,
    message: "No record was found; the amount was returned. Another attempt needs a new reference",
  },
  validation_failed: { status: 422, message: "Some fields are not valid" },
  reference_reused: { status: 422, message: "That reference was used for a different request" },
  plan_unavailable: { status: 422, message: "That data plan is not available" },
  rate_limited: { status: 429, message: "Too many requests: wait before sending another" },
  internal_error: { status: 500, message: "Something went wrong on our side; this request was not charged" },
  delivery_failed: {
    status: 502,
    message: "The order was not delivered; the amount was returned. Another attempt needs a new reference",
  },
  provider_unavailable: {
    status: 503,
    message: "The service cannot take this request now; it charged nothing. Send it again after Retry-After seconds",
  },
  provider_timeout: {
    status: 504,
    message: "The provider did not answer in time; the amount was returned. Another attempt needs a new reference",
  },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errors;
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errors, code);
/** The codes as a list. */
export const errorCodes = Object.keys(errors).filter(isErrorCode);

/** Messages keyed by request field (INTERFACE "Error envelope"). */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** What an error may carry beside its code. */
export type ErrorDetails = {
  /** Replaces the table's sentence where the answer must name a value, such as the address that we saw. */
  readonly message?: string;
  readonly fields?: FieldErrors;
  /** Seconds until another request makes sense: `Retry-After`. */
  readonly retryAfterS?: number;
  /** Set once a transaction was made: `X-Transaction-Reference`. */
  readonly transactionReference?: string;
  /** True when a repeated reference gets its first answer again. */
  readonly replayed?: boolean;
};

/**
 * Becomes an answer with `X-Error-Code` in exactly one place, the API handler. Guarantees that this request charged nothing and
 * left no open transaction. About an earlier request with the same reference it says nothing: that one is found by looking it up.
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
 * It is not known whether this request, or an earlier one with its reference, was charged, so that no `ServiceError` may leave.
 * The invocation fails, and the caller meets the platform's own 5xx: without `X-Error-Code` the outcome is unknown, and the
 * caller repeats with the same reference.
 */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}
