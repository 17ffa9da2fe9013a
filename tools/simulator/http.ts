import type { IncomingMessage, ServerResponse } from "node:http";

/** The interface names no limit of the upstream; this one bounds the memory that a runaway client takes. */
const BODY_BYTES_MAX = 1_048_576;

type FieldErrors = Readonly<Record<string, readonly string[]>>;
export type Headers = Readonly<Record<string, string>>;
export type JsonResponse = { readonly status: number; readonly body: unknown };
/** A body over the limit is not kept; the request is rejected where the body is parsed. */
export type RequestBody = Buffer | "too_large";

/** Thrown to reject a request; `request-handler.ts` sends it in the error envelope. Source: docs/interface.md 5.1. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly errors: FieldErrors | undefined;

  constructor(status: number, message: string, errors?: FieldErrors) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}

/** A field whose value is wrong. Source: docs/interface.md 5.1, 5.2. */
export const invalidField = (field: string, message: string): HttpError =>
  new HttpError(422, "The given data was invalid.", { [field]: [message] });

/** The error envelope; an unexpected error is a 500 without details. Source: docs/interface.md 4.3. */
export const errorResponse = (error: unknown): JsonResponse => {
  if (!(error instanceof HttpError)) return { status: 500, body: { status: false, message: "Internal server error." } };
  const envelope = { status: false, message: error.message };
  const body = error.errors === undefined ? envelope : { ...envelope, errors: error.errors };
  return { status: error.status, body };
};

/** The success envelope. Source: docs/interface.md 4.2. */
export const successEnvelope = (message: string, data: unknown): unknown => ({ status: true, message, data });

/** Reads the whole body. Bytes over the limit are read and discarded, so the client still receives its 400. */
export const readBody = async (request: IncomingMessage): Promise<RequestBody> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  return bytes > BODY_BYTES_MAX ? "too_large" : Buffer.concat(chunks);
};

/** The body as JSON, or a 400. */
export const parseJson = (body: RequestBody): unknown => {
  if (body === "too_large") throw new HttpError(400, `The request body is larger than ${BODY_BYTES_MAX} bytes.`);
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new HttpError(400, "The request body is not valid JSON.");
  }
};

/** Sends a JSON response; does nothing if the client has disconnected. */
export const sendJson = (
  response: ServerResponse,
  { status, body }: JsonResponse,
  headers: Headers = {},
  indent?: number,
): void => {
  if (response.destroyed || response.headersSent) return;
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(JSON.stringify(body, undefined, indent));
};
