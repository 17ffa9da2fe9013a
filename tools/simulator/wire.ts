import type { IncomingMessage, ServerResponse } from "node:http";

/** Largest body that is read, in bytes. INTERFACE shows no limit; this one keeps a runaway client from eating memory. */
const BODY_BYTES_MAX = 1_048_576;

type FieldErrors = Readonly<Record<string, readonly string[]>>;
export type Headers = Readonly<Record<string, string>>;
export type Answer = { status: number; body: unknown };
/** A body beyond the limit is not kept; it is refused where it would be read. */
export type RequestBody = Buffer | "too_large";

/** Thrown by anything that turns a request down; `server.ts` answers it in the error envelope. Source: INTERFACE "Errors". */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly errors: FieldErrors | undefined;

  constructor(status: number, message: string, errors?: FieldErrors) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}

/** The error envelope; a failure that nobody foresaw is a 500 that says nothing. Source: INTERFACE "Error envelope". */
export function refusalAnswer(error: unknown): Answer {
  if (!(error instanceof Refusal)) return { status: 500, body: { status: false, message: "Internal server error." } };
  const envelope = { status: false, message: error.message };
  const body = error.errors === undefined ? envelope : { ...envelope, errors: error.errors };
  return { status: error.status, body };
}

/** The success envelope. Source: INTERFACE "Response envelope". */
export function successEnvelope(message: string, data: unknown): unknown {
  return { status: true, message, data };
}

/**
 * Reads the whole body. What goes beyond the limit is read and thrown away, so that the client is still there to get
 * its 400.
 */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  return bytes > BODY_BYTES_MAX ? "too_large" : Buffer.concat(chunks);
}

/** The body as JSON, or a 400. */
export function parseJson(body: RequestBody): unknown {
  if (body === "too_large") throw new Refusal(400, `The request body is larger than ${BODY_BYTES_MAX} bytes.`);
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new Refusal(400, "The request body is not valid JSON.");
  }
}

/** Writes one JSON answer; does nothing when the caller has gone. */
export function send(response: ServerResponse, answer: Answer, headers: Headers = {}): void {
  if (response.destroyed || response.headersSent) return;
  response.statusCode = answer.status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(JSON.stringify(answer.body));
}
