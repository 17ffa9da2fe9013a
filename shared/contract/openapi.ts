import type * as z from "zod";
import { errorCodes, errors } from "./errors.ts";
import { rateGroups } from "./limits.ts";
import { webhooks } from "./openapi-event.ts";
import {
  errorExamples,
  errorSentence,
  headerComponents,
  isCacheable,
  responsesOf,
  sharedResponses,
} from "./openapi-responses.ts";
import { namedSchemas, schemaName, schemaRef } from "./openapi-schemas.ts";
import { appRoutes, isOrder, type Route } from "./routes.ts";

/** Where the paths of the document begin. */
const PREFIX = "/v1";

/** The OpenAPI 3.1 document: made of the route table, the schemas, the error table and the limits, and of nothing else. */
export const openApiDocument = () => {
  const schemas = namedSchemas();
  // What a path or a query holds is shown as parameters.
  const { TransactionPath: _path, TransactionQuery: _query, ...shown } = schemas;
  return {
    openapi: "3.1.1",
    info,
    servers: [{ url: PREFIX }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags,
    paths: Object.fromEntries(
      Object.entries(appRoutes).map(([id, route]) => [
        route.path.slice(PREFIX.length),
        { [route.method.toLowerCase()]: operation(id, route, schemas) },
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
    "Airtime, data bundles and identity checks for the apps of one company.",
    "",
    "**Keys.** A live key (`live_...`) buys, and is charged to the account's prepaid wallet. A test key (`test_...`) meets a sandbox that debits nothing. Both work at the same address, and only from the account's whitelisted IP addresses.",
    "",
    "**Answers.** A success is 200 with `status: true`, `message` and `data`. An error is `status: false`, `message` and, where single fields are to blame, `errors`; its code is in `X-Error-Code`. An answer with `X-Error-Code` means that *this request* charged nothing and left nothing open; what an earlier request with the same `reference` did is found by looking it up. A 5xx without that header, or no answer at all, is unknown: send the same request with the same `reference` again, or look it up.",
    "",
    "**Unknown outcomes.** A purchase whose outcome is not known yet is 200 with `processing`, never an error. Its end comes as a `transaction.updated` notification, and can be looked up.",
    "",
    "**Repeats.** With a `reference` (or the same thing as `Idempotency-Key`) a request can be sent again without being charged again: it gets the same transaction, with `Idempotent-Replayed: true`. A failed transaction has used its `reference` up: another attempt needs a new one. 503 `provider_unavailable` made no transaction and used no `reference`: send the same request again after `Retry-After` seconds.",
    "",
    "**Growth.** v1 only grows: ignore fields that you do not know.",
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
  { name: "webhooks", description: "What the service sends to the account's own endpoint." },
];

const securitySchemes = {
  bearer: { type: "http", scheme: "bearer", description: "The API key, as `Authorization: Bearer <key>`." },
  apiKey: { type: "apiKey", in: "header", name: "X-API-KEY", description: "The API key; `Authorization` goes first." },
};

const parameters = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "Another way to send `reference`, without quotation marks; both, and different, are refused.",
    schema: { $ref: "#/components/schemas/Reference" },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "The `ETag` of what the caller has.",
    schema: { type: "string" },
  },
};

const parameterRef = (name: keyof typeof parameters) => ({ $ref: `#/components/parameters/${name}` });

const operation = (operationId: string, route: Route, schemas: ReturnType<typeof namedSchemas>) => {
  const all = [
    ...inputParameters(route, schemas),
    ...(isOrder(route) ? [parameterRef("IdempotencyKey")] : []),
    ...(isCacheable(route) ? [parameterRef("IfNoneMatch")] : []),
  ];
  return {
    operationId,
    summary: route.summary,
    ...(route.permission && { description: `Needs a key with the permission \`${route.permission}\`.` }),
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

/** The fields of a GET, in its path or its query. */
const inputParameters = (route: Route, schemas: Readonly<Record<string, z.core.JSONSchema.BaseSchema>>) => {
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
