import { errorCodes, errors } from "../errors.ts";
import { referenceField } from "../fields.ts";
import { rateGroups } from "../limits.ts";
import { permissionText } from "../permission.ts";
import { isOrder, type Route } from "../route.ts";
import { appRoutes } from "../routes.ts";
import { errorExamples, errorSentence, headerComponents, responsesOf, sharedResponses } from "./openapi-responses.ts";
import { samplesOf } from "./openapi-samples.ts";
import { jsonSchemas, schemaName, schemaRef } from "./openapi-schemas.ts";
import { webhooks } from "./openapi-webhooks.ts";

/** The server URL, which the paths of the document leave out. */
const BASE_PATH = "/v1";

/**
 * The OpenAPI 3.1 document, generated from routes, schemas, errors and limits. `callersUrl`: where callers' routes are, if
 * not beside the document.
 */
export const openApiDocument = (callersUrl: string = BASE_PATH) => {
  const schemas = jsonSchemas(Object.values(appRoutes).map(({ input }) => input));
  // Fields of a path or a query are shown as parameters.
  const { TransactionPath: _path, TransactionQuery: _query, ...shown } = schemas;
  return {
    openapi: "3.1.1",
    info,
    servers: [{ url: callersUrl }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags,
    paths: Object.fromEntries(
      Object.entries(appRoutes).map(([id, route]) => [
        route.path.slice(BASE_PATH.length),
        {
          ...(route.document && callersUrl !== BASE_PATH && { servers: [{ url: BASE_PATH }] }),
          [route.method.toLowerCase()]: operation(id, route, schemas),
        },
      ]),
    ),
    webhooks,
    components: {
      schemas: shown,
      parameters,
      headers: headerComponents,
      responses: sharedResponses(Object.values(appRoutes)),
      examples: errorExamples(Object.values(appRoutes)),
      securitySchemes,
    },
  };
};

const info = {
  title: "Airtime, Data and Identity Service",
  version: "1",
  description: [
    "Airtime, data bundles and identity checks for the apps of one company. Orders are fulfilled by a supplier, here called the upstream.",
    "",
    "**Authentication.** Every request carries an API key. A live key (`live_...`) places real orders, which are debited from the account's prepaid wallet. A test key (`test_...`) uses a sandbox that debits nothing. Both have the same base URL and work only from the account's whitelisted IP addresses.",
    "",
    "**Responses.** A success is 200 with `status: true`, `message` and `data`. An error has `status: false`, `message` and, if single fields are wrong, `errors`.",
    "",
    "**Errors.** `X-Error-Code` has the code of the error and guarantees that *this request* charged nothing and left no open transaction. It says nothing about another request with the same `reference`: an earlier one, or a copy that something on the way sends later. Only an error with `X-Transaction-Reference` is final for the order; before you treat any other as failed, cancel the order. A 5xx without this header, or no response at all, means that the outcome is unknown: send the same request with the same `reference` again, or cancel the order.",
    "",
    "**Which order.** Every answer about an order names it: `data.transaction` has `caller_reference` and `type`, and of a purchase `phone_number`; an error has the header `X-Caller-Reference`. Compare them with your request. Another order's answer, which a mixed-up connection or a cache can bring, says nothing about yours: its outcome is unknown.",
    "",
    "**Unknown outcomes.** A purchase whose outcome is not known yet is 200 with the status `processing`, never an error. Its final status comes as a `transaction.updated` webhook, and can be looked up.",
    "",
    "**Waiting purchases.** A purchase that the upstream's rate limit does not take now is debited and waits: 200 with `processing` and `X-Estimated-Delivery`, the seconds until it is sent, about. It is sent once; do not order it again. If it waits for too long it is refunded and becomes `failed` with the `error_code` `provider_unavailable`. Identity checks never wait: they are 503 with `Retry-After`, before any debit.",
    "",
    "**Idempotency.** An order with a `reference` (or `Idempotency-Key`) can be sent again safely: it gets the same transaction, with `Idempotent-Replayed: true`, and is not charged again. Another order with that `reference` is 422 `reference_reused`. A failed transaction has used its `reference` up: another attempt needs a new one. 503 `provider_unavailable` made no transaction and did not use the `reference`: send the same request again after `Retry-After` seconds.",
    "",
    "**Client.** In TypeScript and JavaScript, `@airtime-service/client` repeats orders safely, waits for them and verifies webhooks. Its calls are shown with each operation; `client` is `new AirtimeClient({ baseUrl, apiKey })`.",
    "",
    "**Versions.** v1 only grows: ignore fields and events that you do not know, and act on an error with a code that you do not know by its status and `X-Transaction-Reference`.",
    "",
    "| `X-Error-Code` | Status | Meaning |",
    "|---|---|---|",
    ...errorCodes.map((code) => `| \`${code}\` | ${errors[code].status} | ${errorSentence(code)} |`),
  ].join("\n"),
};

const tags = [
  ...Object.entries(rateGroups).map(([name, { covers, requestsPerMinute }]) => ({
    name,
    description: `${covers} ${requestsPerMinute} requests per minute and key.`,
  })),
  { name: "webhooks", description: "Events that the service posts to the account's endpoints." },
];

const securitySchemes = {
  bearer: { type: "http", scheme: "bearer", description: "The API key, as `Authorization: Bearer <key>`." },
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-KEY",
    description: "The API key. `Authorization: Bearer` has precedence.",
  },
};

const parameters = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "Another way to send `reference`, without quotation marks. If both are sent, they must be equal.",
    schema: schemaRef(referenceField),
  },
  ConfirmDuplicate: {
    name: "X-Confirm-Duplicate",
    in: "header",
    description:
      "`true`: the order is meant, although it is like one that was placed shortly before. It matters only to accounts that refuse such orders.",
    // An enumeration is a list without a name on the page of the interface.
    schema: { type: "string", pattern: "^true$" },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "The `ETag` of the cached response.",
    schema: { type: "string" },
  },
};

const parameterRef = (name: keyof typeof parameters) => ({ $ref: `#/components/parameters/${name}` });

const operation = (operationId: string, route: Route, schemas: ReturnType<typeof jsonSchemas>) => {
  const all = [
    ...inputParameters(route, schemas),
    ...(isOrder(route) ? [parameterRef("IdempotencyKey")] : []),
    ...(route.errors.includes("possible_duplicate") ? [parameterRef("ConfirmDuplicate")] : []),
    ...(route.hasEtag ? [parameterRef("IfNoneMatch")] : []),
  ];
  return {
    operationId,
    summary: route.summary,
    ...descriptionOf(route),
    tags: [route.group],
    ...(route.document && { security: [] }),
    ...(all.length > 0 && { parameters: all }),
    ...(route.method === "POST" && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: schemaRef(route.input), example: route.example.input } },
      },
    }),
    responses: responsesOf(route),
  };
};

const descriptionOf = (route: Route) => {
  const { description, permissions } = route;
  const sentences = [
    description,
    permissions && `Needs a key with the permission ${permissionText(permissions, "`")}.`,
  ];
  const text = sentences.filter((sentence) => sentence !== undefined).join(" ");
  const parts = [text, samplesOf(route)].filter((part) => part !== "");
  return parts.length === 0 ? {} : { description: parts.join("\n\n") };
};

/** The fields of a GET, in its path or its query. */
const inputParameters = (route: Route, schemas: ReturnType<typeof jsonSchemas>) => {
  const schema = route.method === "GET" ? schemas[schemaName(route.input) ?? ""] : undefined;
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = Object(property);
    const inPath = route.path.includes(`{${name}}`);
    const example: unknown = Object(route.example.input)[name];
    return {
      name,
      in: inPath ? "path" : "query",
      required: inPath,
      ...(description && { description }),
      schema: rest,
      ...(example !== undefined && { example }),
    };
  });
};
