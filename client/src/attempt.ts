import { NoAnswerError, type NoAnswerReason, type ServiceError, serviceError } from "./errors.ts";
import { isRecord, withCamelCase } from "./field-names.ts";
import type { AttemptEvent, Settings } from "./settings.ts";
import { isOfMode } from "./transaction.ts";

/** One request of the interface; `Data` is what the caller gets. */
export type ServiceRequest<Data> = {
  /** The operation's name in the OpenAPI document. */
  readonly operation: string;
  readonly method: "GET" | "POST";
  /** Below the base URL. */
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The order's reference; undefined for a read. */
  readonly reference?: string;
  /** Undefined if the answer is not one to this request, for example because a proxy made it. */
  readonly read: (answer: Received) => Data | undefined;
  /** True if the answer is true but the same request gets a better one later. */
  readonly isPreliminary?: (data: Data) => boolean;
};

/** A 200 or 304 of the service. */
export type Received = { readonly status: number; readonly headers: Headers; readonly data: unknown };

/** How an attempt ended. Only `answered` and `refused` come from the service for certain. */
export type AttemptResult<Data> =
  | { readonly kind: "answered"; readonly data: Data }
  | { readonly kind: "refused"; readonly error: ServiceError }
  | { readonly kind: "no_answer"; readonly error: NoAnswerError; readonly retryAfterS?: number | undefined }
  | { readonly kind: "aborted"; readonly cause: unknown };

export type Attempt<Data> = { readonly result: AttemptResult<Data> } & Seen;

/** Sends the request once. It never throws. */
export const attempt = async <Data>(
  settings: Settings,
  request: ServiceRequest<Data>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Attempt<Data>> => {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: (() => void) | undefined;
  // Ends the wait even if a fetch ignores its signal.
  const interrupted = new Promise<Attempt<Data>>((resolve) => {
    timer = setTimeout(() => {
      resolve(noAnswer(request, "timeout", `no answer within ${Math.round(timeoutMs)} ms`));
      controller.abort();
    }, timeoutMs);
    onAbort = () => {
      resolve({ result: { kind: "aborted", cause: signal?.reason }, ...nothing });
      controller.abort();
    };
    signal?.addEventListener("abort", onAbort);
  });
  try {
    const answered = exchange(settings, request, controller.signal).catch((cause: unknown) =>
      noAnswer(request, "unreadable", "fetch returned no response", undefined, cause),
    );
    return await Promise.race([answered, interrupted]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal?.removeEventListener("abort", onAbort);
  }
};

const exchange = async <Data>(
  settings: Settings,
  request: ServiceRequest<Data>,
  signal: AbortSignal,
): Promise<Attempt<Data>> => {
  let response: Response | undefined;
  let body: unknown;
  try {
    response = await settings.fetch(settings.baseUrl + request.path, {
      method: request.method,
      headers: {
        authorization: `Bearer ${settings.apiKey}`,
        accept: "application/json",
        ...(request.body !== undefined && { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: request.body }),
      // A redirect would send the key elsewhere, and may turn an order into a GET.
      redirect: "manual",
      cache: "no-store",
      signal,
    });
    body = parseJson(await textOf(response));
  } catch (cause) {
    // The headers of an error are enough: its code says what happened.
    if (!response?.headers.get("x-error-code")) {
      return noAnswer(request, "network", "the connection failed", response, cause);
    }
  }
  return readAnswer(settings, request, response, body);
};

/** No answer of the service is longer: Lambda sends at most 6 MB. */
const BODY_BYTES_MAX = 8_000_000;

const textOf = async (response: Response): Promise<string> => {
  const { body } = response;
  // A body of another kind, as of node-fetch.
  if (typeof body?.getReader !== "function") return response.text();
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; ; ) {
    const { value } = await reader.read();
    if (!value) return text + decoder.decode();
    bytes += value.length;
    if (bytes > BODY_BYTES_MAX) {
      await reader.cancel();
      throw new RangeError("The answer is too long to be one of the service");
    }
    text += decoder.decode(value, { stream: true });
  }
};

const readAnswer = <Data>(
  settings: Settings,
  request: ServiceRequest<Data>,
  response: Response,
  body: unknown,
): Attempt<Data> => {
  const { status, headers } = response;
  const seen = seenIn(response);
  const code = headers.get("x-error-code");
  const envelope = isRecord(body) ? body : {};
  if (code) {
    return isAboutAnother(settings, request, headers)
      ? noAnswer(request, "mismatch", "the answer is about another order", response)
      : { result: { kind: "refused", error: errorFrom(request, response, code, envelope) }, ...seen };
  }
  if (status === 304 || (status === 200 && envelope.status === true)) {
    const data = request.read({ status, headers, data: withCamelCase(envelope.data) });
    if (data !== undefined) return { result: { kind: "answered", data }, ...seen };
  }
  return noAnswer(request, "unreadable", `${status} that is not an answer of the service`, response);
};

/**
 * A mixed-up connection or a cache can bring the error of another order. An order's error names its reference once its
 * fields were read, and so always if it names a transaction (docs/interface.md 8.12). The sandbox's order with the same
 * reference is another one.
 */
const isAboutAnother = (
  settings: Settings,
  { reference }: Pick<ServiceRequest<unknown>, "reference">,
  headers: Headers,
): boolean => {
  const named = headers.get("x-caller-reference");
  const transaction = headers.get("x-transaction-reference");
  if (!reference || !(named || transaction)) return false;
  return named !== reference || (!!transaction && !isOfMode(settings, transaction));
};

const errorFrom = (
  { reference }: Pick<ServiceRequest<unknown>, "reference">,
  response: Response,
  code: string,
  { message, errors }: Readonly<Record<string, unknown>>,
): ServiceError => {
  const { headers } = response;
  return serviceError({
    ...seenIn(response),
    code,
    message: typeof message === "string" ? message : code,
    fields: fieldsOf(errors),
    reference,
    retryAfterS: retryAfterIn(headers),
    transactionReference: headers.get("x-transaction-reference") || undefined,
    duplicateOf: headers.get("x-duplicate-of") ?? undefined,
    replayed: headers.get("idempotent-replayed") === "true",
  });
};

const fieldsOf = (errors: unknown): Record<string, string[]> => {
  const named = withCamelCase(errors);
  if (!isRecord(named)) return {};
  return Object.fromEntries(
    Object.entries(named).map(([field, messages]) => [field, Array.isArray(messages) ? messages.map(String) : []]),
  );
};

const noAnswer = (
  { reference }: Pick<ServiceRequest<unknown>, "reference">,
  reason: NoAnswerReason,
  message: string,
  response?: Response,
  cause?: unknown,
): { readonly result: AttemptResult<never> } & Seen => {
  const seen = response ? seenIn(response) : nothing;
  const retryAfterS = response && retryAfterIn(response.headers);
  return {
    result: {
      kind: "no_answer",
      error: new NoAnswerError(reason, message, { reference, ...seen }, cause),
      retryAfterS,
    },
    ...seen,
  };
};

type Seen = Pick<AttemptEvent, "status" | "requestId" | "rate">;
const nothing = { status: undefined, requestId: undefined, rate: undefined };

const seenIn = ({ status, headers }: Response) => {
  const limit = wholeNumber(headers.get("x-ratelimit-limit"));
  const remaining = wholeNumber(headers.get("x-ratelimit-remaining"));
  return {
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    rate: limit === undefined || remaining === undefined ? undefined : { limit, remaining },
  };
};

/** A whole number of at most nine digits in a header. */
export const wholeNumber = (text: string | null | undefined): number | undefined =>
  text && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

/** The service sends seconds; a proxy may send a date. `Date.parse` takes numbers too. */
const retryAfterIn = (headers: Headers): number | undefined => {
  const text = headers.get("retry-after");
  const waitMs = text?.endsWith(" GMT") ? Date.parse(text) - Date.now() : Number.NaN;
  return Number.isNaN(waitMs) ? wholeNumber(text) : Math.max(0, Math.ceil(waitMs / 1_000));
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
