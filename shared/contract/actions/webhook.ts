import * as z from "#zod";
import { ENDPOINTS_MAX, endpointEventName } from "../webhook-events.ts";
import {
  type ActionTable,
  accountChange,
  accountChangeInput,
  accountInput,
  accountRead,
  printableText,
} from "./action.ts";

const webhookEventsInput = z
  .array(endpointEventName)
  .check(z.minLength(1, "Must name at least one event"))
  .register(z.globalRegistry, { description: "the events that the endpoint gets, comma-separated" });

export const endpointName = printableText
  .check(z.minLength(1), z.maxLength(60))
  .register(z.globalRegistry, { description: "what people call the endpoint" });

const endpointId = z.string().check(z.regex(/^[1-9]\d{0,5}$/, "Must be the id of an endpoint, such as 1"));

/** The endpoint that an action is about. */
export const endpointField = z
  .optional(endpointId)
  .register(z.globalRegistry, { description: "id of the endpoint, if the account has several" });
const endpointInput = z.extend(accountInput, { endpoint: endpointField });
const endpointChangeInput = z.extend(accountChangeInput, { endpoint: endpointField });
const takes = { account: "<account>", endpoint: "--endpoint <id>" };

/** The URL is as `shownUrl` shows it, here and below: the values of its query may be secrets. */
const endpointView = z.object({
  account_id: z.string(),
  /** Null, with a URL of null and no name, if the account has none. */
  endpoint: z.nullable(z.string()),
  name: z.nullable(z.string()),
  url: z.nullable(z.string()),
  status: z.enum(["on", "off", "none"]),
  /** Since when no webhook was delivered; null if the last one was. */
  failing_since: z.nullable(z.iso.datetime()),
  /** True if the endpoint is down: one probe at a time is sent until one is delivered. */
  down: z.boolean(),
  /** Until when webhooks are also signed with the secret before the last rotation. */
  previous_secret_until: z.nullable(z.iso.datetime()),
  events: z.array(z.string()),
});

/** The endpoint as the person saw it. If it has changed since, it is not changed: another person's choice would be undone. */
export const seenEndpoint = z.pick(endpointView, { name: true, url: true, status: true });

/**
 * How many webhooks that waited for the endpoint are sent now; null if that is not known: they follow within minutes.
 */
const requeued = { requeued: z.nullable(z.int()) };

/** An endpoint that was set or added. */
const setOutput = z.object({
  account_id: z.string(),
  endpoint: z.string(),
  name: z.string(),
  url: z.string(),
  /** Only of a new endpoint; another URL leaves the secret until it is rotated. */
  webhook_secret: z.nullable(z.string()),
  events: z.array(z.string()),
  ...requeued,
});

/** An account's webhook endpoints. */
export const webhookActions = {
  "webhook list": {
    ...accountRead,
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
    ...accountRead,
    input: endpointInput,
    output: endpointView,
    summary: "Show the URL, its status, its events, and since when deliveries fail; never the secret",
    command: { takes, example: "acc_0123456789abcdef01" },
  },
  "webhook add": {
    ...accountChange,
    input: z.extend(accountChangeInput, {
      url: z.string().register(z.globalRegistry, { description: "its URL" }),
      name: z.optional(endpointName),
      events: z.optional(webhookEventsInput),
    }),
    output: setOutput,
    summary: `Add one of at most ${ENDPOINTS_MAX} endpoints, and show its signing secret; events from now on are sent to it`,
    command: {
      takes: { account: "<account>", url: "<url>", name: "--name <name>", events: "--events <events>" },
      example: "acc_0123456789abcdef01 https://books.example.com/webhooks --name Books",
    },
  },
  "webhook set": {
    ...accountChange,
    input: z.extend(endpointChangeInput, {
      url: z.string().register(z.globalRegistry, { description: "its URL from now on" }),
      name: z.optional(endpointName),
      events: z.optional(webhookEventsInput),
      before: z.optional(seenEndpoint),
    }),
    output: setOutput,
    summary: "Set the endpoint URL and enable it; add the first endpoint, and show its signing secret",
    command: {
      takes: { ...takes, url: "<url>", name: "--name <name>", events: "--events <events>" },
      example: "acc_0123456789abcdef01 https://app.example.com/webhooks",
      note: "Another URL leaves the signing secret, which is shown once. To get another one, see webhook secret rotate.",
    },
  },
  "webhook events": {
    ...accountChange,
    input: z.extend(endpointChangeInput, {
      events: webhookEventsInput,
      /** The events that the person saw, as `before` of `webhook set`. */
      before: z.optional(z.array(z.string())),
    }),
    output: endpointView,
    summary: "Choose the events that the endpoint gets; changes neither URL, secret nor status",
    command: {
      takes: { ...takes, events: "<events>" },
      example: "acc_0123456789abcdef01 transaction.updated,wallet.low,catalog.updated",
    },
  },
  "webhook enable": {
    ...accountChange,
    input: endpointChangeInput,
    output: z.extend(endpointView, requeued),
    summary: "Start sending webhooks again; deliveries recover resends the missed ones",
    command: { takes, example: "acc_0123456789abcdef01" },
  },
  "webhook disable": {
    ...accountChange,
    input: endpointChangeInput,
    output: endpointView,
    summary: "Stop sending webhooks to the endpoint",
    command: { takes, example: "acc_0123456789abcdef01" },
  },
  "webhook test": {
    ...accountChange,
    input: endpointChangeInput,
    output: z.object({
      account_id: z.string(),
      endpoint: z.string(),
      url: z.string(),
      webhook_id: z.string(),
      /** Whether the endpoint answered 2xx. */
      ok: z.boolean(),
      http_status: z.nullable(z.int()),
      /** Why there was no usable response. */
      reason: z.nullable(z.string()),
      /** Some headers of the response; null if there was none. */
      response_headers: z.nullable(z.record(z.string(), z.string())),
      duration_ms: z.int(),
      ...requeued,
    }),
    summary: "Send one signed webhook.test event, and show the answer; a success ends the failures of the endpoint",
    command: { takes, example: "acc_0123456789abcdef01" },
  },
  "webhook secret rotate": {
    ...accountChange,
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
    ...accountChange,
    irreversible: true,
    input: z.extend(accountChangeInput, { endpoint: endpointId.check(z.meta({ description: "id of the endpoint" })) }),
    output: z.object({ account_id: z.string(), endpoint: z.string(), url: z.string() }),
    summary: "Remove an endpoint with its secret; what waits for it ends as removed",
    command: { takes: { account: "<account>", endpoint: "<endpoint>" }, example: "acc_0123456789abcdef01 2" },
  },
} as const satisfies ActionTable;
