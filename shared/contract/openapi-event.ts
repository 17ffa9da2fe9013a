import * as z from "zod";
import { transactionStatus, transactionType } from "./transaction.ts";

/** What a caller's endpoint receives when a transaction ends (INTERFACE "Events"). */
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

const signatureHeader = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example,
});

/** What an operator's test of the endpoint sends. */
export const webhookTest = z.object({
  event: z.literal("webhook.test"),
  data: z.object({ account_id: z.string(), created_at: z.iso.datetime() }),
});

const signatureHeaders = [
  signatureHeader("webhook-id", "The same for each repeat of one event.", "msg_2q7LkT8M3bY1N5vXc0ZrD9hEwFs4JgUa"),
  signatureHeader("webhook-timestamp", "When this attempt was made, in seconds since 1970.", "1795253400"),
  signatureHeader(
    "webhook-signature",
    "`v1,` and the Base64 of an HMAC-SHA256 over `id.timestamp.body`, with the endpoint's `whsec_` secret; while the secret " +
      "is being changed there are two, with a space between them.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

const signedPost = (texts: {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: string;
  readonly example: unknown;
}) => ({
  post: {
    operationId: texts.operationId,
    summary: texts.summary,
    description: texts.description,
    tags: ["webhooks"],
    security: [],
    parameters: signatureHeaders,
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

/** `webhooks` of the OpenAPI document. The signature is that of Standard Webhooks. */
export const webhooks = {
  "transaction.updated": signedPost({
    operationId: "transactionUpdated",
    summary: "A transaction has ended",
    description:
      "Sent to the account's endpoint when a transaction's status becomes `success` or `failed`. Answer 2xx within 5 seconds: " +
      "anything else is a failure, and the notification is sent again, 8 times within 28 hours. It may arrive more than once: " +
      "`webhook-id` is then the same. `network` and `phone_number` are empty for identity checks.",
    schema: "TransactionUpdated",
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
      "Sent once, and only when an operator of the service asks for it. It is about no transaction: verify the signature, " +
      "answer 2xx and ignore it. Ignore every other event that you do not know in the same way.",
    schema: "WebhookTest",
    example: {
      event: "webhook.test",
      data: { account_id: "acc_0123456789abcdef01", created_at: "2026-11-21T09:30:00.000Z" },
    },
  }),
};
