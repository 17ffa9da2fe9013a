import type { CatalogUpdated, LimitNear, TransactionUpdated, WalletLow, WebhookTest } from "./contract-types.ts";
import { WebhookVerificationError } from "./errors.ts";
import { isRecord, withCamelCase } from "./field-names.ts";

/** The `Headers` of a `Request`, or the headers object of Node.js, express or Lambda. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

type Delivery = {
  /** The same for every copy of an event: remember it to process each event once. */
  readonly id: string;
  /** When this copy was sent. */
  readonly sentAt: Date;
  /** The event's name as it was sent, such as `transaction.updated`. */
  readonly name: string;
};

/** An event that this release of the client does not know: `name` says which. Answer 2xx. */
export type OtherEvent = { readonly event: "other"; readonly data: Readonly<Record<string, unknown>> };

type KnownEvent = TransactionUpdated | WalletLow | LimitNear | CatalogUpdated | WebhookTest;

/** A verified event. The names of its fields are in camel case. */
export type WebhookEvent = Delivery & (KnownEvent | OtherEvent);

/** How far a timestamp may be from now, as Standard Webhooks recommends. */
const TOLERANCE_S = 300;

/**
 * Verifies a webhook and returns its event. Throws a `WebhookVerificationError` if the service did not send it, or sent
 * it more than 5 minutes ago.
 *
 * `body` is the body as it was received, text or bytes, and not parsed JSON; `secret` is `whsec_...`. While a secret is
 * rotated, the old one and the new one both verify.
 */
export const verifyWebhook = async (
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string,
): Promise<WebhookEvent> => {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw new TypeError("body must be the text or bytes as received, not parsed JSON");
  }
  const id = required(headers, "webhook-id");
  const timestamp = required(headers, "webhook-timestamp");
  const signatures = required(headers, "webhook-signature").split(" ");
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1_000 - Number(timestamp)) > TOLERANCE_S) {
    throw new WebhookVerificationError("The timestamp is not within 5 minutes of now");
  }
  const bytes = typeof body === "string" ? encode(body) : body;
  if (!(await isSigned(secret, concat(encode(`${id}.${timestamp}.`), bytes), signatures))) {
    throw new WebhookVerificationError("No signature matches");
  }
  const received = parseBody(bytes);
  const delivery = { id, sentAt: new Date(Number(timestamp) * 1_000), name: received.event };
  return isKnown(received) ? { ...received, ...delivery } : { ...delivery, event: "other", data: received.data };
};

const required = (headers: WebhookHeaders, name: string): string => {
  const value = headerOf(headers, name);
  if (!value) throw new WebhookVerificationError(`The header ${name} is missing`);
  return value;
};

const headerOf = (headers: WebhookHeaders, name: string): string | null | undefined => {
  if (isHeaders(headers)) return headers.get(name);
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === "string" ? value : value?.[0];
};

const isHeaders = (headers: WebhookHeaders): headers is { get(name: string): string | null } =>
  typeof headers.get === "function";

/** Web Crypto compares in constant time. */
const isSigned = async (secret: string, text: Uint8Array<ArrayBuffer>, signatures: string[]): Promise<boolean> => {
  const raw = decode(secret.trim().replace(/^whsec_/, ""));
  if (!raw?.length) throw new TypeError("secret must be the endpoint's whsec_... secret");
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  for (const signature of signatures) {
    const bytes = signature.startsWith("v1,") ? decode(signature.slice(3)) : undefined;
    if (bytes && (await crypto.subtle.verify("HMAC", key, bytes, text))) return true;
  }
  return false;
};

type ReceivedEvent = { readonly event: string; readonly data: Record<string, unknown> };

const parseBody = (bytes: Uint8Array): ReceivedEvent => {
  let body: unknown;
  try {
    body = withCamelCase(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    // It stays undefined.
  }
  if (!isEvent(body)) throw new WebhookVerificationError("The body is not an event");
  return body;
};

const isEvent = (body: unknown): body is ReceivedEvent =>
  isRecord(body) && typeof body.event === "string" && isRecord(body.data);

const knownEvents: readonly string[] = [
  "transaction.updated",
  "wallet.low",
  "limit.near",
  "catalog.updated",
  "webhook.test",
] satisfies KnownEvent["event"][];

/** A status of a later release is not known: an app that compares it with `success` would take it for `failed`. */
const isKnown = (body: ReceivedEvent): body is ReceivedEvent & KnownEvent =>
  knownEvents.includes(body.event) &&
  (body.event !== "transaction.updated" || body.data.status === "success" || body.data.status === "failed");

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const decode = (base64: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
};

const concat = (one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> => {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
};
