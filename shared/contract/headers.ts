/** Header names of the interface, in lower case as API Gateway passes them. Source: docs/interface.md 4.7. */
export const headers = {
  apiKey: "x-api-key",
  callerReference: "x-caller-reference",
  confirmDuplicate: "x-confirm-duplicate",
  duplicateOf: "x-duplicate-of",
  errorCode: "x-error-code",
  estimatedDelivery: "x-estimated-delivery",
  idempotencyKey: "idempotency-key",
  idempotentReplayed: "idempotent-replayed",
  rateLimit: "x-ratelimit-limit",
  rateRemaining: "x-ratelimit-remaining",
  requestId: "x-request-id",
  retryAfter: "retry-after",
  transactionReference: "x-transaction-reference",
} as const;

/** Also of what API Gateway answers by itself, whose literals in single quotes cannot have such quotes in them. */
export const gatewaySecurityHeaders = {
  "strict-transport-security": "max-age=31536000",
  "x-content-type-options": "nosniff",
} as const;

/**
 * Of every response: it is read as what its type says, no page shows it in a frame, and its host is asked over TLS only,
 * for a year. Pages have stricter policies of their own.
 */
export const securityHeaders = {
  ...gatewaySecurityHeaders,
  "content-security-policy": "object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
} as const;
