import { createHash, createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** Source: Standard Webhooks, "Signature scheme": 24 to 64 random bytes, Base64, after `whsec_`. */
export const newWebhookSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;

/** The same for every copy of one event, so that receivers can recognise duplicates. */
export const webhookId = (reference: string, status: string): string =>
  `evt_${createHash("sha256").update(`${reference}.${status}`).digest("hex").slice(0, 32)}`;

export type SignedEvent = {
  readonly id: string;
  readonly atMs: number;
  readonly body: string;
  /** The endpoint's secrets: the current one, and after rotations those that it replaced. */
  readonly secrets: readonly string[];
};

/** The headers of a webhook without its signature. */
export const unsignedHeaders = ({ id, atMs }: Pick<SignedEvent, "id" | "atMs">) => ({
  "content-type": "application/json",
  "user-agent": "airtime-data-identity-webhooks/1",
  "webhook-id": id,
  "webhook-timestamp": String(Math.floor(atMs / 1_000)),
});

/** Signs the exact bytes of the body, once per secret: either secret verifies. */
export const signedHeaders = ({ body, secrets, ...event }: SignedEvent) => {
  const headers = unsignedHeaders(event);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  });
  return { ...headers, "webhook-signature": signatures.join(" ") };
};
