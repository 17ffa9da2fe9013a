import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { verifyWebhook, WebhookVerificationError } from "@airtime-service/client";
import type { Settle } from "./webhook-fetch.ts";

/** For express: `app.post("/hooks/airtime", webhookHandler(secret, settle))`, before `app.use(express.json())`. */
export const webhookHandler =
  (secret: string, settle: Settle) => async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const event = await verifyWebhook(request.headers, await buffer(request), secret);
      if (event.event === "transaction.updated") await settle(event.data.reference, event.data.status);
      response.writeHead(204).end();
    } catch (error) {
      // A 500 makes the service send the event again.
      response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
    }
  };
