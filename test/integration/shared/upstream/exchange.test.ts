import { createServer as createTlsServer } from "node:https";
import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type ExchangeLimits, exchange } from "../../../../shared/upstream/exchange.ts";
import { freePort, listenOnLoopback } from "../../../../tools/local/loopback.ts";
import { selfSigned } from "../../../builders/network/self-signed.ts";
import { ownTlsContexts, trustInTest } from "../../../builders/network/tls-trust.ts";
import { eventually } from "../../../builders/run/eventually.ts";

afterEach(() => {
  vi.useRealTimers();
});

const limits: ExchangeLimits = { totalMs: 5_000, bytesMax: 1_000 };
const order = '{"reference":"DATA_1"}';

/** What a server received. */
type Seen = { connections: number; requests: string[]; closed: number };

/** A server of raw bytes; `answer` is called once per connection, when a whole order has arrived. */
const aRawServer = async (answer: (socket: Socket) => void) => {
  const seen: Seen = { connections: 0, requests: [], closed: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    seen.connections += 1;
    sockets.add(socket);
    let received = "";
    socket.on("error", () => {});
    socket.on("close", () => {
      seen.closed += 1;
    });
    socket.on("data", (chunk) => {
      received += chunk.toString();
      if (!received.endsWith(order)) return;
      seen.requests.push(received);
      received = "";
      answer(socket);
    });
  });
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/v1/vtu/data/purchase`, port, seen, sockets };
};

const post = (url: string, changes: Partial<ExchangeLimits> = {}, headers: Readonly<Record<string, string>> = {}) =>
  exchange(
    { method: "POST", url, headers: { "content-type": "application/json", ...headers }, body: order },
    { ...limits, ...changes },
  );

const response = (body: string, head = "HTTP/1.1 200 OK"): string =>
  `${head}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** Long enough for a second copy to arrive. */
const settled = () => new Promise((wake) => setTimeout(wake, 150));

describe("answered", () => {
  test("an exchange has the status, the headers in lower case and the body, and the request is written once", async () => {
    const { url, seen } = await aRawServer((socket) => {
      socket.end(response("{}", "HTTP/1.1 422 No\r\nRetry-After: 7\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2"));
    });
    const result = await post(url, {}, { authorization: "Bearer live_key" });
    expect(result).toMatchObject({
      kind: "answered",
      status: 422,
      headers: { "retry-after": "7", "set-cookie": "a=1,b=2" },
      body: "{}",
    });
    expect(seen.requests).toHaveLength(1);
    expect(seen.requests[0]).toMatch(/^POST \/v1\/vtu\/data\/purchase HTTP\/1\.1\r\n/);
    expect(seen.requests[0]?.toLowerCase()).toContain("authorization: bearer live_key\r\n");
    expect(seen.requests[0]?.toLowerCase()).toContain(`content-length: ${order.length}\r\n`);
    expect(seen.requests[0]?.split("\r\n\r\n")[1]).toBe(order);
  });

  test("a body in pieces that split a character of 2 bytes is read correctly", async () => {
    const { url } = await aRawServer((socket) => {
      const bytes = Buffer.from(response('{"name":"é"}'));
      const half = bytes.indexOf(0xc3) + 1;
      socket.write(bytes.subarray(0, half));
      setTimeout(() => socket.end(bytes.subarray(half)), 30);
    });
    expect(await post(url)).toMatchObject({ kind: "answered", body: '{"name":"é"}' });
  });

  test("a body is returned without its byte order mark", async () => {
    const { url } = await aRawServer((socket) => socket.end(response("\uFEFF{}")));
    expect(await post(url)).toMatchObject({ kind: "answered", body: "{}" });
  });

  test("a response may take 19 s: the limit of 5 s is for connecting only", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { url, seen, sockets } = await aRawServer(() => {});
    const result = post(url, { totalMs: 20_000 });
    while (seen.requests.length === 0) await new Promise((turn) => setImmediate(turn));
    await vi.advanceTimersByTimeAsync(19_000);
    for (const socket of sockets) socket.end(response("{}"));
    expect(await result).toMatchObject({ kind: "answered", body: "{}" });
  });

  test("a GET is sent without a body", async () => {
    const server = createServer((socket) => socket.once("data", (chunk) => socket.end(response(chunk.toString()))));
    const port = await listenOnLoopback(server);
    onTestFinished(() => void server.close());
    const result = await exchange({ method: "GET", url: `http://127.0.0.1:${port}/v1/vtu/data`, headers: {} }, limits);
    if (result.kind !== "answered") expect.unreachable();
    expect(result.body).toMatch(/^GET \/v1\/vtu\/data HTTP\/1\.1\r\n/);
    expect(result.body.toLowerCase()).not.toContain("content-length");
    expect(result.body.endsWith("\r\n\r\n")).toBe(true);
  });

  test("each request has a connection of its own: 3 requests, 3 connections", async () => {
    const { url, seen } = await aRawServer((socket) => {
      socket.write(response("{}", "HTTP/1.1 200 OK\r\nConnection: keep-alive"));
    });
    for (let request = 0; request < 3; request += 1) await post(url);
    await eventually(() => expect(seen).toMatchObject({ connections: 3, closed: 3 }));
  });
});

describe("never_sent", () => {
  test("a refused connection is never_sent", async () => {
    expect(await post(`http://127.0.0.1:${await freePort()}/`)).toEqual({ kind: "never_sent", reason: "ECONNREFUSED" });
  });

  test("a name that does not resolve is never_sent", async () => {
    const result = await post("http://upstream.invalid/");
    expect(result).toMatchObject({ kind: "never_sent", reason: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/) });
  });

  test("a server that does not answer a TLS handshake within 300 ms is never_sent", async () => {
    const { port, seen } = await aRawServer(() => {});
    expect(await post(`https://127.0.0.1:${port}/`, { totalMs: 300 })).toMatchObject({ kind: "never_sent" });
    expect(seen).toMatchObject({ connections: 1, requests: [] });
  });

  test("a server that does not answer a TLS handshake is never_sent after 5 s, although 20 s are left", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { port, sockets } = await aRawServer(() => {});
    let result: unknown;
    const done = post(`https://127.0.0.1:${port}/`, { totalMs: 20_000 }).then((value) => {
      result = value;
    });
    while (sockets.size === 0) await new Promise((turn) => setImmediate(turn));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(result).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await done;
    expect(result).toEqual({ kind: "never_sent", reason: "connect_timeout" });
  });

  test("a request that may not begin any more once it is connected is never_sent, and not a byte of it is written", async () => {
    const { url, sockets, seen } = await aRawServer((socket) => socket.end(response("{}")));
    const order: string[] = [];
    const mayBegin = () => {
      order.push("asked");
      return order.length === 1;
    };
    const beginning = { mayBegin, begun: () => void order.push("begun") };
    expect(await post(url, { beginning })).toMatchObject({ kind: "answered" });
    expect(await post(url, { beginning })).toEqual({ kind: "never_sent", reason: "turn_over" });
    await vi.waitFor(() => expect(seen).toMatchObject({ connections: 2, closed: 2 }));
    expect(order).toEqual(["asked", "begun", "asked"]);
    expect([...sockets].map(({ bytesRead }) => bytesRead > 0)).toEqual([true, false]);
  });

  test("a server without TLS is never_sent", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    });
    const port = await listenOnLoopback(server);
    onTestFinished(() => void server.close());
    expect(await post(`https://127.0.0.1:${port}/`)).toMatchObject({ kind: "never_sent" });
  });
});

describe("over TLS", () => {
  /** Counts the requests that reach it; `answer` false: hangs up on them. */
  const aTlsServer = async ({ cert, key }: ReturnType<typeof selfSigned>, answers = true) => {
    const seen = { requests: 0, connections: 0, resumedSessions: 0 };
    const server = createTlsServer({ cert, key }, (request, outgoing) => {
      seen.requests += 1;
      if (!answers) request.socket.destroy();
      else outgoing.end("{}");
    });
    server.on("tlsClientError", () => {});
    server.on("secureConnection", (socket) => {
      seen.connections += 1;
      if (socket.isSessionReused()) seen.resumedSessions += 1;
    });
    const port = await listenOnLoopback(server);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `https://localhost:${port}/`, seen };
  };
  test.each([
    ["that is not trusted", false, "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["of another host", true, "ERR_TLS_CERT_ALTNAME_INVALID"],
  ])("a certificate %s is never_sent: 0 requests arrive", async (_what, isTrusted, reason) => {
    const pair = selfSigned();
    if (isTrusted) trustInTest(pair.cert);
    const { url, seen } = await aTlsServer(pair);
    expect(await post(isTrusted ? url.replace("localhost", "127.0.0.1") : url)).toEqual({ kind: "never_sent", reason });
    await settled();
    expect(seen.requests).toBe(0);
  });

  test("a second request has a connection of its own, with the context and the session of the first", async () => {
    const pair = selfSigned();
    trustInTest(pair.cert);
    const { url, seen } = await aTlsServer(pair);
    const own = ownTlsContexts();
    for (let request = 0; request < 2; request += 1) {
      expect(await post(url)).toMatchObject({ kind: "answered", status: 200, body: "{}" });
    }
    expect(seen).toEqual({ requests: 2, connections: 2, resumedSessions: 1 });
    expect(own).not.toHaveBeenCalled();
  });

  test("a connection that is cut after the handshake is no_answer, and 1 request arrived", async () => {
    const pair = selfSigned();
    trustInTest(pair.cert);
    const { url, seen } = await aTlsServer(pair, false);
    expect(await post(url)).toMatchObject({ kind: "no_answer" });
    await settled();
    expect(seen.requests).toBe(1);
  });
});

describe("no_answer", () => {
  test("a reset 50 ms after connecting is no_answer, although the order was not read", async () => {
    const server = createServer({ pauseOnConnect: true }, (socket) => setTimeout(() => socket.resetAndDestroy(), 50));
    const port = await listenOnLoopback(server);
    onTestFinished(() => void server.close());
    expect(await post(`http://127.0.0.1:${port}/`)).toEqual({ kind: "no_answer", reason: "ECONNRESET" });
  });

  test.each<[string, (socket: Socket) => unknown, string]>([
    ["a reset after the order was read", (socket) => socket.resetAndDestroy(), "ECONNRESET"],
    ["a connection that is closed without a response", (socket) => socket.end(), "ECONNRESET"],
    [
      "an answer that is cut off with 10 of 100 bytes",
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"status":'),
      "answer_cut_off",
    ],
    [
      "an answer without its last chunk",
      (socket) => socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"),
      "answer_cut_off",
    ],
    ["an answer that is cut off in its headers", (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Le"), "ECONNRESET"],
    ["a response that is not HTTP", (socket) => socket.end("hello\r\n\r\n"), "HPE_INVALID_CONSTANT"],
  ])("%s is no_answer, and the order is written once", async (_what, answer, reason) => {
    const { url, seen } = await aRawServer(answer);
    expect(await post(url)).toEqual({ kind: "no_answer", reason });
    await settled();
    expect(seen).toMatchObject({ connections: 1, requests: [expect.stringContaining(order)] });
  });

  test("silence for 300 ms is no_answer, not earlier, and closes the connection", async () => {
    const { url, seen } = await aRawServer(() => {});
    const startedMs = performance.now();
    expect(await post(url, { totalMs: 300 })).toEqual({ kind: "no_answer", reason: "timeout" });
    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThanOrEqual(295);
    await eventually(() => expect(seen).toMatchObject({ connections: 1, closed: 1 }));
    expect(seen.requests).toHaveLength(1);
  });

  test("a response that drips for more than 300 ms is no_answer", async () => {
    const { url } = await aRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
      const drip = setInterval(() => socket.write(" "), 20);
      socket.once("close", () => clearInterval(drip));
    });
    expect(await post(url, { totalMs: 300 })).toEqual({ kind: "no_answer", reason: "timeout" });
  });
});

test("with a limit of 1,000 bytes a response of 1,000 is read, and one of 1,001 is no_answer", async () => {
  const full = await aRawServer((socket) => socket.end(response("x".repeat(1_000))));
  expect(await post(full.url)).toMatchObject({ kind: "answered", body: "x".repeat(1_000) });
  const over = await aRawServer((socket) => socket.end(response("x".repeat(1_001))));
  expect(await post(over.url)).toEqual({ kind: "no_answer", reason: "answer_too_large" });
});

test("an endless response is given up after 1,000 bytes, not when the time is up", async () => {
  const { url, seen } = await aRawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
    const pour = setInterval(() => socket.write("x".repeat(500)), 1);
    socket.once("close", () => clearInterval(pour));
  });
  expect(await post(url)).toEqual({ kind: "no_answer", reason: "answer_too_large" });
  await eventually(() => expect(seen.closed).toBe(1));
});

test.for([301, 302, 303, 307, 308])("a redirect with %i is not followed", async (status) => {
  const target = await aRawServer((socket) => socket.end(response("{}")));
  const { url } = await aRawServer((socket) => {
    socket.end(response("{}", `HTTP/1.1 ${status} Moved\r\nLocation: ${target.url}`));
  });
  expect(await post(url)).toMatchObject({ kind: "answered", status });
  await settled();
  expect(target.seen.connections).toBe(0);
});
