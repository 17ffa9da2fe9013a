import type { Routes } from "../route.ts";
import { upstreamEvent, upstreamEventReceipt } from "../upstream-event.ts";

/** The routes of the function `receive-upstream-event`. */
export const receiveUpstreamEventRoutes = {
  receiveUpstreamEvent: {
    method: "POST",
    path: "/v1/webhooks/upstream/{token}",
    function: "receive-upstream-event",
    group: "catalog",
    audience: "upstream",
    input: upstreamEvent,
    data: upstreamEventReceipt,
    summary: "Receive an event of the upstream",
    errors: ["not_found", "provider_unavailable"],
    example: {
      input: {
        event: "transaction.updated",
        data: { reference: "U-1", status: "success", amount: 500, type: "data", phone_number: "08031234567" },
      },
      data: { outcome: "accepted" },
    },
  },
} as const satisfies Routes;
