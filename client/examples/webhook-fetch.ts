import { verifyWebhook, WebhookVerificationError } from "@airtime-service/client";

/**
 * Records a final status; `reference` is the service's. It may be called twice with the same one, and before the
 * purchase has returned.
 */
export type Settle = (reference: string, status: "success" | "failed") => Promise<void>;

/** For servers that take a `Request`: Deno, Bun, Hono, Next.js, edge runtimes. */
export const webhookHandler = (secret: string, settle: Settle) => async (request: Request) => {
  try {
    const event = await verifyWebhook(request.headers, await request.text(), secret);
    if (event.event === "transaction.updated") await settle(event.data.reference, event.data.status);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return new Response(null, { status: 400 });
    throw error; // A 500: the service sends the event again.
  }
};
