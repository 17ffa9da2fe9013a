import * as z from "zod";
import { roles } from "../roles.ts";
import { ENDPOINTS_MAX, endpointEventName } from "../webhook-events.ts";
import { type ActionTable, accountChangeInput, accountInput, printableText } from "./action.ts";

export const webhookEventsInput = z
  .array(endpointEventName)
  .min(1, "Must name at least one event")
  .describe("the events that the endpoint gets, comma-separated");

export const endpointName = printableText
  .min(1, "Must not be empty")
  .max(60, "Must be at most 60 characters")
  .describe("what people call the endpoint");

const endpointId = z.string().regex(/^[1-9]\d{0,5}$/, "Must be the id of an endpoint, such as 1");

/** The endpoint that an action is about. */
export const endpointField = endpointId.optional().describe("id of the endpoint, if the account has several");
const endpointInput = accountInput.extend({ endpoint: endpointField });
const endpointChangeInput = accountChangeInput.extend({ endpoint: endpointField });
const takes = { account: "<account>", endpoint: "--endpoint <id>" };

/** The URL is as `shownUrl` shows it, here and below: the values of its query may be secrets. */
const endpointView = z.object({
  account_id: z.string(),
  /** Null, with a URL of null and no name, if the account has none. */
  endpoint: z.string().nullable(),
  name: z.string().nullable(),
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

/** An endpoint that was set or added. */
const setOutput = z.object({
  account_id: z.string(),
  endpoint: z.string(),
  name: z.string(),
  url: z.string(),
  /** Only of a new endpoint; another URL leaves the secret until it is rotated. */
  webhook_secret: z.string().nullable(),
  events: z.array(z.string()),
  ...requeued,
});

/** An account's webhook endpoints. */
export const webhookActions = {
  "webhook list": {
    scope: "account",
    roles,
    kind: "read",
    input: accountInput,
    output: z.object({ endpoints: z.array(endpointView) }),
    summary: "List the endpoints of an account as webhook show does; never the secrets",
    command: {
      takes: { account: "<account>" },
      example: "acc_0123456789abcdef01",
      table: { rows: "endpoints", columns: ["endpoint", "name", "url", "status", "failing_since", "down", "events"] },
    },
  },
  "webhook show": {
    scope: "account",
    roles,
    kind: "read",
    input: endpointInput,
    output: endpointView,
    summary: "Show the URL, its status, its events, and since when deliveries fail; never the secret",
    command: { takes, example: "acc_0123456789abcdef01" },
  },
  "webhook add": {
    scope: "account",
    roles: ["operator"],
    kind: "change",
    input: accountChangeInput.extend({
      url: z.string().describe("its URL"),
      name: endpointName.optional(),
      events: webhookEventsInput.optional(),
    }),
    output: setOutput,
    summary: `Add one of at most ${ENDPOINTS_MAX} endpoints, and show its signing secret; events from now on are sent to it`,
    command: {
      takes: { account: "<account>", url: "<url>", name: "--name <name>", events: "--events <events>" },
      example: "acc_0123456789abcdef01 https://books.example.com/webhooks --name Books",
    },
  },
  "webhook set": {
    scope: "account",
    roles: ["operator"],
    kind: "change",
    input: endpointChangeInput.extend({
      url: z.string(),
      name: endpointName.optional(),
      events: webhookEventsInput.optional(),
    }),
    output: setOutput,
    summary: "Set the endpoint URL and enable it; add the first endpoint, and show its signing secret",
    command: "by hand",
  },
  "webhook events": {
    scope: "account",
    roles: ["operator"],
    kind: "change",
    input: endpointChangeInput.extend({ events: webhookEventsInput }),
    output: endpointView,
    summary: "Choose the events that the endpoint gets; changes neither URL, secret nor status",
    command: {
      takes: { ...takes, events: "<events>" },
      example: "acc_0123456789abcdef01 transaction.updated,wallet.low,catalog.updated",
    },
  },
  "webhook enable": {
    scope: "account",
    roles: ["operator"],
    kind: "change",
    input: endpointChangeInput,
    output: endpointView.extend(requeued),
    summary: "Start sending webhooks again; deliveries recover resends the missed ones",
    command: { takes, example: "acc_0123456789abcdef01" },
  },
  "webhook disable": {
    scope: "account",
    roles: ["operator"],
    kind: "change",
    input: endpointChangeInput,
    output: endpointView,
    summary: "Stop sending webhooks to the endpoint",
    command: { takes, example: "acc_0123456789abcdef01" },
  },
  "webhook test": {
    scope: "account",
    roles: ["operator"],
    kind: "change",
    input: endpointChangeInput,
    output: z.object({
      account_id: z.string(),
      endpoint: z.string(),
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
    command: { takes, example: "acc_0123456789abcdef01" },
  },
  "webhook secret rotate": {
    scope: "account",
    roles: ["operator"],
    kind: "change",
    irreversible: true,
    input: endpointChangeInput,
    output: z.object({
      account_id: z.string(),
      endpoint: z.string(),
      webhook_secret: z.string(),
      previous_until: z.iso.datetime(),
    }),
    summary: "Create a new secret; for 24 hours webhooks carry both signatures",
    command: { takes, example: "acc_0123456789abcdef01" },
  },
  "webhook remove": {
    scope: "account",
    roles: ["operator"],
    kind: "change",
    irreversible: true,
    input: accountChangeInput.extend({ endpoint: endpointId.describe("id of the endpoint") }),
    output: z.object({ account_id: z.string(), endpoint: z.string(), url: z.string() }),
    summary: "Remove an endpoint with its secret; what waits for it ends as removed",
    command: { takes: { account: "<account>", endpoint: "<endpoint>" }, example: "acc_0123456789abcdef01 2" },
  },
} as const satisfies ActionTable;
