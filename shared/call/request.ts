import * as z from "zod";
import { type FieldErrors, ServiceError } from "../contract/errors.ts";

/**
 * The fields of API Gateway's event, payload 2.0, that are read. Source: AWS, "Working with AWS Lambda proxy
 * integrations for HTTP APIs".
 */
export const apiEvent = z.object({
  routeKey: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
  queryStringParameters: z.record(z.string(), z.string()).nullish(),
  pathParameters: z.record(z.string(), z.string()).nullish(),
  body: z.string().optional(),
  isBase64Encoded: z.boolean().default(false),
  requestContext: z.object({
    requestId: z.string(),
    http: z.object({ method: z.string(), sourceIp: z.string() }),
  }),
});
export type ApiRequest = z.infer<typeof apiEvent>;

/** 422 with messages by field. */
export const invalid = (fields: FieldErrors): ServiceError => new ServiceError("validation_failed", { fields });

/** The decoded body. */
export const bodyBytes = ({ body = "", isBase64Encoded }: ApiRequest): Buffer =>
  Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
