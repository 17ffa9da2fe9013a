import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { parseIpRanges } from "../../../../shared/platform/ip-range.ts";
import { WEBHOOK_CONNECT_MS_MAX } from "../../../../shared/platform/time-budgets.ts";
import type { AddressRules } from "../../../../shared/webhooks/address-guard.ts";
import { createPost } from "../../../../shared/webhooks/post-webhook.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";
import { selfSigned } from "../../../builders/network/self-signed.ts";
import { ownTlsContexts, trustInTest } from "../../../builders/network/tls-trust.ts";
import { WAIT_MS_MAX } from "../../../builders/run/until.ts";
import { aReceiver } from "../../../builders/webhooks/endpoint.ts";
import { startReceiver } from "../../../builders/webhooks/receiver.ts";

/** Goal: a webhook is posted once, only to permitted addresses, within the limits of time and size. */
const rulesWith = (changes: Partial<AddressRules> = {}): AddressRules => ({
  allowed: parseIpRanges("127.0.0.0/8,::1/128"),
  refusedHosts: [],
  resolve: async () => ["127.0.0.1"],
  ...changes,
});
const headers = { "webhook-id": "evt_1", "webhook-timestamp": "1", "webhook-signature": "v1,x" };
const post = (url: string, rules = rulesWith(), totalMs?: number) =>
  createPost(rules, totalMs)({ url, headers, body: "{}" });

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A container may have no IPv6. */
const loopbacks = ["127.0.0.1", "::1"].filter((host) =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === host)),
);
test.each(loopbacks)("a response from %s gives its status and its size", async (host) => {
  const receiver = await aReceiver((response) => void response.writeHead(204).end(), { host });
  const rules = rulesWith({ resolve: async () => [host] });
  for (const name of [host === "::1" ? "[::1]" : host, "app.example.com"]) {
    const result = await post(`http://${name}:${receiver.port}/hook?a=1`, rules);
    expect(result).toMatchObject({ kind: "answered", status: 204, bytes: 0 });
  }
  const arrived = { path: "/hook?a=1", headers: { id: "evt_1" }, body: "{}" };
  expect(receiver.received).toMatchObject([arrived, arrived]);
});

test("a response that is no delivery gives the first 300 characters of its body, without the numbers of persons", async () => {
  const body = `{"error":"no user\u0000 0803 123 4567",\r\n "nin":"12345678901"} ${"x".repeat(500)}`;
  const receiver = await aReceiver((response, count) => void response.writeHead(count === 1 ? 422 : 200).end(body));
  const masked = `{"error":"no user **** *** **67", "nin":"*********01"} ${"x".repeat(500)}`;
  expect(await post(receiver.url)).toMatchObject({ status: 422, body: masked.slice(0, 300) });
  expect(await post(receiver.url)).not.toHaveProperty("body");
});

test("a number in a response's body is masked whatever but letters is between its digits, and times and references stay", async () => {
  const kept = 'at 2026-11-30T08:09:10.123Z, line 42, "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ"';
  const bodies = [
    "to 0803%20123%204567",
    `${"x".repeat(290)} 0,8,0,3,1,2,3,4,5,6,7`,
    `to [0,8,0,3,1,2,3,4,5,6,7] ${kept}`,
  ];
  const receiver = await aReceiver((response, count) => void response.writeHead(422).end(bodies[count - 1]));
  for (const masked of ["to ****%*****%******", `${"x".repeat(290)} *,*,*,*,*`, `to [*,*,*,*,*,*,*,*,*,*,*] ${kept}`]) {
    expect(await post(receiver.url)).toMatchObject({ body: masked });
  }
});

test("a response's body that is cut within a character is kept as Unicode, which DynamoDB requires", async () => {
  const receiver = await aReceiver((response) => void response.writeHead(500).end(`${"x".repeat(299)}😀`));
  expect(await post(receiver.url)).toMatchObject({ body: `${"x".repeat(299)}\ufffd` });
});

test("a response gives the headers that help to find a fault, 200 characters of each, and no others", async () => {
  const receiver = await aReceiver(
    (response) =>
      void response
        .writeHead(301, {
          location: `https://app.example.com/${"x".repeat(500)}`,
          "retry-after": "120",
          server: "nginx",
          "set-cookie": "session=secret",
          "x-api-key": "secret",
          "x-request-id": "req-1",
        })
        .end(),
  );
  expect(await post(receiver.url)).toMatchObject({
    headers: {
      date: expect.any(String),
      location: `https://app.example.com/${"x".repeat(200)}`.slice(0, 200),
      "retry-after": "120",
      server: "nginx",
      "x-request-id": "req-1",
    },
  });
  expect(JSON.stringify(await post(receiver.url))).not.toContain("secret");
});

test("a header that is kept has no number of a person, also none that its end would cut", async () => {
  const location = `https://app.example.com/08031234567/nin/12345678901/${"x".repeat(141)}/08031234567`;
  const receiver = await aReceiver((response) => void response.writeHead(302, { location, server: "a/1.2.3" }).end());
  const masked = `https://app.example.com/*********67/nin/*********01/${"x".repeat(141)}/*********67`;
  expect(await post(receiver.url)).toMatchObject({ headers: { location: masked.slice(0, 200), server: "a/1.2.3" } });
});

test("a redirect has no number in its path, whatever but letters is between its digits", async () => {
  const location = "https://app.example.com/to/0803%20123%204567?next=1";
  const receiver = await aReceiver((response) => void response.writeHead(302, { location }).end());
  const masked = "https://app.example.com/to/****%*****%******?next=***";
  expect(await post(receiver.url)).toMatchObject({ headers: { location: masked } });
});

test("a redirect does not show what the values of the endpoint's query are", async () => {
  const locations = ["/hook/?token=s3cret#s3cret", "https://user:s3cret@app.example.com/hook?token=s3cret", "http://["];
  const receiver = await aReceiver(
    (response, count) => void response.writeHead(308, { location: locations[count - 1] }).end(),
  );
  const shown = [`${receiver.url.replace(/\/hook$/, "")}/hook/?token=***`, "https://app.example.com/hook?token=***"];
  for (const location of shown) expect(await post(receiver.url)).toMatchObject({ headers: { location } });
  expect(await post(receiver.url)).not.toHaveProperty("headers.location");
});

test("a receiver that does not respond times out after 5 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const set = vi.spyOn(globalThis, "setTimeout");
  const cleared = vi.spyOn(globalThis, "clearTimeout");
  const { promise: arrived, resolve: onArrival } = Promise.withResolvers<void>();
  const receiver = await aReceiver((response, count) => (count === 1 ? onArrival() : void response.end()));
  let result: unknown;
  const posted = post(receiver.url).then((value) => {
    result = value;
  });
  await arrived;
  vi.advanceTimersByTime(4_999);
  await new Promise(setImmediate);
  expect(result).toBeUndefined();
  vi.advanceTimersByTime(1);
  await posted;
  expect(result).toEqual({ kind: "failed", reason: "timeout" });
  expect(await post(receiver.url)).toMatchObject({ kind: "answered" });
  // A timer that runs on would keep a process alive.
  const timers = set.mock.results.filter((_, call) => set.mock.calls[call]?.[1] === 5_000);
  expect(timers).toHaveLength(2);
  for (const { value } of timers) expect(cleared.mock.calls.flat()).toContain(value);
});

/** A server of TCP that sends nothing; `closed` resolves once its first connection has ended, with what that received. */
const aSilentServer = async (onConnection: (socket: Socket) => unknown = () => {}) => {
  const closed = Promise.withResolvers<string>();
  const silent = createServer((socket) => {
    onConnection(socket);
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.once("close", () => closed.resolve(received));
  });
  onTestFinished(() => void silent.close());
  return { port: await listenOnLoopback(silent), closed: closed.promise };
};

test.each(["http", "https"])(
  "a server that accepts a connection over %s and sends nothing times out",
  async (scheme) => {
    const { port, closed } = await aSilentServer();
    expect(await post(`${scheme}://127.0.0.1:${port}/`, rulesWith(), 100)).toEqual({
      kind: "failed",
      reason: "timeout",
    });
    await closed;
  },
);

test("a server that ends the connection before the TLS handshake fails at once", async () => {
  const { port } = await aSilentServer((socket) => socket.end());
  expect(await post(`https://127.0.0.1:${port}/`)).toEqual({ kind: "failed", reason: "ECONNRESET" });
});

test("nothing is sent over a connection whose peer has another address than the one that was checked", async () => {
  const { port, closed } = await aSilentServer();
  let checks = 0;
  const rules: AddressRules = {
    ...rulesWith(),
    get allowed() {
      checks += 1;
      return checks === 1 ? rulesWith().allowed : [];
    },
  };
  const result = await createPost(rules)({ url: `http://app.example.com:${port}/`, headers, body: "{}" });
  expect(result).toEqual({ kind: "failed", reason: "address_refused" });
  expect(await closed).toBe("");
});

test("a response that never ends times out", async () => {
  const receiver = await aReceiver((response) => {
    const timer = setInterval(() => response.write("x"), 10);
    response.once("close", () => clearInterval(timer));
  });
  expect(await post(receiver.url, rulesWith(), 100)).toEqual({ kind: "failed", reason: "timeout" });
});

test("a redirect is not followed", async () => {
  const target = await aReceiver();
  const receiver = await aReceiver((response) => void response.writeHead(302, { location: target.url }).end());
  expect(await post(receiver.url)).toMatchObject({ kind: "answered", status: 302 });
  expect(target.received).toHaveLength(0);
});

test("a response of 50 MB fails, and only its beginning is read", async () => {
  let written = 0;
  const closed = Promise.withResolvers<void>();
  const receiver = await aReceiver((response) => {
    response.once("close", closed.resolve);
    response.writeHead(200, { "content-length": 50_000_000 });
    const chunk = Buffer.alloc(64 * 1_024);
    const pump = (): void => {
      while (written < 50_000_000 && !response.destroyed) {
        written += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", pump);
      }
    };
    pump();
  });
  expect(await post(receiver.url)).toMatchObject({ kind: "failed", reason: "too_large", status: 200 });
  await closed.promise;
  expect(written).toBeLessThan(10_000_000);
});

test("a response of 20 KiB is read to its end, and one that is a byte longer is a failure", async () => {
  const receiver = await aReceiver((response, count) => void response.end(Buffer.alloc(20 * 1_024 + count - 1)));
  expect(await post(receiver.url)).toMatchObject({ kind: "answered", bytes: 20 * 1_024 });
  expect(await post(receiver.url)).toMatchObject({ kind: "failed", reason: "too_large" });
});

test("a connection that ends before or within its response fails with what happened", async () => {
  const receiver = await aReceiver((response, count) => {
    if (count === 1) return void response.destroy();
    response.writeHead(200, { "content-length": 10 });
    response.write("half", () => response.destroy());
  });
  expect(await post(receiver.url)).toEqual({ kind: "failed", reason: "ECONNRESET" });
  expect(await post(receiver.url)).toMatchObject({ kind: "failed", reason: "answer_cut_off", status: 200 });
});

const REFUSED = "address_refused";
test.each<[string, string, Partial<AddressRules>]>([
  [
    "resolves to a public and a private address",
    REFUSED,
    { allowed: [], resolve: async () => ["93.184.215.14", "10.0.0.1"] },
  ],
  ["resolves to no address", REFUSED, { resolve: async () => [] }],
  ["resolves to text that is not an address", REFUSED, { resolve: async () => ["localhost"] }],
  ["is one of the upstream's", REFUSED, { refusedHosts: ["app.example.com"] }],
  ["cannot be resolved", "connection_failed", { resolve: () => Promise.reject(new Error("No resolver")) }],
  [
    "cannot be resolved, for a long code",
    "E".repeat(60),
    { resolve: () => Promise.reject(Object.assign(new Error(), { code: "E".repeat(61) })) },
  ],
])("a host that %s gets no connection", async (_what, reason, changes) => {
  const result = await post("https://app.example.com/hook", rulesWith(changes));
  expect(result).toEqual({ kind: "failed", reason });
});

test("a host whose address is found after the time is over gets no connection", async () => {
  let connections = 0;
  const { port } = await aSilentServer((socket) => {
    connections += 1;
    socket.end();
  });
  const found = Promise.withResolvers<readonly string[]>();
  const url = `http://app.example.com:${port}/`;
  const slow = rulesWith({ resolve: () => found.promise });
  expect(await post(url, slow, 20)).toEqual({ kind: "failed", reason: "timeout" });
  found.resolve(["127.0.0.1"]);
  // A connection of the first would arrive before that of the second.
  expect(await post(url)).toMatchObject({ kind: "failed" });
  expect(connections).toBe(1);
});

test.each(["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "0x7f.1", "2130706433"])(
  "plain http to %s gets no connection if the stage does not allow loopback",
  async (host) => {
    const receiver = await aReceiver();
    const result = await post(`http://${host}:${receiver.port}/hook`, rulesWith({ allowed: [] }));
    expect(result).toEqual({ kind: "failed", reason: "address_refused" });
    expect(receiver.received).toHaveLength(0);
  },
);

test("over https a receiver gets the webhook only if its certificate is trusted and has its name", async () => {
  const identity = selfSigned();
  const asked: string[] = [];
  const SNICallback = (name: string, answer: (error: null) => void): void => {
    asked.push(name);
    answer(null);
  };
  const receiver = await aReceiver(undefined, { tls: { ...identity, ...{ SNICallback } } });
  expect(await post(receiver.url)).toEqual({ kind: "failed", reason: "DEPTH_ZERO_SELF_SIGNED_CERT" });

  trustInTest(identity.cert);
  const own = ownTlsContexts();
  for (const url of [receiver.url, receiver.url.replace("localhost", "localhost.")]) {
    expect(await post(url)).toMatchObject({ kind: "answered", status: 200 });
  }
  for (const other of ["app.example.com", "127.0.0.1"]) {
    const result = await post(receiver.url.replace("localhost", other));
    expect(result, other).toEqual({ kind: "failed", reason: "ERR_TLS_CERT_ALTNAME_INVALID" });
  }
  expect(receiver.received).toHaveLength(2);
  // A server of several names chooses its certificate by the name that it is asked for.
  expect(new Set(asked)).toEqual(new Set(["localhost", "app.example.com"]));
  expect(own).not.toHaveBeenCalled();
});

/** Listens on loopback with a queue of two connections, and never accepts one. */
const NEVER_ACCEPTS = `
const server = require("node:net").createServer().listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
  require("node:fs").writeSync(1, String(server.address().port));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

/** The port of 127.0.0.1 at which no connection is established: its process accepts none, and its queue is full. */
const aDeadPort = async (): Promise<number> => {
  const child = spawn(process.execPath, ["-e", NEVER_ACCEPTS]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [printed] = await once(child.stdout, "data");
  const port = Number(printed);
  for (let queued = 0; queued < 2; queued += 1) {
    const socket = connect({ host: "127.0.0.1", port });
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
  }
  return port;
};

// Linux has all of 127.0.0.0/8 on loopback.
test.runIf(process.platform === "linux")(
  "a host whose first address does not respond gets the webhook at the second one, and not before the first one's part is over",
  async () => {
    const port = await aDeadPort();
    const receiver = await aReceiver(undefined, { host: "127.0.0.2", port });
    const begunMs = performance.now();
    const result = await post(
      `http://app.example.com:${port}/hook`,
      rulesWith({ resolve: async () => ["127.0.0.1", "127.0.0.2"] }),
      WAIT_MS_MAX,
    );
    expect(result).toMatchObject({ kind: "answered", status: 200 });
    expect(receiver.received).toHaveLength(1);
    // Timers count whole milliseconds.
    expect(performance.now() - begunMs).toBeGreaterThan(WEBHOOK_CONNECT_MS_MAX - 2);
  },
);

test("a refused connection fails with the error's code", async () => {
  const receiver = await startReceiver();
  await receiver.stop();
  expect(await post(receiver.url)).toEqual({ kind: "failed", reason: "ECONNREFUSED" });
});
