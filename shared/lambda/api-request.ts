import * as z from "#zod";
import type { CallRequest } from "../call/call.ts";
import { invalid } from "../call/invalid.ts";
import { ServiceError } from "../contract/errors.ts";
import { headers } from "../contract/headers.ts";
import { lazyObject } from "../contract/lazy-object.ts";
import { BODY_BYTES_MAX, BODY_DEPTH_MAX } from "../contract/limits.ts";
import { utf8 } from "../platform/utf8.ts";

const text = z.string();
/** Takes less time than a `z.record`, which also parses each name. */
const texts = z.catchall(z.object({}), text);
const parameters = z.nullish(texts);
const encoded = z._default(z.boolean(), false);

/**
 * The fields of API Gateway's event, payload 2.0, that are read. Source: AWS, "Working with AWS Lambda proxy
 * integrations for HTTP APIs".
 */
export const apiEvent = z.object({
  routeKey: text,
  headers: z._default(texts, {}),
  queryStringParameters: parameters,
  pathParameters: parameters,
  body: z.optional(text),
  isBase64Encoded: encoded,
  requestContext: z.object({ requestId: text, http: z.object({ method: text, sourceIp: text }) }),
});
export type ApiRequest = z.infer<typeof apiEvent>;

type Lists = Readonly<Record<string, readonly string[]>> | null | undefined;
/** Values of one name are joined as an HTTP API joins them; no value of a repeated one is lost. */
const joined = (all: Lists): Record<string, string> =>
  Object.fromEntries(Object.entries(all ?? {}).map(([name, values]) => [name, values.join()]));

/**
 * The event of a REST API. Names of headers have the caller's case, and parameters of the path are still encoded. The
 * id is the extended one, because a header of the caller can set the other. Sources: AWS, "Lambda proxy integrations in
 * API Gateway", input format; "Variables for access logging for API Gateway"; serverless/serverless 5037.
 */
const restEvent = z.pipe(
  lazyObject(() => ({
    resource: text,
    httpMethod: text,
    multiValueHeaders: z.nullish(z.record(text, z.array(text))),
    multiValueQueryStringParameters: z.nullish(z.record(text, z.array(text))),
    pathParameters: parameters,
    body: z.nullish(text),
    isBase64Encoded: encoded,
    requestContext: z.object({ extendedRequestId: text, identity: z.object({ sourceIp: text }) }),
  })),
  z.transform(({ resource, httpMethod, requestContext, body, isBase64Encoded, ...sent }): ApiRequest => {
    const headers = new Map<string, string>();
    for (const [name, value] of Object.entries(joined(sent.multiValueHeaders))) {
      const before = headers.get(name.toLowerCase());
      headers.set(name.toLowerCase(), before === undefined ? value : `${before},${value}`);
    }
    const parameters = Object.entries(sent.pathParameters ?? {});
    return {
      routeKey: `${httpMethod} ${resource}`,
      headers: Object.fromEntries(headers),
      queryStringParameters: joined(sent.multiValueQueryStringParameters),
      pathParameters: Object.fromEntries(parameters.map(([name, value]) => [name, decoded(value)])),
      body: body ?? undefined,
      isBase64Encoded,
      requestContext: {
        requestId: requestContext.extendedRequestId,
        http: { method: httpMethod, sourceIp: requestContext.identity.sourceIp },
      },
    };
  }),
);

/** A malformed text stays as it is: no reference matches it. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** A request, whichever kind of API passes it on. */
export const apiRequest = z.union([apiEvent, restEvent]);

const bodyBytes = ({ body = "", isBase64Encoded }: ApiRequest): Buffer =>
  Buffer.from(body, isBase64Encoded ? "base64" : "utf8");

/** What admissions and operations read of it. */
export const callRequest = (request: ApiRequest): CallRequest => ({
  requestId: request.requestContext.requestId,
  sourceIp: request.requestContext.http.sourceIp,
  headers: request.headers,
  pathParameters: request.pathParameters ?? {},
  body: () => bodyBytes(request),
});

type JsonObject = Record<string, unknown>;

/**
 * The request's input by its schema. Absent fields are 400 `missing_parameter`, before wrong ones are 422
 * `validation_failed`; both errors have messages by field. Source: docs/interface.md 4.D4.
 */
export const parseInput = <Input extends z.ZodMiniObject>(
  schema: Input,
  request: ApiRequest,
  bodyBytesMax = BODY_BYTES_MAX,
): z.output<Input> => {
  const isPost = request.requestContext.http.method === "POST";
  const sent = isPost
    ? jsonBody(request, bodyBytesMax)
    : { ...withoutEmpty(request.queryStringParameters), ...request.pathParameters };
  const key = isPost && "reference" in schema.shape ? request.headers[headers.idempotencyKey] : undefined;
  const input: JsonObject = key === undefined ? sent : { reference: key, ...sent };
  const parsed = schema.safeParse(input);

  const absent: Record<string, string[]> = {};
  const wrong: Record<string, string[]> = {};
  for (const issue of parsed.error?.issues ?? []) {
    const field = String(issue.path[0] ?? "body");
    if (input[field] === undefined) absent[field] = ["Is required"];
    else wrong[field] = [...(wrong[field] ?? []), issue.message];
  }
  if (key !== undefined && input.reference !== key) {
    wrong.reference = ["Differs from the Idempotency-Key: send one of them, or the same in both"];
  } else if (key !== undefined && /^".*"$/.test(key)) {
    wrong.reference = ["Send the Idempotency-Key without quotation marks"];
  }
  const absentFields = Object.keys(absent);
  if (absentFields.length > 0) {
    throw new ServiceError(absentFields.join() === "is_consent" ? "consent_required" : "missing_parameter", {
      fields: absent,
    });
  }
  if (parsed.data === undefined || Object.keys(wrong).length > 0) throw invalid(wrong);
  return parsed.data;
};

/** The query without empty parameters, which count as absent (docs/interface.md 14.D7). */
const withoutEmpty = (query: ApiRequest["queryStringParameters"]) =>
  Object.fromEntries(Object.entries(query ?? {}).filter(([, value]) => value !== ""));

const jsonBody = (request: ApiRequest, bytesMax: number): JsonObject => {
  const bytes = bodyBytes(request);
  if (bytes.length > bytesMax) throw badJson(`The request body is larger than ${bytesMax / 1_024} KB`);
  if (bytes.length === 0) throw badJson("The request body is empty: send a JSON object");
  const value = parsedJson(bytes, request.headers["content-encoding"]);
  if (!isJsonObject(value)) throw badJson("The request body must be a JSON object");
  refuseUnsafeObject(value);
  return value;
};

/** Drops the parser's own error, because it quotes the body, which may contain personal data. */
const parsedJson = (bytes: Buffer, contentEncoding = "identity"): unknown => {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    const isCompressed = contentEncoding.trim().toLowerCase() !== "identity" || bytes[0] === GZIP_FIRST_BYTE;
    throw badJson(
      isCompressed
        ? "The request body is compressed: send it uncompressed, without Content-Encoding"
        : "The request body is not valid JSON",
    );
  }
};
const GZIP_FIRST_BYTE = 0x1f;

/** Rejects deep nesting and `__proto__`. The body itself is the first level; each object or array in it is one more. */
const refuseUnsafeObject = (body: JsonObject): void => {
  let containers: object[] = [body];
  for (let levels = 1; containers.length > 0; levels += 1) {
    if (levels > BODY_DEPTH_MAX) throw badJson(`The request body is nested deeper than ${BODY_DEPTH_MAX} levels`);
    const inner: object[] = [];
    for (const container of containers) {
      if (Object.hasOwn(container, "__proto__")) throw badJson("The request body must not have a field __proto__");
      for (const value of Object.values(container)) if (isContainer(value)) inner.push(value);
    }
    containers = inner;
  }
};

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

const isJsonObject = (value: unknown): value is JsonObject => isContainer(value) && !Array.isArray(value);

const badJson = (message: string): ServiceError => new ServiceError("invalid_json", { message });
