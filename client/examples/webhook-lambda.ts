import { verifyWebhook, WebhookVerificationError } from "@airtime-service/client";
import type { Settle } from "./webhook-fetch.ts";

/** What API Gateway and function URLs send. */
type HttpEvent = {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
};

/** For AWS Lambda: `export const handler = webhookHandler(secret, settle)`. */
export const webhookHandler = (secret: string, settle: Settle) => async (request: HttpEvent) => {
  try {
    const body = Buffer.from(request.body ?? "", request.isBase64Encoded ? "base64" : "utf8");
    const event = await verifyWebhook(request.headers, body, secret);
    if (event.event === "transaction.updated") await settle(event.data.reference, event.data.status);
    return { statusCode: 204 };
  } catch (error) {
    if (error instanceof WebhookVerificationError) return { statusCode: 400 };
    throw error; // A 500: the service sends the event again.
  }
};
