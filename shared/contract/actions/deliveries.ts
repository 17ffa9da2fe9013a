import * as z from "zod";
import { type ActionTable, accountInput, itemChangeInput, itemInput, referenceInput } from "./action.ts";

const attempt = z.object({
  number: z.int(),
  at: z.iso.datetime(),
  /** `delivered`, `status`, or why there was no usable response. */
  outcome: z.string(),
  http_status: z.int().optional(),
  answer_bytes: z.int().optional(),
  duration_ms: z.int(),
});

const delivery = z.object({
  event: z.string(),
  webhook_id: z.string(),
  /** The transaction's final status; null for an event on request. */
  status: z.enum(["success", "failed"]).nullable(),
  state: z.enum(["pending", "delivered", "exhausted", "switched_off", "no_endpoint"]),
  /** Whether it waits outside the queue, because its wait is long or its endpoint is down. */
  parked: z.boolean(),
  /** What caused a second delivery of the same webhook. */
  repeat: z.string().nullable(),
  created_at: z.iso.datetime(),
  /** Null if it is due, or waits for the endpoint. */
  next_attempt_at: z.iso.datetime().nullable(),
});

const headers = z.record(z.string(), z.string());

/** How many deliveries the list shows. */
export const LATEST_DELIVERIES = 50;

/** Our reference, the caller's or the upstream's; or the webhook id of an event on request. */
const reference = referenceInput;

/** Webhook deliveries. */
export const deliveriesActions = {
  "deliveries list": {
    scope: "account",
    kind: "read",
    input: accountInput,
    output: z.object({
      deliveries: z.array(
        z.object({ reference: z.string().nullable(), ...delivery.shape, attempts: z.array(attempt) }),
      ),
    }),
    summary: `List an account's latest ${LATEST_DELIVERIES} deliveries, newest first`,
    command: { takes: { account: "<account>" }, example: "acc_0123456789abcdef01" },
  },
  "deliveries show": {
    scope: "account",
    kind: "read",
    input: itemInput.extend({ reference }),
    output: z.object({
      reference: z.string(),
      deliveries: z.array(
        delivery.extend({
          attempts: z.array(
            attempt.extend({
              /** The signature is not among them. */
              request_headers: headers,
              /** Some headers of the response of a failed attempt; null if there was no response, or if it is old. */
              response_headers: headers.nullable(),
            }),
          ),
        }),
      ),
    }),
    summary: "Show every delivery attempt of one transaction, or of one event on request by its webhook id",
    command: { takes: { reference: "<reference>" }, example: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ" },
  },
  "deliveries replay": {
    scope: "account",
    kind: "change",
    input: itemChangeInput.extend({ reference }),
    output: z.object({
      reference: z.string(),
      status: z.enum(["success", "failed"]).nullable(),
      repeat: z.string(),
    }),
    summary:
      "Resend the webhook of a final transaction, or an event on request, with the same webhook id, now and also while the endpoint is down",
    command: { takes: { reference: "<reference>" }, example: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ" },
  },
} as const satisfies ActionTable;
