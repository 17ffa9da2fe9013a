/** Header names of the contract, lower-case as API Gateway hands them over. Source: INTERFACE "Limits" and docs/decisions/0001. */
export const headers = {
  apiKey: "x-api-key",
  errorCode: "x-error-code",
  idempotencyKey: "idempotency-key",
  idempotentReplayed: "idempotent-replayed",
  rateLimit: "x-ratelimit-limit",
  rateRemaining: "x-ratelimit-remaining",
  requestId: "x-request-id",
  retryAfter: "retry-after",
  transactionReference: "x-transaction-reference",
} as const;
