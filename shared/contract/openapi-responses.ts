import { type ErrorCode, errors, type FieldErrors } from "./errors.ts";
import { schemaName, schemaRef } from "./openapi-schemas.ts";
import { errorsOf, isOrder, lacksPermission, type Route } from "./routes.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** `components.headers`: what answers carry beside their body. */
export const headerComponents = {
  "X-RateLimit-Limit": {
    description: "Requests per minute that the key has in this group of operations.",
    required: true,
    schema: { type: "integer" },
  },
  "X-RateLimit-Remaining": {
    description: "Requests that are left of them in this minute.",
    required: true,
    schema: { type: "integer" },
  },
  "X-Request-Id": { description: "Names this request.", required: true, schema: { type: "string" } },
  "X-Transaction-Reference": {
    description: "A transaction was made, and this is the service's reference to it.",
    schema: { type: "string" },
  },
  "Idempotent-Replayed": {
    description: "The reference was used before by the same request: this is the transaction that it made.",
    schema: { type: "string", enum: ["true"] },
  },
  "Retry-After": {
    description: "Seconds to wait before the same request is sent again. No transaction was made.",
    required: true,
    schema: { type: "integer", minimum: 0 },
  },
  ETag: { description: "Send it as `If-None-Match`.", required: true, schema: { type: "string" } },
  Age: {
    description: "Seconds since the provider last confirmed the catalog; absent on a built-in one.",
    schema: { type: "integer" },
  },
  "Cache-Control": { description: "How long it may be kept.", required: true, schema: { type: "string" } },
} as const satisfies Record<string, JsonObject>;
type HeaderName = keyof typeof headerComponents;

const rateHeaders = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-Request-Id"] as const;
const headerRefs = (...names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** True for what has an `ETag`. */
export const isCacheable = ({ path, document }: Route): boolean => document !== undefined || path === "/v1/vtu/data";

/** What a success says to people. */
const successMessage = (route: Route): string => {
  if (route.group === "identity") return "The record was found";
  if (route.group === "vtu") return "The purchase was delivered";
  if (route.path === "/v1/vtu/data") return "Networks and data plans";
  if (route.path === "/v1/wallet") return "Wallet";
  return route.path.endsWith("}") ? "Transaction" : "Transactions";
};

/** Every answer of a route, by status; what several routes share stands in `components.responses`. */
export const responsesOf = (route: Route): Record<string, JsonObject> => ({
  "200": success(route),
  ...(isCacheable(route) && { "304": { $ref: "#/components/responses/Unchanged" } }),
  ...Object.fromEntries(
    failuresOf(route).map(({ status, codes }) => [
      status,
      codes.some(isOfRoute)
        ? failure(route, status, codes)
        : { $ref: `#/components/responses/${sharedName(route, codes)}` },
    ]),
  ),
});

/** `components.responses`. */
export const sharedResponses = (routes: readonly Route[]): Record<string, JsonObject> => ({
  Unchanged: unchanged,
  ...Object.fromEntries(
    routes.flatMap((route) =>
      failuresOf(route)
        .filter(({ codes }) => !codes.some(isOfRoute))
        .map(({ status, codes }) => [sharedName(route, codes), failure(route, status, codes)]),
    ),
  ),
});

const failuresOf = (route: Route) =>
  [...Map.groupBy(errorsOf(route), (code) => errors[code].status)].map(([status, codes]) => ({ status, codes }));

/** Such as `MissingApiKeyOrInvalidApiKey`; where nothing is ordered it has other headers. */
const sharedName = (route: Route, codes: readonly ErrorCode[]): string => {
  const name = codes.map((code) => code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase()));
  return `${name.join("Or")}${!isOrder(route) && codes.some(mayFollowTransaction) ? "OnRead" : ""}`;
};

const success = (route: Route) => ({
  description: "Success.",
  headers: {
    ...headerRefs(...rateHeaders),
    ...(isOrder(route) && { ...required("X-Transaction-Reference"), ...headerRefs("Idempotent-Replayed") }),
    ...(route.path.endsWith("/{reference}") && required("X-Transaction-Reference")),
    ...(isCacheable(route) && headerRefs("ETag", "Cache-Control")),
    ...(route.path === "/v1/vtu/data" && headerRefs("Age")),
  },
  content: {
    [route.document ?? "application/json"]: route.document
      ? { schema: schemaName(route.data) ? schemaRef(route.data) : { type: "string" } }
      : {
          schema: {
            type: "object",
            properties: {
              status: { type: "boolean", const: true },
              message: { type: "string", description: "A sentence for people." },
              data: schemaRef(route.data),
            },
            required: ["status", "message", "data"],
          },
          example: { status: true, message: successMessage(route), data: route.example.data },
        },
  },
});

const unchanged = {
  description: "What the caller has is still right; there is no body.",
  headers: headerRefs(...rateHeaders, "ETag", "Cache-Control"),
};

/** Errors that come after a transaction was made, always or sometimes. */
const ALWAYS_AFTER_TRANSACTION = new Set<ErrorCode>(["delivery_failed", "record_not_found", "provider_timeout"]);
const SOMETIMES_AFTER_TRANSACTION = new Set<ErrorCode>(["plan_unavailable", "reference_reused", "validation_failed"]);

/** The table's sentence as Markdown. */
export const errorSentence = (code: ErrorCode): string => errors[code].message.replaceAll("<", "&lt;");

const mayFollowTransaction = (code: ErrorCode): boolean =>
  ALWAYS_AFTER_TRANSACTION.has(code) || SOMETIMES_AFTER_TRANSACTION.has(code);

const failure = (route: Route, status: number, codes: readonly ErrorCode[]) => {
  const always = codes.every((code) => ALWAYS_AFTER_TRANSACTION.has(code));
  const sometimes = codes.some(mayFollowTransaction);
  return {
    description: codes.map((code) => `\`${code}\`: ${errorSentence(code)}.`).join("\n\n"),
    headers: {
      ...headerRefs(...rateHeaders),
      "X-Error-Code": {
        description: "What went wrong, for programs. This request charged nothing and left nothing open.",
        required: true,
        schema: { type: "string", enum: codes },
      },
      ...(isOrder(route) && always && required("X-Transaction-Reference")),
      ...(isOrder(route) && !always && sometimes && headerRefs("X-Transaction-Reference")),
      ...(isOrder(route) && sometimes && headerRefs("Idempotent-Replayed")),
      ...((status === 429 || status === 503) && headerRefs("Retry-After")),
    },
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/ErrorEnvelope" },
        examples: Object.fromEntries(codes.map((code) => [code, exampleRef(route, code)])),
      },
    },
  };
};

const required = (name: HeaderName) => ({ [name]: { ...headerComponents[name], required: true } });

const errorExample = (message: string, fields?: FieldErrors) => ({
  value: { status: false, message, ...(fields && { errors: fields }) },
});

/** Errors whose answer says more than the table's sentence. */
const tellingExamples: Partial<Record<ErrorCode, ReturnType<typeof errorExample>>> = {
  invalid_json: errorExample("The request body is not valid JSON"),
  consent_required: errorExample(errors.consent_required.message, { is_consent: ["Is required"] }),
  ip_not_whitelisted: errorExample("The IP address 203.0.113.7 is not whitelisted"),
  not_found: errorExample("No transaction has this reference"),
  reference_reused: errorExample(errors.reference_reused.message, {
    reference: ["Was used for a different request: choose another"],
  }),
  plan_unavailable: errorExample(errors.plan_unavailable.message, { plan_id: ["Is no plan of the catalog"] }),
};

/** `components.examples`: one of each error that reads the same everywhere. */
export const errorExamples = (routes: readonly Route[]) => {
  const shared = new Set(routes.flatMap(errorsOf).filter((code) => !isOfRoute(code)));
  return Object.fromEntries(
    [...shared].map((code) => [code, tellingExamples[code] ?? errorExample(errors[code].message)]),
  );
};

const isOfRoute = (code: ErrorCode): boolean => OF_ROUTE.has(code);
const OF_ROUTE = new Set<ErrorCode>(["missing_parameter", "permission_denied", "validation_failed"]);

const exampleRef = (route: Route, code: ErrorCode) => {
  if (code === "permission_denied" && route.permission) return errorExample(lacksPermission(route.permission));
  return isOfRoute(code)
    ? errorExample(errors[code].message, code === "missing_parameter" ? missingField(route) : wrongField(route))
    : { $ref: `#/components/examples/${code}` };
};

/** What the route says of a request without its first field. */
const missingField = ({ input }: Route): FieldErrors =>
  Object.fromEntries(
    Object.keys(input.shape)
      .slice(0, 1)
      .map((field) => [field, ["Is required"]]),
  );

/** What the route's own schema says of `?` in the first field that cannot hold it. */
const wrongField = ({ input, example }: Route): FieldErrors => {
  for (const field of Object.keys(input.shape)) {
    const sent = { ...Object(example.input), [field]: "?" };
    const messages = input.safeParse(sent).error?.issues.map(({ message }) => message);
    if (messages !== undefined) return { [field]: messages };
  }
  return {};
};
