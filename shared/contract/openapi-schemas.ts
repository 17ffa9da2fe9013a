import * as z from "zod";
import { catalogSchema, dataPlanSchema, networkSchema } from "./catalog.ts";
import { errorEnvelope } from "./envelope.ts";
import { phoneNumberField, referenceField } from "./fields.ts";
import {
  bvnAdvancedResult,
  bvnBasicResult,
  bvnRetrievalResult,
  bvnRetrieveResult,
  bvnVerifyRequest,
  bvnVerifyResult,
  identityMode,
  identityTransaction,
  ninAdvancedResult,
  ninBasicResult,
  ninRetrievalResult,
  ninRetrieveResult,
  ninVerifyRequest,
  ninVerifyResult,
  retrieveRequest,
} from "./identity.ts";
import {
  catalogUpdated,
  changedPlan,
  repricedPlan,
  transactionUpdated,
  walletLow,
  webhookTest,
} from "./openapi-webhooks.ts";
import { airtimePurchaseRequest, dataPurchaseRequest, purchaseResult } from "./purchase.ts";
import { routes } from "./routes.ts";
import {
  cancelRequest,
  purchasedTransaction,
  transactionLookup,
  transactionPage,
  transactionPath,
  transactionQuery,
  transactionStatus,
  transactionType,
  transactionView,
} from "./transaction.ts";
import { walletResult } from "./wallet.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Schemas of requests. */
const requestSchemas = {
  AirtimePurchaseRequest: airtimePurchaseRequest,
  BvnVerifyRequest: bvnVerifyRequest,
  CancelRequest: cancelRequest,
  DataPurchaseRequest: dataPurchaseRequest,
  NinVerifyRequest: ninVerifyRequest,
  PhoneNumber: phoneNumberField,
  Reference: referenceField,
  RetrieveRequest: retrieveRequest,
  TransactionPath: transactionPath,
  TransactionQuery: transactionQuery,
  TransactionStatus: transactionStatus,
  TransactionType: transactionType,
};

/** Schemas of responses and events. */
const responseSchemas = {
  BvnAdvancedResult: bvnAdvancedResult,
  BvnBasicResult: bvnBasicResult,
  BvnRetrieval: bvnRetrievalResult,
  BvnRetrieveResult: bvnRetrieveResult,
  BvnVerification: bvnVerifyResult,
  Catalog: catalogSchema,
  CatalogUpdated: catalogUpdated,
  ChangedPlan: changedPlan,
  DataPlan: dataPlanSchema,
  ErrorEnvelope: errorEnvelope,
  IdentityTransaction: identityTransaction,
  Network: networkSchema,
  NinAdvancedResult: ninAdvancedResult,
  NinBasicResult: ninBasicResult,
  NinRetrieval: ninRetrievalResult,
  NinRetrieveResult: ninRetrieveResult,
  NinVerification: ninVerifyResult,
  OpenApiDocument: routes.describeApi.data,
  Purchase: purchaseResult,
  PurchasedTransaction: purchasedTransaction,
  RepricedPlan: repricedPlan,
  Transaction: transactionView,
  TransactionLookup: transactionLookup,
  TransactionPage: transactionPage,
  TransactionStatus: transactionStatus,
  TransactionType: transactionType,
  TransactionUpdated: transactionUpdated,
  Wallet: walletResult,
  WalletLow: walletLow,
  WebhookTest: webhookTest,
};

const names = new Map<z.ZodType, string>(
  [...Object.entries(requestSchemas), ...Object.entries(responseSchemas)].map(([name, schema]) => [schema, name]),
);

const MASKED_LATER = "After the retention of the deployment (400 days by default) all but the last two digits are `*`.";
const serviceReference = {
  description: "The service's reference: the kind of order, or `TEST`, then `_` and 26 characters.",
};

/** Descriptions of fields, by `Schema.field`, or by `field` if they are the same in every schema. */
export const fieldNotes: Readonly<Record<string, JsonSchema>> = {
  PhoneNumber: { description: "A Nigerian mobile number, 11 digits.", examples: ["08031234567"] },
  Reference: {
    description:
      "The caller's own id of an order. It is stored in clear text: a request whose reference contains its own NIN, BVN or phone number is refused.",
    examples: ["order-1042"],
  },
  TransactionStatus: { description: "`success` and `failed` are final." },

  account_id: { description: "The account whose endpoint this is." },
  amount: { description: "NGN, at most 2 decimals." },
  "AirtimePurchaseRequest.amount": {
    description:
      "NGN, at most 2 decimals; floating-point noise of up to a millionth of a kobo is rounded away. The largest amount is a setting of the deployment.",
  },
  at: { description: "When it was noticed, in UTC." },
  balance: { description: "NGN, at most 2 decimals." },
  bvn: { description: "The bank verification number, 11 digits." },
  caller_reference: {
    description:
      "The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours.",
  },
  "Network.code": { description: "Lower-case network code: `network` of an airtime purchase." },
  counts: { description: "How many entries each list would have if it were not cut." },
  created_at: { description: "Time of creation, in UTC." },
  cursor: { description: "The `next_cursor` of the previous page." },
  date_of_birth: { description: "`YYYY-MM-DD`." },
  description: { description: "The product and the recipient." },
  enrollment_bank: { description: "The bank where the BVN was registered." },
  error_code: {
    description: "Why the transaction failed: a code of `X-Error-Code`; null unless the status is `failed`.",
  },
  errors: { description: "Messages by request field; present if single fields are wrong." },
  from: {
    description: "Created at or after this time; a date means the beginning of that day in UTC. Encode a `+` as `%2B`.",
  },
  "Network.id": { description: "`network_id` of a data purchase." },
  "DataPlan.id": { description: "`plan_id` of a data purchase." },
  is_consent: { description: "The person has consented. Only JSON `true` is accepted." },
  lga_of_origin: { description: "Local government area." },
  low_balance_threshold: {
    description: "NGN. Balances below this value count as low. Set by the operator; null if it is not set.",
  },
  message: { description: "A sentence for people; it may change." },
  mode: {
    description:
      "`basic`: name, gender and date of birth. `advanced`: the whole profile, with a photo. Not case-sensitive.",
    enum: [...identityMode.options],
  },
  "ChangedPlan.network": { description: "The network's display name." },
  "RepricedPlan.network": { description: "The network's display name." },
  "Transaction.network": { description: "The network's display name; null for identity checks." },
  "TransactionUpdated.network": { description: "The network's display name; empty for identity checks." },
  "AirtimePurchaseRequest.network": {
    description:
      "The `code` of a network in the catalog, not case-sensitive. `etisalat` and `t2` mean `9mobile`, `globacom` means `glo`.",
    examples: ["mtn"],
  },
  network_id: { description: "The `id` of a network in the catalog." },
  next_cursor: { description: "The `cursor` of the next page; null on the last page." },
  nin: { description: "The national identification number, 11 digits." },
  "PurchasedTransaction.phone_number": { description: `The recipient's number. ${MASKED_LATER}` },
  "Transaction.phone_number": {
    description: `The recipient's number; null for identity checks. ${MASKED_LATER}`,
  },
  "TransactionUpdated.phone_number": {
    description: `The recipient's number; empty for identity checks. ${MASKED_LATER}`,
  },
  photo: { description: "Base64, without a `data:` prefix." },
  plan_id: { description: "The `id` of a plan in the catalog. The plan must belong to the network." },
  previous_price: { description: "The price before: NGN, at most 2 decimals." },
  price: { description: "What a purchase debits from the wallet: NGN, at most 2 decimals." },
  purpose: {
    description:
      "Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number.",
  },
  "PurchasedTransaction.reference": serviceReference,
  "IdentityTransaction.reference": serviceReference,
  "Transaction.reference": serviceReference,
  "TransactionUpdated.reference": serviceReference,
  "TransactionPath.reference": { description: "The service's reference, or the caller's." },
  registration_date: { description: "`YYYY-MM-DD`." },
  result: { description: "Null only while the status is `processing`." },
  threshold: { description: "NGN. The balance is below it." },
  "IdentityTransaction.title": { description: "The operation, for example `NIN Verification`." },
  to: {
    description: "Created at or before this time; a date means the whole of that day in UTC. Encode a `+` as `%2B`.",
  },
  transactions: { description: "Newest first." },
  truncated: { description: "The lists are cut: read the catalog." },
  updated_at: { description: "Time of the last change, in UTC." },
  validity: { description: "How long the bundle lasts, as text for people." },
};

/** `components.schemas`, and the schemas of parameters beside them. */
export const namedSchemas = (): Record<string, JsonSchema> => {
  const all = { ...jsonSchemas(responseSchemas, "output"), ...jsonSchemas(requestSchemas, "input") };
  return Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, withNotes(name, tidy(schema))]));
};

/** The `$ref` of a named schema. */
export const schemaRef = (schema: z.ZodType): { $ref: string } => {
  const name = names.get(schema);
  if (name === undefined) throw new Error("A schema of the route table has no name in the OpenAPI document");
  return { $ref: refTo(name) };
};

/** The name of a schema in the document. */
export const schemaName = (schema: z.ZodType): string | undefined => names.get(schema);

const refTo = (name: string): string => `#/components/schemas/${name}`;

const jsonSchemas = (schemas: Readonly<Record<string, z.ZodType>>, io: "input" | "output") => {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  return z.toJSONSchema(registry, { io, uri: refTo }).schemas;
};

/**
 * Removes redundant or misleading keywords: ids and dialects, patterns of formats, bounds of integers, `multipleOf`
 * (0.01 is no binary fraction) and closed objects, because v1 may grow.
 */
const tidy = (schema: JsonSchema): JsonSchema => {
  const { $schema: _dialect, $id: _id, multipleOf: _step, propertyNames: _names, ...kept } = schema;
  const { pattern, additionalProperties, maximum, ...rest } = kept;
  return {
    ...rest,
    ...(pattern !== undefined && rest.format === undefined && { pattern }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
    ...(typeof additionalProperties === "object" && {
      additionalProperties: Object.keys(additionalProperties).length === 0 || tidy(additionalProperties),
    }),
    ...(rest.properties && { properties: mapValues(rest.properties, tidySub) }),
    ...(typeof rest.items === "object" && !Array.isArray(rest.items) && { items: tidy(rest.items) }),
    ...(rest.anyOf && { anyOf: rest.anyOf.map(tidy).flatMap((option) => option.anyOf ?? [option]) }),
  };
};

const tidySub = (schema: JsonSchema | boolean): JsonSchema | boolean =>
  typeof schema === "boolean" ? schema : tidy(schema);

const withNotes = (name: string, schema: JsonSchema): JsonSchema => ({
  ...schema,
  ...fieldNotes[name],
  ...(schema.properties && {
    properties: mapValues(schema.properties, (property, field) => noted(name, field, property)),
  }),
});

const noted = (name: string, field: string, property: JsonSchema | boolean): JsonSchema | boolean => {
  if (typeof property === "boolean") return property;
  return { ...withNotes(name, property), ...(fieldNotes[`${name}.${field}`] ?? fieldNotes[field]) };
};

const mapValues = <From, To>(record: Readonly<Record<string, From>>, to: (value: From, name: string) => To) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value, name)]));
