import * as z from "#zod";
import { finalStatus } from "../final-status.ts";
import { orderReadRoles } from "../roles.ts";
import { momentField } from "../transaction-query.ts";
import {
  type ActionTable,
  accountChange,
  accountChangeInput,
  accountInput,
  changeInput,
  itemChangeInput,
  itemInput,
  referenceInput,
  serviceChange,
} from "./action.ts";
import { endpointField } from "./webhook.ts";

const attempt = z.object({
  number: z.int(),
  at: z.iso.datetime(),
  /** `delivered`, `status`, or why there was no usable response. */
  outcome: z.string(),
  http_status: z.optional(z.int()),
  answer_bytes: z.optional(z.int()),
  duration_ms: z.int(),
});

export const deliveryState = z.enum(["pending", "delivered", "exhausted", "switched_off", "removed"]);

export const deliveryStateTexts: Readonly<Record<z.output<typeof deliveryState>, string>> = {
  pending: "Waits",
  delivered: "Delivered",
  exhausted: "Given up",
  switched_off: "Stopped: endpoint disabled",
  removed: "Not sent: endpoint removed",
};

const delivery = z.object({
  endpoint: z.string(),
  event: z.string(),
  webhook_id: z.string(),
  /** The transaction's final status; null for an event on request. */
  status: z.nullable(finalStatus),
  state: deliveryState,
  /** Whether it waits outside the queue, because its wait is long or its endpoint is down. */
  parked: z.boolean(),
  /** What caused a second delivery of the same webhook. */
  repeat: z.nullable(z.string()),
  created_at: z.iso.datetime(),
  /** Null if it is due, or waits for the endpoint. */
  next_attempt_at: z.nullable(z.iso.datetime()),
});

const headers = z.record(z.string(), z.string());

/** How many deliveries the list shows. */
export const LATEST_DELIVERIES = 50;

const oneEndpoint = endpointField.check(z.meta({ description: "id of one endpoint; default: all of the account" }));

/** Our reference, the caller's or the upstream's; or the webhook id of an event on request. */
const reference = referenceInput;

export const deliveriesActions = {
  "deliveries list": {
    scope: "account",
    roles: orderReadRoles,
    kind: "read",
    input: z.extend(accountInput, { endpoint: oneEndpoint }),
    output: z.object({
      deliveries: z.array(
        z.object({ reference: z.nullable(z.string()), ...delivery.shape, attempts: z.array(attempt) }),
      ),
    }),
    summary: `List an account's latest ${LATEST_DELIVERIES} deliveries, newest first`,
    command: { takes: { account: "<account>", endpoint: "--endpoint <id>" }, example: "acc_0123456789abcdef01" },
  },
  "deliveries show": {
    scope: "account",
    roles: orderReadRoles,
    kind: "read",
    personal: true,
    input: z.extend(itemInput, { reference }),
    output: z.object({
      reference: z.string(),
      deliveries: z.array(
        z.extend(delivery, {
          /** What each attempt posts: the same bytes until the phone number is masked. */
          body: z.string(),
          attempts: z.array(
            z.extend(attempt, {
              /** The signature is not among them. */
              request_headers: headers,
              /** Some headers of the response of a failed attempt; null if there was no response, or if it is old. */
              response_headers: z.nullable(headers),
              /** How the body of such a response begins, without the numbers of persons. */
              response_body: z.nullable(z.string()),
            }),
          ),
        }),
      ),
    }),
    summary: "Show every delivery attempt of one transaction, or of one event on request by its webhook id",
    command: { takes: { reference: "<reference>" }, example: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ" },
  },
  "deliveries replay": {
    ...accountChange,
    input: z.extend(itemChangeInput, { reference, endpoint: oneEndpoint }),
    output: z.object({
      reference: z.string(),
      endpoints: z.array(z.string()),
      status: z.nullable(finalStatus),
      repeat: z.string(),
    }),
    summary:
      "Resend the webhook of a final transaction, or an event on request, with the same webhook id, now and also while the endpoint is down",
    command: {
      takes: { reference: "<reference>", endpoint: "--endpoint <id>" },
      example: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    },
  },
  "deliveries recover": {
    ...accountChange,
    input: z.extend(accountChangeInput, {
      from: momentField.check(z.meta({ description: "a date or a time" })),
      endpoint: oneEndpoint,
    }),
    output: z.object({
      account_id: z.string(),
      recovered: z.int(),
      repeat: z.string(),
      /** From when to go on, if there were more than a request can read. */
      next_from: z.nullable(z.iso.datetime()),
    }),
    summary: "Resend, with the same webhook ids, every webhook since a time that was given up or not sent",
    command: {
      takes: { account: "<account>", from: "--from <time>", endpoint: "--endpoint <id>" },
      example: "acc_0123456789abcdef01 --from 2026-11-21",
    },
  },
  announce: {
    ...serviceChange,
    input: z.extend(changeInput, {
      from: momentField,
      to: z.optional(momentField),
      name: z.optional(
        z.string().check(z.regex(/^[\w.:-]{1,80}$/, "Must be 1 to 80 of the characters A-Z a-z 0-9 . _ : -")),
      ),
    }),
    /** What the command then sends. */
    output: z.object({ from: z.iso.datetime(), to: z.iso.datetime(), name: z.string() }),
    summary: "Record that the webhooks of a period are sent again",
    command: "by hand",
  },
} as const satisfies ActionTable;
