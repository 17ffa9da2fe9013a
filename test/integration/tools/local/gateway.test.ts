import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { afterEach, expect, test } from "vitest";
import { sleep } from "../../../../shared/platform/time.ts";
import { signedHeaders } from "../../../../tools/aws/signed-headers.ts";
import { invokeWith } from "../../../../tools/local/functions.ts";
import { type Gateway, openGateway } from "../../../../tools/local/gateway.ts";
import { gatewayEvent } from "../../../../tools/local/gateway-event.ts";
import { credentials, REGION } from "../../../../tools/local/local-aws.ts";

const routes = [
  { method: "GET", path: "/v1/things", function: "list" },
  { method: "POST", path: "/v1/things", function: "make" },
  { method: "GET", path: "/v1/files/{path+}", function: "list" },
  { method: "GET", path: "/v1/files/private/{path+}", function: "show", authorizer: "jwt" },
  { method: "POST", path: "/v1/operations/{path+}", function: "show", authorizer: "iam" },
  { method: "GET", path: "/v1/files/{id}/name", function: "make" },
  { method: "GET", path: "/v1/things/{id}", function: "show" },
] as const;
const opened: Gateway[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
});

type TestHandler = (event: unknown, context: { getRemainingTimeInMillis(): number }) => Promise<unknown>;

/** A gateway with the same handler for all functions. */
const gatewayTo = async (handler: TestHandler, timeoutMs?: number): Promise<Gateway> => {
  const gateway = await openGateway({ port: 0, routes, defaultFunction: "reject" });
  opened.push(gateway);
  const handlers = ["list", "make", "show", "reject"].map((name): [string, TestHandler] => [name, handler]);
  gateway.serve(invokeWith(new Map(handlers), timeoutMs));
  return gateway;
};

/** A gateway whose functions respond with their event. */
const echoing = (): Promise<Gateway> => gatewayTo(async (event) => ({ statusCode: 200, body: JSON.stringify(event) }));

const eventFor = async (path: string, init?: RequestInit): Promise<APIGatewayProxyEventV2> => {
  const { origin } = await echoing();
  return JSON.parse(await (await fetch(`${origin}${path}`, init)).text());
};

/** Sends bytes that an HTTP client would correct; resolves with the whole response. */
const sendRaw = async (port: number, bytes: string): Promise<string> => {
  const socket = connect(port, "127.0.0.1");
  socket.end(bytes);
  return text(socket);
};

test("a request to a route becomes an event of payload 2.0 with the route's key", async () => {
  const event = await eventFor("/v1/things?a=1&a=2&b=%20", { headers: { "X-Thing": "Ä", "User-Agent": "test" } });

  expect(event).toMatchObject({
    version: "2.0",
    routeKey: "GET /v1/things",
    rawPath: "/v1/things",
    rawQueryString: "a=1&a=2&b=%20",
    queryStringParameters: { a: "1,2", b: " " },
    isBase64Encoded: false,
    requestContext: {
      routeKey: "GET /v1/things",
      stage: "$default",
      time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      http: { method: "GET", path: "/v1/things", protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "test" },
    },
  });
  expect(event).not.toHaveProperty("body");
  expect(event).not.toHaveProperty("pathParameters");
  expect(event).not.toHaveProperty("cookies");
});

test("a path parameter is decoded, an encoded slash included", async () => {
  const event = await eventFor("/v1/things/a%2Fb%20c");
  expect(event.routeKey).toBe("GET /v1/things/{id}");
  expect(event.pathParameters).toEqual({ id: "a/b c" });
  expect(event).not.toHaveProperty("queryStringParameters");
});

test.each(["/v1/nothing", "/v1/things/", "/v1/things/1/2", "/", "/v1/things/%zz", "/%zz?q=%zz"])(
  "a request for %s matches no route and invokes the default function",
  async (path) => {
    const { port } = await echoing();
    const answer = await sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer).toContain("HTTP/1.1 200");
    expect(answer).toContain('"routeKey":"$default"');
  },
);

test.each([
  { path: "/v1/files/a/b%2Fc%20d", routeKey: "GET /v1/files/{path+}", pathParameters: { path: "a/b/c d" } },
  { path: "/v1/files/a/name", routeKey: "GET /v1/files/{id}/name", pathParameters: { id: "a" } },
  { path: "/v1/files/a/names", routeKey: "GET /v1/files/{path+}", pathParameters: { path: "a/names" } },
  { path: "/v1/files/private", routeKey: "GET /v1/files/{path+}", pathParameters: { path: "private" } },
  { path: "/v1/files", routeKey: "$default", pathParameters: undefined },
  { path: "/v1/files/", routeKey: "$default", pathParameters: undefined },
])("$path is a request of the most specific route, $routeKey", async ({ path, routeKey, pathParameters }) => {
  const event = await eventFor(path);
  expect(event.routeKey).toBe(routeKey);
  expect(event.pathParameters).toEqual(pathParameters);
});

test("a route that needs a token is invoked with the authorizer's claims, and not without them", async () => {
  const gateway = await openGateway({ port: 0, routes, defaultFunction: "reject" });
  opened.push(gateway);
  const events: unknown[] = [];
  const keep: TestHandler = async (event) => {
    events.push(event);
    return { statusCode: 200 };
  };
  gateway.serve(invokeWith(new Map([["show", keep]])), async (authorization) =>
    authorization === "Bearer good" ? { sub: "ada" } : undefined,
  );
  const statusOf = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${gateway.origin}${path}`, { headers })).status;

  const problem = ' scope="" error="invalid_token" error_description="the token is not valid"';
  for (const [authorization, authenticate] of [
    [undefined, "Bearer"],
    ["Bearer bad", `Bearer${problem}`],
  ]) {
    const answer = await fetch(`${gateway.origin}/v1/files/private/a`, {
      ...(authorization && { headers: { authorization } }),
    });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, authenticate]);
    expect(await answer.json()).toEqual({ message: "Unauthorized" });
  }
  expect(events).toEqual([]);

  expect(await statusOf("/v1/files/private/a", { authorization: "Bearer good" })).toBe(200);
  expect(await statusOf("/v1/things/a", { authorization: "Bearer good" })).toBe(200);
  expect(events[0]).toMatchObject({
    requestContext: { authorizer: { jwt: { claims: { sub: "ada" }, scopes: null } } },
  });
  expect(events[1]).not.toHaveProperty("requestContext.authorizer");
});

test("a route with IAM authorisation is invoked with the caller's ARN, and answers 403 without a good signature", async () => {
  const events: unknown[] = [];
  const { origin } = await gatewayTo(async (event) => {
    events.push(event);
    return { statusCode: 200 };
  });
  const url = new URL("/v1/operations/things/a%20b?c=d%20e&f=", origin);
  const request = { method: "POST", body: '{"by":"eve"}', headers: { "content-type": "application/json" } };
  const signer = { service: "execute-api", region: REGION, credentials };
  const good = await signedHeaders(signer, url, request);
  const stranger = { ...signer, credentials: { ...credentials, secretAccessKey: "another" } };

  for (const headers of [
    {},
    await signedHeaders(stranger, url, request),
    { ...good, "x-amz-date": "20261121T093000Z" },
  ]) {
    const refused = await fetch(url, { ...request, headers });
    expect([refused.status, await refused.text()]).toEqual([403, '{"message":"Forbidden"}']);
  }
  expect(events).toEqual([]);

  expect((await fetch(url, { ...request, headers: good })).status).toBe(200);
  expect(events).toMatchObject([
    {
      body: request.body,
      requestContext: { authorizer: { iam: { userArn: "arn:aws:iam::000000000000:user/local" } } },
    },
  ]);
});

test("a gateway without an authorizer refuses routes that need a token", async () => {
  const { origin } = await echoing();
  const answer = await fetch(`${origin}/v1/files/private/a`, { headers: { authorization: "Bearer good" } });
  expect(answer.status).toBe(401);
});

test("another method on a route's path invokes the default function", async () => {
  expect((await eventFor("/v1/things", { method: "DELETE" })).routeKey).toBe("$default");
});

test("header names are lower-case, repeated headers are joined with commas, and cookies are a separate list", async () => {
  const { port } = await echoing();
  const head = "GET /v1/things HTTP/1.1\r\nHost: x\r\nX-Many: 1\r\nx-many: 2\r\nCookie: a=1; b=2\r\nConnection: close";
  const answer = await sendRaw(port, `${head}\r\n\r\n`);
  expect(answer).toContain('"x-many":"1,2"');
  expect(answer).toContain('"cookies":["a=1","b=2"]');
  expect(answer).not.toContain('"cookie":');
});

test("the source IP is the address of the socket, not of X-Forwarded-For", async () => {
  const event = await eventFor("/v1/things", { headers: { "X-Forwarded-For": "10.0.0.9" } });
  expect(event.requestContext.http.sourceIp).toBe("127.0.0.1");
  expect(event.headers["x-forwarded-for"]).toBe("10.0.0.9, 127.0.0.1");
});

test("the source IP of an IPv4 client at an IPv6 socket is its IPv4 address", async () => {
  const target = { functionName: "list", routeKey: "$default" };
  const server = createServer((request, response) => {
    response.end(JSON.stringify([request.socket.remoteAddress, gatewayEvent(request, Buffer.of(), target, "r")]));
  });
  await once(server.listen(0, "::"), "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const [peer, event] = JSON.parse(await (await fetch(`http://127.0.0.1:${port}/`)).text());
  server.close();
  expect(peer).toBe("::ffff:127.0.0.1");
  expect(event.requestContext.http.sourceIp).toBe("127.0.0.1");
});

test.each([
  ["application/json", '{"a":"ä"}', false],
  ["application/json; charset=utf-8", "{}", false],
  ["text/plain", "ä", false],
  ["application/x-www-form-urlencoded", "a=1", true],
  ["application/json-patch+json", "[]", true],
])("a body of type %s has the text or Base64 form that API Gateway gives it", async (type, body, isBase64Encoded) => {
  const event = await eventFor("/v1/things", { method: "POST", headers: { "Content-Type": type }, body });
  expect(event.isBase64Encoded).toBe(isBase64Encoded);
  expect(Buffer.from(event.body ?? "", isBase64Encoded ? "base64" : "utf8").toString()).toBe(body);
});

test("a response's status, headers, cookies and Base64 body reach the client", async () => {
  const body = Buffer.from([0, 255, 1]);
  const { origin } = await gatewayTo(async () => ({
    statusCode: 422,
    headers: { "x-number": 3, "content-type": "image/x" },
    cookies: ["a=1", "b=2"],
    body: body.toString("base64"),
    isBase64Encoded: true,
  }));
  const response = await fetch(`${origin}/v1/things`);
  expect(response.status).toBe(422);
  expect(response.headers.get("x-number")).toBe("3");
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(body);
});

test.each<[string, TestHandler]>([
  ["throws", () => Promise.reject(new Error("private"))],
  ["returns nothing", async () => undefined],
  ["returns no status", async () => ({ body: "x" })],
  ["returns a header that HTTP cannot carry", async () => ({ statusCode: 200, headers: { "x-a": "1", "x-b": "\n" } })],
])("a function that %s gives API Gateway's 500 without the service's headers", async (_what, handler) => {
  const { origin } = await gatewayTo(handler);
  const response = await fetch(`${origin}/v1/things`);
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ message: "Internal Server Error" });
  expect([...response.headers.keys()].filter((name) => name.startsWith("x-"))).toEqual([]);
});

test("a function that exceeds its time-out gives API Gateway's 500, and its remaining time decreases", async () => {
  const remaining: number[] = [];
  const { origin } = await gatewayTo(async (_event, context) => {
    remaining.push(context.getRemainingTimeInMillis());
    await sleep(60);
    remaining.push(context.getRemainingTimeInMillis());
    await sleep(1_000);
  }, 150);
  const response = await fetch(`${origin}/v1/things`);
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ message: "Internal Server Error" });
  const [first = 0, second = 0] = remaining;
  expect(first).toBeLessThanOrEqual(150);
  expect(first - second).toBeGreaterThanOrEqual(50);
});

test.each(["with a length", "in chunks"])("a body over 10 MiB, sent %s, is answered with 413", async (manner) => {
  const { port } = await echoing();
  const size = 10 * 1024 * 1024 + 1;
  const headers = manner === "with a length" ? { "Content-Length": size } : {};
  const request = httpRequest({ port, host: "127.0.0.1", method: "POST", path: "/v1/things", headers });
  const sent = once(request.end(Buffer.alloc(size)), "finish");
  const [response]: IncomingMessage[] = await once(request, "response");
  expect(response?.statusCode).toBe(413);
  expect(JSON.parse(response ? await text(response) : "")).toEqual({ message: "Request Entity Too Large" });
  await sent;
});

test.each([
  { manner: "as text", type: "application/json", mib: 5, status: 200 },
  { manner: "as text", type: "application/json", mib: 6, status: 413 },
  { manner: "in Base64", type: "application/octet-stream", mib: 4, status: 200 },
  { manner: "in Base64", type: "application/octet-stream", mib: 5, status: 413 },
])("a body of $mib MiB, which the event has $manner, is answered with $status", async ({ type, mib, status }) => {
  const { origin } = await gatewayTo(async () => ({ statusCode: 200, body: "taken" }));
  const body = "a".repeat(mib * 1024 * 1024);
  const response = await fetch(`${origin}/v1/things`, { method: "POST", headers: { "content-type": type }, body });
  expect(response.status).toBe(status);
  expect(await response.text()).toBe(status === 200 ? "taken" : '{"message":"Request Entity Too Large"}');
});

test("a gateway responds with 503 until it serves", async () => {
  const gateway = await openGateway({ port: 0, routes, defaultFunction: "reject" });
  opened.push(gateway);
  expect((await fetch(`${gateway.origin}/v1/things`)).status).toBe(503);
});

test("a closing gateway lets a request in flight finish and rejects new ones", async () => {
  const begun = Promise.withResolvers<void>();
  const gateway = await gatewayTo(async () => {
    begun.resolve();
    await sleep(200);
    return { statusCode: 200, body: "done" };
  });
  const answer = fetch(`${gateway.origin}/v1/things`).then((response) => response.text());
  await begun.promise;
  await gateway.close();
  expect(await answer).toBe("done");
  await expect(fetch(`${gateway.origin}/v1/things`)).rejects.toThrow();
});

test("a closing gateway waits at most 2 s for a request in flight", async () => {
  const begun = Promise.withResolvers<void>();
  const gateway = await gatewayTo(() => {
    begun.resolve();
    return new Promise(() => {});
  });
  const answer = fetch(`${gateway.origin}/v1/things`).then(
    () => "answered",
    () => "cut",
  );
  await begun.promise;
  await gateway.close();
  expect(await answer).toBe("cut");
});
