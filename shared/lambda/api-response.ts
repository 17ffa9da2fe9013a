import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { errors, type ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";

export type ApiResponse = APIGatewayProxyStructuredResultV2 & { headers: Record<string, string> };

/** What an operation answers: the payload of the success envelope and its sentence. */
export type OperationResult<Data> = {
  readonly message: string;
  readonly data: Data;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Bytes that were made earlier, served as they are: the catalog, the OpenAPI document. */
export type PreparedResponse = {
  readonly statusCode: 200 | 304;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly headers: Readonly<Record<string, string>>;
};

/** The key's rate group in this minute, or what the group allows where no key was recognised. */
export type Rate = { readonly limit: number; readonly remaining: number };

const json = { "content-type": "application/json; charset=utf-8" };

export const successResponse = (answer: OperationResult<unknown>): ApiResponse => ({
  statusCode: 200,
  headers: { ...json, ...answer.headers },
  body: JSON.stringify({ status: true, message: answer.message, data: answer.data }),
});

export const preparedResponse = ({ statusCode, body, isBase64Encoded, headers }: PreparedResponse): ApiResponse => ({
  statusCode,
  headers: { ...headers },
  ...(body !== undefined && { body }),
  ...(isBase64Encoded !== undefined && { isBase64Encoded }),
});

/** The one place where an error becomes an answer. */
export const errorResponse = (error: ServiceError): ApiResponse => {
  const { fields, retryAfterS, transactionReference, replayed } = error.details;
  return {
    statusCode: errors[error.code].status,
    headers: {
      ...json,
      [headers.errorCode]: error.code,
      ...(retryAfterS !== undefined && { [headers.retryAfter]: String(retryAfterS) }),
      ...(transactionReference !== undefined && { [headers.transactionReference]: transactionReference }),
      ...(replayed && { [headers.idempotentReplayed]: "true" }),
    },
    body: JSON.stringify({ status: false, message: error.message, ...(fields && { errors: fields }) }),
  };
};

/** The headers that every answer carries (INTERFACE "Limits"). */
export const commonHeaders = (rate: Rate, requestId: string): Record<string, string> => ({
  [headers.rateLimit]: String(rate.limit),
  [headers.rateRemaining]: String(rate.remaining),
  [headers.requestId]: requestId,
});
