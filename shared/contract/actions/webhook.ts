import * as z from "zod";
import { accountEventName } from "../webhook-events.ts";
import { type ActionTable, accountChangeInput, accountInput } from "./action.ts";

/** The events beside `transaction.updated`, which every endpoint gets. */
export const webhookEventsInput = z
  .array(accountEventName)
  .describe("the events that the endpoint gets, comma-separated, with transaction.updated");

/** As `shownUrl` shows it, here and below: the values of its query may be secrets. */
const endpointView = z.object({
  account_id: z.string(),
  url: z.string().nullable(),
  status: z.enum(["on", "off", "none"]),
  /** Since when no webhook was delivered; null if the last one was. */
  failing_since: z.iso.datetime().nullable(),
  /** True if the endpoint is down: one probe at a time is sent until one is delivered. */
  down: z.boolean(),
  /** Until when webhooks are also signed with the secret before the last rotation. */
  previous_secret_until: z.iso.datetime().nullable(),
  events: z.array(z.string()),
});

/**
 * How many webhooks that waited for the endpoint are sent now; null if that is not known: they follow within minutes.
 */
const requeued = { requeued: z.int().nullable() };

/** An account's webhook endpoint. */
export const webhookActions = {
  "webhook show": {
    scope: "account",
    kind: "read",
    input: accountInput,
    output: endpointView,
    summary: "Show the URL, its status, its events, and since when deliveries fail; never the secret",
    command: { takes: { account: "<account>" }, example: "acc_0123456789abcdef01" },
  },
  "webhook set": {
    scope: "account",
    kind: "change",
    input: accountChangeInput.extend({ url: z.string(), events: webhookEventsInput.optional() }),
    output: z.object({
      account_id: z.string(),
      url: z.string(),
      /** Only of the account's first endpoint; later endpoints have the same secret until it is rotated. */
      webhook_secret: z.string().nullable(),
      events: z.array(z.string()),
      ...requeued,
    }),
    summary: "Set the endpoint URL and enable it; the first time, show its signing secret",
    command: "by hand",
  },
  "webhook events": {
    scope: "account",
    kind: "change",
    input: accountChangeInput.extend({ events: webhookEventsInput }),
    output: endpointView,
    summary: "Choose the events that the endpoint gets; changes neither URL, secret nor status",
    command: {
      takes: { account: "<account>", events: "<events>" },
      example: "acc_0123456789abcdef01 transaction.updated,wallet.low,catalog.updated",
    },
  },
  "webhook enable": {
    scope: "account",
    kind: "change",
    input: accountChangeInput,
    output: endpointView.extend(requeued),
    summary: "Start sending webhooks again; announce resends the missed ones",
    command: { takes: { account: "<account>" }, example: "acc_0123456789abcdef01" },
  },
  "webhook disable": {
    scope: "account",
    kind: "change",
    input: accountChangeInput,
    output: endpointView,
    summary: "Stop sending webhooks to the endpoint",
    command: { takes: { account: "<account>" }, example: "acc_0123456789abcdef01" },
  },
  "webhook test": {
    scope: "account",
    kind: "change",
    input: accountChangeInput,
    output: z.object({
      account_id: z.string(),
      url: z.string(),
      webhook_id: z.string(),
      /** Whether the endpoint answered 2xx. */
      ok: z.boolean(),
      http_status: z.int().nullable(),
      /** Why there was no usable response. */
      reason: z.string().nullable(),
      /** Some headers of the response; null if there was none. */
      response_headers: z.record(z.string(), z.string()).nullable(),
      duration_ms: z.int(),
      ...requeued,
    }),
    summary: "Send one signed webhook.test event, and show the answer; a success ends the failures of the endpoint",
    command: { takes: { account: "<account>" }, example: "acc_0123456789abcdef01" },
  },
  "webhook secret rotate": {
    scope: "account",
    kind: "change",
    irreversible: true,
    input: accountChangeInput,
    output: z.object({
      account_id: z.string(),
      webhook_secret: z.string(),
      previous_until: z.iso.datetime().nullable(),
    }),
    summary: "Create a new secret; for 24 hours webhooks carry both signatures",
    command: { takes: { account: "<account>" }, example: "acc_0123456789abcdef01" },
  },
} as const satisfies ActionTable;
