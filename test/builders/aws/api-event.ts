import type { APIGatewayProxyEventV2 } from "aws-lambda";

/** What a test changes of a valid request. */
export type ApiEventChanges = {
  readonly method?: string;
  readonly path?: string;
  /** API Gateway's name of the route; by default the method and the path. */
  readonly routeKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly sourceIp?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly requestId?: string;
};

/** A request as an HTTP API passes it to a function, payload 2.0. */
export const anApiEvent = ({
  method = "GET",
  path = "/v1/vtu/data",
  routeKey = `${method} ${path}`,
  headers = {},
  body,
  isBase64Encoded = false,
  sourceIp = "203.0.113.7",
  query,
  pathParameters,
  requestId = "req-0001",
}: ApiEventChanges = {}): APIGatewayProxyEventV2 => ({
  version: "2.0",
  routeKey,
  rawPath: path,
  rawQueryString: new URLSearchParams(query).toString(),
  headers: { "x-forwarded-for": sourceIp, ...headers },
  ...(query && { queryStringParameters: { ...query } }),
  ...(pathParameters && { pathParameters: { ...pathParameters } }),
  requestContext: {
    accountId: "123456789012",
    apiId: "api",
    domainName: "api.example.com",
    domainPrefix: "api",
    http: { method, path, protocol: "HTTP/1.1", sourceIp, userAgent: "test" },
    requestId,
    routeKey,
    stage: "$default",
    time: "21/Nov/2026:09:30:00 +0000",
    timeEpoch: Date.parse("2026-11-21T09:30:00Z"),
  },
  ...(body !== undefined && { body }),
  isBase64Encoded,
});
