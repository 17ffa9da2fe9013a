import type { IncomingMessage } from "node:http";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { DEFAULT_ROUTE } from "../../infra/gateway.ts";
import { ACCOUNT_ID } from "./local-aws.ts";

type Authorizer = "jwt" | "iam";

/** A route; `path` is in API Gateway's syntax. */
export type GatewayRoute = {
  readonly method: string;
  readonly path: string;
  readonly function: string;
  /** What has to let the request through. */
  readonly authorizer?: Authorizer;
};

/** The route of a request, or `$default`. */
export type RouteMatch = {
  readonly functionName: string;
  readonly routeKey: string;
  readonly authorizer?: Authorizer;
  readonly pathParameters?: Readonly<Record<string, string>>;
};

const API_ID = "local";
/** Headers of a single connection, which a gateway does not forward. */
const HOP_HEADERS = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "te", "proxy-connection"]);
const TEXT_TYPES = /^\s*(text\/|application\/json\s*(;|$))/i;
const PARAMETER = /^\{(\w+)\}$/;
/** Stands for the rest of the path, at least one segment. */
const GREEDY_PARAMETER = /\{(\w+)\+\}$/;

/**
 * Matches requests to routes; a request without a route, or with a malformed path, goes to the default function. Greedy
 * routes come last, the most specific one first.
 */
export const createRouter = (routes: readonly GatewayRoute[], defaultFunction: string) => {
  const greedyLength = ({ path }: GatewayRoute): number => (GREEDY_PARAMETER.test(path) ? path.length : Infinity);
  const patterns = routes
    .toSorted((one, other) => greedyLength(other) - greedyLength(one) || 0)
    .map((route) => ({ route, pattern: route.path.split("/") }));
  return (method: string, rawPath: string): RouteMatch => {
    const path = decodePath(rawPath);
    for (const { route, pattern } of path === undefined ? [] : patterns) {
      if (route.method !== method) continue;
      const pathParameters = matchPath(pattern, path ?? []);
      if (pathParameters === undefined) continue;
      const routeKey = `${route.method} ${route.path}`;
      const hasParameters = Object.keys(pathParameters).length > 0;
      return {
        functionName: route.function,
        routeKey,
        ...(route.authorizer && { authorizer: route.authorizer }),
        ...(hasParameters && { pathParameters }),
      };
    }
    return { functionName: defaultFunction, routeKey: DEFAULT_ROUTE };
  };
};

/** The segments of a path, decoded one by one so that an encoded slash does not separate; undefined if malformed. */
const decodePath = (rawPath: string): string[] | undefined => {
  try {
    return rawPath.split("/").map(decodeURIComponent);
  } catch {
    return undefined;
  }
};

const matchPath = (pattern: readonly string[], path: readonly string[]): Record<string, string> | undefined => {
  const greedy = GREEDY_PARAMETER.exec(pattern.at(-1) ?? "")?.[1];
  if (greedy !== undefined) {
    const fixed = pattern.length - 1;
    const rest = path.slice(fixed).join("/");
    const parameters = rest === "" ? undefined : matchPath(pattern.slice(0, fixed), path.slice(0, fixed));
    return parameters && { ...parameters, [greedy]: rest };
  }
  if (pattern.length !== path.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [position, part] of pattern.entries()) {
    const segment = path[position] ?? "";
    const name = PARAMETER.exec(part)?.[1];
    if (name === undefined ? segment !== part : segment === "") return undefined;
    if (name !== undefined) parameters[name] = segment;
  }
  return parameters;
};

/** A request's path and query, as sent. */
export const splitTarget = (request: IncomingMessage): { readonly path: string; readonly query: string } => {
  const target = request.url ?? "/";
  const local = target.startsWith("/") ? target : absoluteForm(target);
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, query: "" } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
};

/** Clients send `GET http://host/path` to proxies; any other target without a leading slash has no path. */
const absoluteForm = (target: string): string => {
  const url = URL.parse(target);
  return url === null ? "/" : `${url.pathname}${url.search}`;
};

/**
 * The event for a request, as API Gateway makes it. Source: AWS, "Working with AWS Lambda proxy integrations for HTTP
 * APIs", 2.0.
 */
export const gatewayEvent = (
  request: IncomingMessage,
  body: Buffer,
  target: RouteMatch,
  requestId: string,
): APIGatewayProxyEventV2 => {
  const { path, query } = splitTarget(request);
  // Unlike a REST API, an HTTP API decodes the path.
  const rawPath = decodePath(path)?.join("/") ?? path;
  const sourceIp = peerAddressOf(request);
  const { headers, cookies } = headersOf(request, sourceIp);
  const queryStringParameters = joinedOf(listsOf([...new URLSearchParams(query)]));
  const timeEpoch = Date.now();
  const domainName = headers.host ?? "";
  return {
    version: "2.0",
    routeKey: target.routeKey,
    rawPath,
    rawQueryString: query,
    ...(cookies.length > 0 && { cookies }),
    headers,
    ...(Object.keys(queryStringParameters).length > 0 && { queryStringParameters }),
    requestContext: {
      accountId: ACCOUNT_ID,
      apiId: API_ID,
      domainName,
      domainPrefix: domainName.split(".")[0] ?? "",
      http: {
        method: request.method ?? "GET",
        path: rawPath,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp,
        userAgent: headers["user-agent"] ?? "",
      },
      requestId,
      routeKey: target.routeKey,
      stage: "$default",
      time: clfTime(timeEpoch),
      timeEpoch,
    },
    ...(target.pathParameters && { pathParameters: { ...target.pathParameters } }),
    ...bodyOf(body, headers["content-type"] ?? ""),
  };
};

/**
 * The event of a REST API that serves every media type as binary. Source: AWS, "Lambda proxy integrations in API
 * Gateway", input format.
 */
export const restEvent = (request: IncomingMessage, body: Buffer, target: RouteMatch, requestId: string) => {
  const { path, query } = splitTarget(request);
  const multiValueHeaders = listsOf(
    pairsOf(request.rawHeaders).filter(([name]) => !HOP_HEADERS.has(name.toLowerCase())),
  );
  const queries = listsOf([...new URLSearchParams(query)]);
  const [method = "", resource = ""] = target.routeKey.split(" ");
  const parameters = resource.split("/").flatMap((part, position) => {
    const name = PARAMETER.exec(part)?.[1];
    return name === undefined ? [] : [[name, path.split("/")[position] ?? ""] as const];
  });
  return {
    resource,
    path,
    httpMethod: method,
    headers: lastOf(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: query === "" ? null : lastOf(queries),
    multiValueQueryStringParameters: query === "" ? null : queries,
    pathParameters: parameters.length > 0 ? Object.fromEntries(parameters) : null,
    stageVariables: null,
    requestContext: {
      accountId: ACCOUNT_ID,
      apiId: API_ID,
      resourcePath: resource,
      httpMethod: method,
      path,
      stage: "callers",
      requestId: `of-${requestId}`,
      extendedRequestId: requestId,
      identity: { sourceIp: peerAddressOf(request), userAgent: request.headers["user-agent"] ?? null },
    },
    body: body.length === 0 ? null : body.toString("base64"),
    isBase64Encoded: body.length > 0,
  };
};

const pairsOf = (raw: readonly string[]): [string, string][] =>
  raw.flatMap((name, position) =>
    position % 2 === 0 ? [[name, raw[position + 1] ?? ""] satisfies [string, string]] : [],
  );
const listsOf = (pairs: readonly (readonly [string, string])[]): Record<string, string[]> => {
  const groups = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries([...groups].map(([name, group]) => [name, group.map(([, value]) => value)]));
};
const joinedOf = (lists: Readonly<Record<string, readonly string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.join(",")]));
const lastOf = (lists: Readonly<Record<string, readonly string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.at(-1) ?? ""]));

/** The address of the socket's peer, because headers can be forged; an IPv4-mapped address becomes IPv4. */
export const peerAddressOf = (request: IncomingMessage): string =>
  (request.socket.remoteAddress ?? "").replace(/^::ffff:/i, "");

const headersOf = (request: IncomingMessage, sourceIp: string) => {
  const { cookie = [], ...lists } = listsOf(
    pairsOf(request.rawHeaders)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !HOP_HEADERS.has(name)),
  );
  const sent = joinedOf(lists);
  const forwarded = sent["x-forwarded-for"];
  const headers: Record<string, string> = {
    ...sent,
    "x-forwarded-for": forwarded === undefined ? sourceIp : `${forwarded}, ${sourceIp}`,
    "x-forwarded-proto": "http",
    "x-forwarded-port": String(request.socket.localPort ?? ""),
  };
  return { headers, cookies: cookie.flatMap((value) => value.split(";").map((each) => each.trim())) };
};

const bodyOf = (body: Buffer, contentType: string): Pick<APIGatewayProxyEventV2, "body" | "isBase64Encoded"> => {
  if (body.length === 0) return { isBase64Encoded: false };
  const isText = TEXT_TYPES.test(contentType);
  return { body: body.toString(isText ? "utf8" : "base64"), isBase64Encoded: !isText };
};

/** A time in the Common Log Format, such as 12/Mar/2026:19:03:58 +0000. */
const clfTime = (atMs: number): string => {
  const [, day, month, year, time] = new Date(atMs).toUTCString().split(" ");
  return `${day}/${month}/${year}:${time} +0000`;
};
