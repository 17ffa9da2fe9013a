import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import ipaddr from "ipaddr.js";
import { maskedDigits, withoutLongNumbers } from "../contract/values/mask-phones.ts";
import { shownUrl } from "../contract/values/shown-url.ts";
import { WEBHOOK_CONNECT_MS_MAX, WEBHOOK_MS_MAX } from "../platform/time-budgets.ts";
import { tlsContext } from "../platform/tls-context.ts";
import { type AddressRules, addressesOf, isRefusedHost, mayReach } from "./address-guard.ts";
import { isDelivered, KEPT_RESPONSE_HEADERS, type PostResult, type ResponseHeaders } from "./post-result.ts";

/** Longer responses are failures. */
const RESPONSE_BYTES_MAX = 20 * 1_024;

/** An endpoint must not make records of its deliveries large. */
const HEADER_LENGTH_MAX = 200;
const BODY_LENGTH_MAX = 300;
/** What of each is searched for numbers: more than is kept, so that a number at the cut is recognised. */
const SEARCHED_LENGTH_MAX = 1_000;

type WebhookRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
export type Post = (request: WebhookRequest) => Promise<PostResult>;

class AddressRefusedError extends Error {
  readonly code = "address_refused";
}

/**
 * Posts a webhook once, over a connection of its own, without following redirects. Addresses are checked at the point
 * of use, so that DNS cannot change them in between: the connection uses the addresses that were checked, and the peer
 * is checked too.
 */
export const createPost =
  (rules: AddressRules, totalMs = WEBHOOK_MS_MAX): Post =>
  (request) =>
    new Promise((resolve) => {
      const stopping = new AbortController();
      const finish = (result: PostResult): void => {
        clearTimeout(timer);
        stopping.abort();
        resolve(result);
      };
      const fail = (reason: string): void => finish({ kind: "failed", reason });
      const timer = setTimeout(() => fail("timeout"), totalMs);
      send(request, rules, stopping.signal, finish).catch((error: unknown) => fail(reasonOf(error)));
    });

/** A code, never a message: an endpoint must not control what is stored. */
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
  const socket = await connectTo(url, rules, signal);
  const request = httpRequest({
    method: "POST",
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...headers, "content-length": Buffer.byteLength(body), connection: "close" },
    createConnection: () => socket,
    signal,
  });
  // Stays attached: ending the request may raise further errors.
  request.on("error", (error) => finish({ kind: "failed", reason: reasonOf(error) }));
  request.once("response", (response) => {
    const { statusCode: status = 0 } = response;
    const headers = keptHeaders(response.headers, url);
    let bytes = 0;
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > RESPONSE_BYTES_MAX) finish({ kind: "failed", reason: "too_large", status, headers });
    });
    response.on("error", () => finish({ kind: "failed", reason: "answer_cut_off", status, headers }));
    response.once("end", () => {
      const answered = { kind: "answered", status, bytes, headers } as const;
      finish(isDelivered(answered) ? answered : { ...answered, body: keptBody(Buffer.concat(chunks)) });
    });
  });
  request.end(body);
};

const keptBody = (body: Buffer): string =>
  keptText(body.toString("utf8").replaceAll(/[\p{C}\s]+/gu, " "), BODY_LENGTH_MAX, withoutLongNumbers);

/**
 * An endpoint may repeat what it was sent. It is cut after it is masked: part of a number would not be recognised.
 * DynamoDB refuses a text that ends with half of a surrogate pair.
 */
const keptText = (text: string, lengthMax: number, masked = maskedDigits): string =>
  masked(text.slice(0, SEARCHED_LENGTH_MAX)).slice(0, lengthMax).toWellFormed();

const keptHeaders = (headers: IncomingHttpHeaders, url: URL): ResponseHeaders =>
  Object.fromEntries(
    KEPT_RESPONSE_HEADERS.flatMap((name) => {
      const value = name === "location" ? shownLocation(headers.location, url) : headers[name];
      return typeof value === "string" ? [[name, keptText(value, HEADER_LENGTH_MAX)]] : [];
    }),
  );

/** A redirect often repeats the endpoint's URL, of which people see no values of the query. */
const shownLocation = (location: string | undefined, url: URL): string | undefined => {
  const target = location === undefined ? null : URL.parse(location, url.href);
  if (target === null) return undefined;
  target.pathname = withoutLongNumbers(target.pathname);
  return shownUrl(target.href);
};

/** Connects to a permitted address; nothing has been sent yet. */
const connectTo = async (url: URL, rules: AddressRules, signal: AbortSignal): Promise<Socket> => {
  if (isRefusedHost(url, rules.refusedHosts)) throw new AddressRefusedError();
  const addresses = await addressesOf(url, rules.resolve);
  if (addresses.length === 0 || !addresses.every((address) => mayReach(url, address, rules.allowed))) {
    throw new AddressRefusedError();
  }
  signal.throwIfAborted();
  const isTls = url.protocol === "https:";
  const candidates = addresses.map((address) => ({ address, family: ipaddr.parse(address).kind() === "ipv4" ? 4 : 6 }));
  const hostname = url.hostname.replace(/[[\]]/g, "").replace(/\.$/, "");
  const socket = connect({
    host: hostname,
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    lookup: (_hostname, _options, callback) => callback(null, candidates),
    autoSelectFamily: true,
    // Node's default of 250 ms is too short for distant receivers.
    autoSelectFamilyAttemptTimeout: WEBHOOK_CONNECT_MS_MAX,
    signal,
  });
  await connectionOpened(socket, "connect");
  if (socket.remoteAddress === undefined || !mayReach(url, socket.remoteAddress, rules.allowed)) {
    throw new AddressRefusedError();
  }
  if (!isTls) return socket;
  const secureContext = tlsContext();
  const secured = connectTls({
    socket,
    secureContext,
    ...(ipaddr.isValid(hostname) ? { host: hostname } : { servername: hostname }),
  });
  await connectionOpened(secured, "secureConnect");
  return secured;
};

const connectionOpened = (socket: Socket, event: "connect" | "secureConnect"): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    // Stays attached: the user of the connection handles later errors.
    socket.on("error", reject);
  });
