import * as z from "#zod";
import { dataPlanSchema, networkSchema } from "../catalog.ts";
import { components } from "../components.ts";
import { amountField, createdAtField } from "../fields.ts";
import { periodLimitNames } from "../order-limits.ts";
import { recipientField, serviceReferenceField, transactionType } from "../transaction.ts";
import type { EndpointEventName } from "../webhook-events.ts";
import { schemaRef } from "./openapi-schemas.ts";

const accountIdField = z.string().register(z.globalRegistry, { description: "The account whose endpoint this is." });
const noticedAtField = z.iso.datetime().register(z.globalRegistry, { description: "When it was noticed, in UTC." });

/** The event that a caller's endpoint receives when a transaction becomes final. Source: docs/interface.md 15.2. */
export const transactionUpdated = z
  .object({
    event: z.literal("transaction.updated"),
    data: z.object({
      reference: serviceReferenceField,
      status: z.enum(["success", "failed"]),
      amount: amountField,
      type: transactionType,
      network: z
        .string()
        .register(z.globalRegistry, { description: "The network's display name; empty for identity checks." }),
      phone_number: recipientField(z.string(), "; empty for identity checks"),
      created_at: createdAtField,
    }),
  })
  .register(components, { id: "TransactionUpdated" });

/** An account's balance fell below its threshold. Source: docs/interface.md 15.7. */
export const walletLow = z
  .object({
    event: z.literal("wallet.low"),
    data: z.object({
      account_id: accountIdField,
      balance: amountField,
      threshold: z.number().register(z.globalRegistry, { description: "NGN. The balance is below it." }),
      at: noticedAtField,
    }),
  })
  .register(components, { id: "WalletLow" });

/** Little is left of a limit of an account or a key. Source: docs/interface.md 15.9. */
export const limitNear = z
  .object({
    event: z.literal("limit.near"),
    data: z.object({
      account_id: accountIdField,
      key_id: z.string().register(z.globalRegistry, {
        description: "The key that has the limit; empty for a limit of the whole account.",
      }),
      limit: z
        .enum(periodLimitNames)
        .register(z.globalRegistry, { description: "Which limit: by amount (NGN) or number, of a day or a month." }),
      max: z.number().register(z.globalRegistry, { description: "The limit: NGN, or a number of orders." }),
      period: z.string().register(z.globalRegistry, {
        description: "The day (`2026-11-21`) or month (`2026-11`), in the service's time zone.",
      }),
    }),
  })
  .register(components, { id: "LimitNear" });

/** A plan in `catalog.updated`. */
const changedPlan = z
  .extend(z.omit(dataPlanSchema, { validity: true }), {
    network: networkSchema.shape.name.check(z.meta({ description: "The network's display name." })),
  })
  .register(components, { id: "ChangedPlan" });
const repricedPlan = z
  .extend(changedPlan, {
    previous_price: dataPlanSchema.shape.price.check(
      z.meta({ description: "The price before: NGN, at most 2 decimals." }),
    ),
  })
  .register(components, { id: "RepricedPlan" });
const countField = z.int().check(z.minimum(0));
const changeCounts = z
  .object({
    plans_added: countField,
    plans_removed: countField,
    plans_repriced: countField,
    networks_added: countField,
    networks_removed: countField,
  })
  .register(z.globalRegistry, { description: "How many entries each list would have if it were not cut." });

/** The catalog changed. Source: docs/interface.md 15.8. */
export const catalogUpdated = z
  .object({
    event: z.literal("catalog.updated"),
    data: z.object({
      at: z.iso
        .datetime()
        .register(z.globalRegistry, { description: "Since when the service sells by this catalog, in UTC." }),
      plans_added: z.array(changedPlan),
      plans_removed: z.array(changedPlan),
      plans_repriced: z.array(repricedPlan),
      networks_added: z.array(networkSchema),
      networks_removed: z.array(networkSchema),
      counts: changeCounts,
      truncated: z.boolean().register(z.globalRegistry, { description: "The lists are cut: read the catalog." }),
    }),
  })
  .register(components, { id: "CatalogUpdated" });

const headerParameter = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example,
});

/** The event of a test. Source: docs/interface.md 15.D9. */
export const webhookTest = z
  .object({
    event: z.literal("webhook.test"),
    data: z.object({ account_id: accountIdField, created_at: createdAtField }),
  })
  .register(components, { id: "WebhookTest" });

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

type SignedPost = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: z.ZodMiniType;
  readonly id: string;
  readonly example: unknown;
};
const signedPost = ({ schema, id, example, ...texts }: SignedPost) => ({
  post: {
    ...texts,
    tags: ["webhooks"],
    security: [],
    parameters: signatureParameters(id),
    requestBody: { required: true, content: { "application/json": { schema: schemaRef(schema), example } } },
    responses: { "200": { description: "Received." } },
  },
});

/** `webhooks` of the OpenAPI document. Signed by Standard Webhooks. */
export const webhooks = {
  "transaction.updated": signedPost({
    operationId: "transactionUpdated",
    summary: "A transaction became final",
    description:
      "Sent to each endpoint of the account that gets it when the status of a transaction becomes `success` or `failed`. Answer 2xx within 5 seconds. " +
      "After anything else the event is sent again, up to 8 times within 31 hours; an endpoint that is down gets its events " +
      "once it works. Tolerate duplicates: they have the same " +
      "`webhook-id`. `network` and `phone_number` are empty for identity checks.",
    schema: transactionUpdated,
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
  "wallet.low": signedPost({
    operationId: "walletLow",
    summary: "The balance fell below its threshold",
    description:
      "Sent to endpoints for which it was chosen, when the balance is below the account's low balance threshold for the first " +
      "time since it was not. It is noticed within about a minute; a fall and a rise in between may go unnoticed.",
    schema: walletLow,
    id: "evt_819fce4792552f90fd558122e5d84f84",
    example: {
      event: "wallet.low",
      data: {
        account_id: "acc_0123456789abcdef01",
        balance: 4_500,
        threshold: 5_000,
        at: "2026-11-21T09:30:00.000Z",
      },
    },
  }),
  "limit.near": signedPost({
    operationId: "limitNear",
    summary: "Little is left of a limit of orders",
    description:
      "Sent to endpoints for which it was chosen, once for each limit and day or month, when live orders use more than " +
      "80 % of a limit of the account or of one of its keys. Orders beyond the limit are refused with `limit_reached`. It is " +
      "noticed within about a minute; a limit that is first near in the last minute of its day or month may go unnoticed.",
    schema: limitNear,
    id: "evt_98f892328de9884a2928af4eadcc01c0",
    example: {
      event: "limit.near",
      data: {
        account_id: "acc_0123456789abcdef01",
        key_id: "",
        limit: "day_naira",
        max: 100_000,
        period: "2026-11-21",
      },
    },
  }),
  "catalog.updated": signedPost({
    operationId: "catalogUpdated",
    summary: "Plans or networks changed",
    description:
      "Sent to endpoints for which it was chosen, when plans or networks are added or removed, or prices change. The lists are " +
      "cut where they would be too long: then `truncated` is true, `counts` is still complete, and `GET /vtu/data` has everything.",
    schema: catalogUpdated,
    id: "evt_45beef3803061c3431c87acbb16296fc",
    example: {
      event: "catalog.updated",
      data: {
        at: "2026-11-21T09:30:00.000Z",
        plans_added: [],
        plans_removed: [],
        plans_repriced: [{ id: 101, network_id: 1, name: "1GB", price: 510, network: "MTN", previous_price: 500 }],
        networks_added: [],
        networks_removed: [],
        counts: { plans_added: 0, plans_removed: 0, plans_repriced: 1, networks_added: 0, networks_removed: 0 },
        truncated: false,
      },
    },
  }),
  "webhook.test": signedPost({
    operationId: "webhookTest",
    summary: "A person tests the endpoint",
    description:
      "Sent once when an owner of the account or an operator tests the endpoint. It is about no transaction: verify the signature, answer 2xx " +
      "and ignore it. Ignore every event that you do not know in the same way.",
    schema: webhookTest,
    id: "evt_6543fe7f56a8f9a37c8b869ea0d6655c",
    example: {
      event: "webhook.test",
      data: { account_id: "acc_0123456789abcdef01", created_at: "2026-11-21T09:30:00.000Z" },
    },
  }),
} as const satisfies Readonly<Record<EndpointEventName | "webhook.test", unknown>>;
