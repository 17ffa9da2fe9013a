import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import type { OperationResult, PreparedResponse, Rate } from "../call/result.ts";
import { type ErrorDetails, errors, type ServiceError } from "../contract/errors.ts";
import { headers, securityHeaders } from "../contract/headers.ts";

export type ApiResponse = APIGatewayProxyStructuredResultV2 & { headers: Record<string, string> };

/** No cache between caller and service may give an answer about an order to another request. */
const json = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store", ...securityHeaders };

export const successResponse = ({ message, data, headers }: OperationResult<unknown>): ApiResponse => ({
  statusCode: 200,
  headers: { ...json, ...headers },
  body: JSON.stringify({ status: true, message, data }),
});

export const preparedResponse = ({ statusCode, body, isBase64Encoded, headers }: PreparedResponse): ApiResponse => ({
  statusCode,
  headers: { ...securityHeaders, ...headers },
  ...(body !== undefined && { body }),
  ...(isBase64Encoded !== undefined && { isBase64Encoded }),
});

/** The response to an error, in the error envelope. Source: docs/interface.md 4.3, 4.7. */
export const errorResponse = (error: ServiceError): ApiResponse => envelopedError(errors[error.code].status, error);

/** The response to an error of any table. */
export const envelopedError = (
  statusCode: number,
  { code, message, details }: { readonly code: string; readonly message: string; readonly details: ErrorDetails },
): ApiResponse => {
  const { fields, retryAfterS, transactionReference, duplicateOf, replayed } = details;
  return {
    statusCode,
    headers: {
      ...json,
      [headers.errorCode]: code,
      ...(retryAfterS !== undefined && { [headers.retryAfter]: String(retryAfterS) }),
      ...(transactionReference !== undefined && { [headers.transactionReference]: transactionReference }),
      ...(duplicateOf !== undefined && { [headers.duplicateOf]: duplicateOf }),
      ...(replayed && { [headers.idempotentReplayed]: "true" }),
    },
    body: JSON.stringify({ status: false, message, ...(fields && { errors: fields }) }),
  };
};

/**
 * What API Gateway answers when an invocation fails: no header of ours promises anything. Answered here, because an
 * invocation that fails on purpose would raise alarms and roll a release back. Source: AWS, "Troubleshooting issues
 * with HTTP API Lambda integrations".
 */
export const platformFailure = (): ApiResponse => ({
  statusCode: 500,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message: "Internal Server Error" }),
});

/** The headers of every response. Source: docs/interface.md 4.7. */
export const commonHeaders = (rate: Rate, requestId: string): Record<string, string> => ({
  [headers.rateLimit]: String(rate.limit),
  [headers.rateRemaining]: String(rate.remaining),
  [headers.requestId]: requestId,
});
