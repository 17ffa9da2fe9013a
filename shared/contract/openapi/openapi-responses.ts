import * as z from "#zod";
import { errorEnvelope } from "../envelope.ts";
import { type ErrorCode, errors, type FieldErrors } from "../errors.ts";
import { lacksPermission } from "../permission.ts";
import { errorsOf, isOrder, type Route } from "../route.ts";
import { routes } from "../routes.ts";
import { schemaName, schemaRef } from "./openapi-schemas.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** `components.headers`. */
export const headerComponents = {
  "X-RateLimit-Limit": {
    description: "Requests per minute of this key in this group of operations.",
    required: true,
    schema: { type: "integer" },
  },
  "X-RateLimit-Remaining": {
    description: "Requests that are left in this minute.",
    required: true,
    schema: { type: "integer" },
  },
  "X-Request-Id": { description: "Identifies this request, for support.", required: true, schema: { type: "string" } },
  "X-Transaction-Reference": {
    description: "The service's reference of the transaction that was made.",
    schema: { type: "string" },
  },
  "X-Caller-Reference": {
    description:
      "The `reference` of the request that this response answers; absent if the request had none, or was refused before all its fields could be read: without a key, for example, or for a field of a wrong form.",
    schema: { type: "string" },
  },
  "Idempotent-Replayed": {
    description:
      "This is a replay: the response shows the transaction that the first request with this `reference` made.",
    schema: { type: "string", enum: ["true"] },
  },
  "X-Duplicate-Of": {
    description: "With `possible_duplicate`: the service's reference of the transaction that the order is like.",
    schema: { type: "string" },
  },
  "X-Estimated-Delivery": {
    description:
      "Seconds until the order is sent, about; it may take 40 seconds more. It is debited, and waits for the upstream's rate limit. Do not send it again; a webhook reports the outcome.",
    schema: { type: "integer", minimum: 1 },
  },
  "Retry-After": {
    description: "Seconds to wait before sending the same request again. No transaction was made.",
    required: true,
    schema: { type: "integer", minimum: 0 },
  },
  ETag: {
    description:
      "Identifies this version of the response. Send it as `If-None-Match` to get 304 while nothing has changed.",
    required: true,
    schema: { type: "string" },
  },
  Age: {
    description: "Seconds since the upstream last confirmed the catalog; absent on the sandbox's built-in catalog.",
    schema: { type: "integer" },
  },
  "Cache-Control": {
    description: "`no-store`, but on the catalog and on documents how long they may be kept.",
    required: true,
    schema: { type: "string" },
  },
  "Content-Security-Policy": {
    description: "For browsers: the response is shown in no frame.",
    required: true,
    schema: { type: "string" },
  },
  "Strict-Transport-Security": {
    description: "For browsers: this host is asked over TLS only.",
    required: true,
    schema: { type: "string" },
  },
  "X-Content-Type-Options": {
    description: "For browsers: the type of the response is not guessed.",
    required: true,
    schema: { const: "nosniff" },
  },
} as const satisfies Record<string, JsonObject>;
type HeaderName = keyof typeof headerComponents;

/** The headers of every response. */
const commonHeaderNames = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-Request-Id",
  "Cache-Control",
  "Content-Security-Policy",
  "Strict-Transport-Security",
  "X-Content-Type-Options",
] as const;
const headerRefs = (...names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Every response of a route, by status; responses that routes share are in `components.responses`. */
export const responsesOf = (route: Route): Record<string, JsonObject> => ({
  "200": success(route),
  ...(route.hasEtag && { "304": { $ref: "#/components/responses/Unchanged" } }),
  ...Object.fromEntries(
    failuresOf(route).map(({ status, codes }) => [
      status,
      codes.some(differsByRoute)
        ? failure(route, status, codes)
        : { $ref: `#/components/responses/${sharedName(route, codes)}` },
    ]),
  ),
});

/** `components.responses`. */
export const sharedResponses = (documented: readonly Route[]): Record<string, JsonObject> => ({
  Unchanged: unchangedResponse,
  ...Object.fromEntries(
    documented.flatMap((route) =>
      failuresOf(route)
        .filter(({ codes }) => !codes.some(differsByRoute))
        .map(({ status, codes }) => [sharedName(route, codes), failure(route, status, codes)]),
    ),
  ),
});

const failuresOf = (route: Route) =>
  [...Map.groupBy(errorsOf(route), (code) => errors[code].status)].map(([status, codes]) => ({ status, codes }));

/** For example `MissingApiKeyOrInvalidApiKey`. A route that is not an order has other headers, and so another name. */
const sharedName = (route: Route, codes: readonly ErrorCode[]): string => {
  const name = codes.map((code) => code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase()));
  return `${name.join("Or")}${!isOrder(route) && codes.some(namesOrder) ? "OnRead" : ""}`;
};

const success = (route: Route) => ({
  description: "Success.",
  headers: {
    ...headerRefs(...commonHeaderNames),
    ...(isOrder(route) && {
      ...required("X-Transaction-Reference"),
      ...headerRefs("X-Caller-Reference", "Idempotent-Replayed"),
    }),
    ...(isOrder(route) && route.group === "vtu" && headerRefs("X-Estimated-Delivery")),
    ...(route.path === routes.getTransaction.path && required("X-Transaction-Reference")),
    ...(route.hasEtag && headerRefs("ETag")),
    ...(route.path === routes.listCatalog.path && headerRefs("Age")),
  },
  content: {
    [route.document ?? "application/json"]: route.document
      ? { schema: schemaName(route.data) ? schemaRef(route.data) : { type: "string" } }
      : {
          schema: {
            type: "object",
            properties: {
              status: { type: "boolean", not: { const: false } },
              message: { type: "string", ...z.globalRegistry.get(errorEnvelope.shape.message) },
              data: schemaRef(route.data),
            },
            required: ["status", "message", "data"],
          },
          example: { status: true, message: route.example.message, data: route.example.data },
        },
  },
});

const unchangedResponse = {
  description: "The cached response is still valid. There is no body.",
  headers: headerRefs(...commonHeaderNames, "ETag"),
};

/** Errors that always, or sometimes, follow a transaction. */
const ALWAYS_AFTER_TRANSACTION = new Set<ErrorCode>([
  "delivery_failed",
  "order_cancelled",
  "record_not_found",
  "provider_timeout",
]);
const SOMETIMES_AFTER_TRANSACTION = new Set<ErrorCode>(["plan_unavailable", "reference_reused", "validation_failed"]);

/** The error's message as Markdown. */
export const errorSentence = (code: ErrorCode): string => errors[code].message.replaceAll("<", "&lt;");

const mayFollowTransaction = (code: ErrorCode): boolean =>
  ALWAYS_AFTER_TRANSACTION.has(code) || SOMETIMES_AFTER_TRANSACTION.has(code);

/** Errors that follow the reading of an order's fields, so that the response names its `reference`. */
const namesOrder = (code: ErrorCode): boolean => mayFollowTransaction(code) || NAMES_ORDER.has(code);
const NAMES_ORDER = new Set<ErrorCode>([
  ...(["insufficient_balance", "possible_duplicate", "limit_reached"] as const),
  ...(["price_changed", "provider_unavailable"] as const),
  // An extent of a check to which the account is not entitled, and its daily quota.
  ...(["permission_denied", "rate_limited"] as const),
]);

const failure = (route: Route, status: number, codes: readonly ErrorCode[]) => {
  const always = codes.every((code) => ALWAYS_AFTER_TRANSACTION.has(code));
  const sometimes = codes.some(mayFollowTransaction);
  return {
    description: codes.map((code) => `\`${code}\`: ${errorSentence(code)}.`).join("\n\n"),
    headers: {
      ...headerRefs(...commonHeaderNames),
      "X-Error-Code": {
        description: "Code of the error. This request charged nothing and left no open transaction.",
        required: true,
        schema: { type: "string", enum: codes },
      },
      ...(isOrder(route) && always && required("X-Transaction-Reference")),
      ...(isOrder(route) && !always && sometimes && headerRefs("X-Transaction-Reference")),
      ...(isOrder(route) && sometimes && headerRefs("Idempotent-Replayed")),
      ...(isOrder(route) && codes.some(namesOrder) && headerRefs("X-Caller-Reference")),
      ...(codes.includes("possible_duplicate") && headerRefs("X-Duplicate-Of")),
      ...((status === 429 || status === 503) && headerRefs("Retry-After")),
    },
    content: {
      "application/json": {
        schema: schemaRef(errorEnvelope),
        examples: Object.fromEntries(codes.map((code) => [code, exampleRef(route, code)])),
      },
    },
  };
};

const required = (name: HeaderName) => ({ [name]: { ...headerComponents[name], required: true } });

const errorExample = (message: string, fields?: FieldErrors) => ({
  value: { status: false, message, ...(fields && { errors: fields }) },
});

/** Examples of errors whose response has another message than the table, or fields. */
const specificExamples: Partial<Record<ErrorCode, ReturnType<typeof errorExample>>> = {
  invalid_json: errorExample("The request body is not valid JSON"),
  consent_required: errorExample(errors.consent_required.message, { is_consent: ["Is required"] }),
  ip_not_whitelisted: errorExample("The IP address 203.0.113.7 is not whitelisted"),
  not_found: errorExample("No transaction has this reference"),
  reference_reused: errorExample(errors.reference_reused.message, {
    reference: ["Was used for a different request: choose another"],
  }),
  plan_unavailable: errorExample(errors.plan_unavailable.message, { plan_id: ["Is no plan of the catalog"] }),
  price_changed: errorExample("The price is 500 NGN, not 450 NGN; nothing was charged", {
    expected_price: ["The price is 500 NGN"],
  }),
};

/** `components.examples`: one for each error whose response is the same on every route. */
export const errorExamples = (documented: readonly Route[]) => {
  const shared = new Set(documented.flatMap(errorsOf).filter((code) => !differsByRoute(code)));
  return Object.fromEntries(
    [...shared].map((code) => [code, specificExamples[code] ?? errorExample(errors[code].message)]),
  );
};

const differsByRoute = (code: ErrorCode): boolean => DIFFERS_BY_ROUTE.has(code);
const DIFFERS_BY_ROUTE = new Set<ErrorCode>(["missing_parameter", "permission_denied", "validation_failed"]);

const exampleRef = (route: Route, code: ErrorCode) => {
  if (code === "permission_denied" && route.permissions) return errorExample(lacksPermission(route.permissions));
  return differsByRoute(code)
    ? errorExample(errors[code].message, code === "missing_parameter" ? missingField(route) : wrongField(route))
    : { $ref: `#/components/examples/${code}` };
};

/** The route's error for a request without its first field. */
const missingField = ({ input }: Route): FieldErrors =>
  Object.fromEntries(
    Object.keys(input.shape)
      .slice(0, 1)
      .map((field) => [field, ["Is required"]]),
  );

/** The route's error for `?` in the first field that refuses it. */
const wrongField = ({ input, example }: Route): FieldErrors => {
  for (const field of Object.keys(input.shape)) {
    const sent = { ...Object(example.input), [field]: "?" };
    const messages = input.safeParse(sent).error?.issues.map(({ message }) => message);
    if (messages !== undefined) return { [field]: messages };
  }
  return {};
};
