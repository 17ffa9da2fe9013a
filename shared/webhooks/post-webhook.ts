import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import ipaddr from "ipaddr.js";
import { type AddressRules, addressesOf, isRefusedHost, mayReach } from "./address-guard.ts";
import type { PostResult } from "./next-step.ts";

/** For everything, from the name's resolution to the answer's last byte. Source: INTERFACE "Receiver rules" 1. */
const TOTAL_MS_MAX = 5_000;
/** For each of a name's addresses. */
const CONNECT_MS_MAX = 2_000;
/** Read of an answer; nothing of it is kept. */
const ANSWER_BYTES_MAX = 20 * 1_024;

type WebhookRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
export type Post = (parcel: WebhookRequest) => Promise<PostResult>;

// Loaded in this way, and not by an import, the module costs a cold start 3 ms instead of 30.
const http = process.getBuiltinModule("node:http");

class AddressRefused extends Error {
  readonly code = "address_refused";
}

/**
 * Posts a parcel over a connection of its own, once. Redirects are not followed. The address is looked at where it is used: a literal
 * before the connection, a name's addresses in the one lookup that the connection is made from, and the peer before the first byte.
 */
export const createPost =
  (rules: AddressRules, totalMs = TOTAL_MS_MAX): Post =>
  (parcel) =>
    new Promise((resolve) => {
      const stopping = new AbortController();
      const finish = (result: PostResult): void => {
        clearTimeout(timer);
        stopping.abort();
        resolve(result);
      };
      const fail = (reason: string): void => finish({ kind: "failed", reason });
      const timer = setTimeout(() => fail("timeout"), totalMs);
      send(parcel, rules, stopping.signal, finish).catch((error: unknown) => fail(reasonOf(error)));
    });

/** A code, never a message: an endpoint has no say in what we keep. */
const reasonOf = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "connection_failed";
  return code.slice(0, 60);
};

const send = async (
  { url: text, headers, body }: WebhookRequest,
  rules: AddressRules,
  signal: AbortSignal,
  finish: (result: PostResult) => void,
): Promise<void> => {
  const url = new URL(text);
  const socket = await connected(url, rules, signal);
  const request = http.request({
    method: "POST",
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...headers, "content-length": Buffer.byteLength(body), connection: "close" },
    createConnection: () => socket,
    signal,
  });
  // Stays attached: ending the request may raise further errors.
  request.on("error", (error) => finish({ kind: "failed", reason: reasonOf(error) }));
  request.once("response", (answer) => {
    const { statusCode: status = 0 } = answer;
    let bytes = 0;
    answer.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) finish({ kind: "failed", reason: "too_large", status });
    });
    answer.on("error", () => finish({ kind: "failed", reason: "answer_cut_off", status }));
    answer.once("end", () => finish({ kind: "answered", status, bytes }));
  });
  request.end(body);
};

/** A connection to a permitted address, over which not one byte has gone. */
const connected = async (url: URL, rules: AddressRules, signal: AbortSignal): Promise<Socket> => {
  if (isRefusedHost(url, rules.refusedHosts)) throw new AddressRefused();
  const addresses = await addressesOf(url, rules.resolve);
  if (addresses.length === 0 || !addresses.every((address) => mayReach(url, address, rules.allowed))) {
    throw new AddressRefused();
  }
  signal.throwIfAborted();
  const isTls = url.protocol === "https:";
  const candidates = addresses.map((address) => ({ address, family: ipaddr.parse(address).kind() === "ipv4" ? 4 : 6 }));
  const hostname = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const socket = connect({
    host: hostname,
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    lookup: (_hostname, _options, answer) => answer(null, candidates),
    autoSelectFamily: true,
    // Node's own 250 ms would give up on receivers that are far away.
    autoSelectFamilyAttemptTimeout: CONNECT_MS_MAX,
    signal,
  });
  await connectionOpened(socket, "connect");
  if (socket.remoteAddress === undefined || !mayReach(url, socket.remoteAddress, rules.allowed)) {
    socket.destroy();
    throw new AddressRefused();
  }
  if (!isTls) return socket;
  const secured = connectTls({ socket, ...(ipaddr.isValid(hostname) ? { host: hostname } : { servername: hostname }) });
  signal.addEventListener("abort", () => secured.destroy(), { once: true });
  await connectionOpened(secured, "secureConnect");
  return secured;
};

const connectionOpened = (socket: Socket, event: "connect" | "secureConnect"): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    // Stays attached: what breaks later is heard by whoever uses the connection.
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("The connection was closed")));
  });
