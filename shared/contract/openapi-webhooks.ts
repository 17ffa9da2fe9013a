import * as z from "zod";
import { transactionStatus, transactionType } from "./transaction.ts";

/** The event that a caller's endpoint receives when a transaction becomes final. Source: docs/interface.md 15.2. */
export const transactionUpdated = z.object({
  event: z.literal("transaction.updated"),
  data: z.object({
    reference: z.string(),
    status: transactionStatus.exclude(["processing"]),
    amount: z.number(),
    type: transactionType,
    network: z.string(),
    phone_number: z.string(),
    created_at: z.iso.datetime(),
  }),
});

const headerParameter = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example,
});

/** The event of an operator's test. Source: docs/interface.md 15.D9. */
export const webhookTest = z.object({
  event: z.literal("webhook.test"),
  data: z.object({ account_id: z.string(), created_at: z.iso.datetime() }),
});

const signatureParameters = (id: string) => [
  headerParameter("webhook-id", "Identifies the event: every copy of it has the same id.", id),
  headerParameter("webhook-timestamp", "Time of this attempt, in seconds since 1970.", "1795253400"),
  headerParameter(
    "webhook-signature",
    "`v1,` and the Base64 of an HMAC-SHA256 over `id.timestamp.body` with the endpoint's `whsec_` secret. For 24 hours after a " +
      "rotation of the secret there are two signatures, separated by a space.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

const signedPost = (texts: {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: string;
  readonly id: string;
  readonly example: unknown;
}) => ({
  post: {
    operationId: texts.operationId,
    summary: texts.summary,
    description: texts.description,
    tags: ["webhooks"],
    security: [],
    parameters: signatureParameters(texts.id),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${texts.schema}` },
          example: texts.example,
        },
      },
    },
    responses: { "200": { description: "Received." } },
  },
});

/** `webhooks` of the OpenAPI document. Signed by Standard Webhooks. */
export const webhooks = {
  "transaction.updated": signedPost({
    operationId: "transactionUpdated",
    summary: "A transaction became final",
    description:
      "Sent to the account's endpoint when the status of a transaction becomes `success` or `failed`. Answer 2xx within 5 seconds. " +
      "After anything else the event is sent again, up to 8 times within 31 hours; an endpoint that is down gets its events " +
      "once it works. Tolerate duplicates: they have the same " +
      "`webhook-id`. `network` and `phone_number` are empty for identity checks.",
    schema: "TransactionUpdated",
    id: "evt_fa84338e82d73cc21a799de564d3dce5",
    example: {
      event: "transaction.updated",
      data: {
        reference: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
        status: "success",
        amount: 500,
        type: "data",
        network: "MTN",
        phone_number: "08031234567",
        created_at: "2026-11-21T09:30:00.000Z",
      },
    },
  }),
  "webhook.test": signedPost({
    operationId: "webhookTest",
    summary: "An operator tests the endpoint",
    description:
      "Sent once when an operator of the service tests the endpoint. It is about no transaction: verify the signature, answer 2xx " +
      "and ignore it. Ignore every event that you do not know in the same way.",
    schema: "WebhookTest",
    id: "evt_6543fe7f56a8f9a37c8b869ea0d6655c",
    example: {
      event: "webhook.test",
      data: { account_id: "acc_0123456789abcdef01", created_at: "2026-11-21T09:30:00.000Z" },
    },
  }),
};
