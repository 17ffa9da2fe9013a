import * as z from "#zod";
import { catalogSchema } from "./catalog.ts";
import { components } from "./components.ts";
import {
  bvnRetrievalResult,
  bvnVerifyRequest,
  bvnVerifyResult,
  type identityTransaction,
  ninRetrievalResult,
  ninVerifyRequest,
  ninVerifyResult,
  retrieveRequest,
} from "./identity.ts";
import { orderPermissions } from "./permission.ts";
import { airtimePurchaseRequest, dataPurchaseRequest, purchaseResult } from "./purchase.ts";
import { noInput, orderErrors, type Routes } from "./route.ts";
import { cancelRequest, transactionLookup } from "./transaction.ts";
import { transactionPage, transactionPath, transactionQuery } from "./transaction-query.ts";
import { upstreamEvent, upstreamEventReceipt } from "./upstream-event.ts";
import { walletResult } from "./wallet.ts";

/** A function's routes. A bundle has those of its function alone: esbuild drops a call of this that nothing uses. */
// @__NO_SIDE_EFFECTS__
const defineRoutes = <const R extends Routes>(make: () => R): R => make();

/** The example of a purchase, which the examples of the lookup and the list show again. */
const exampleTransaction = {
  reference: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
  status: "success",
  amount: 500,
  description: "MTN 1GB data for 08031234567",
  type: "data",
  caller_reference: "order-1042",
  phone_number: "08031234567",
};
const exampleView = () => ({
  ...exampleTransaction,
  network: "MTN",
  error_code: null,
  created_at: "2026-11-21T09:30:00.000Z",
  updated_at: "2026-11-21T09:30:01.200Z",
});

export const listCatalogRoutes = defineRoutes(() => ({
  listCatalog: {
    method: "GET",
    path: "/v1/vtu/data",
    function: "list-catalog",
    group: "catalog",
    input: noInput,
    data: catalogSchema,
    summary: "List active networks and data plans",
    clientMethod: "catalog.get",
    errors: ["provider_unavailable"],
    hasEtag: true,
    example: {
      input: {},
      message: "Networks and data plans",
      data: {
        networks: [{ id: 1, name: "MTN", code: "mtn" }],
        data_plans: [{ id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" }],
      },
    },
  },
}));

const purchase = {
  method: "POST",
  function: "purchase",
  group: "vtu",
  permissions: ["vtu"],
  description:
    "In live mode the price is debited from the wallet first. `processing` means that the outcome is not known yet: do not order " +
    "again, but wait for the `transaction.updated` webhook or look the transaction up.",
} as const;

export const purchaseRoutes = defineRoutes(() => ({
  buyData: {
    ...purchase,
    path: "/v1/vtu/data/purchase",
    input: dataPurchaseRequest,
    data: purchaseResult,
    summary: "Buy a data bundle",
    clientMethod: "data.purchase",
    errors: [...orderErrors, "possible_duplicate", "plan_unavailable", "price_changed", "delivery_failed"],
    example: {
      input: { network_id: 1, plan_id: 101, phone_number: "08031234567", reference: "order-1042" },
      message: "The purchase was delivered",
      data: { transaction: exampleTransaction },
    },
  },
  buyAirtime: {
    ...purchase,
    path: "/v1/vtu/airtime/purchase",
    input: airtimePurchaseRequest,
    data: purchaseResult,
    summary: "Buy airtime",
    clientMethod: "airtime.purchase",
    errors: [...orderErrors, "possible_duplicate", "delivery_failed"],
    example: {
      input: { network: "mtn", amount: 500, phone_number: "08031234567", reference: "order-1043" },
      message: "The purchase was delivered",
      data: {
        transaction: {
          reference: "AIRTIME_HBVAYYCW95KVDWN6QF5T5QWP94",
          status: "success",
          amount: 500,
          description: "MTN airtime for 08031234567",
          type: "airtime",
          caller_reference: "order-1043",
          phone_number: "08031234567",
        },
      },
    },
  },
  cancelOrder: {
    method: "POST",
    path: "/v1/transactions/cancel",
    function: "purchase",
    group: "catalog",
    permissions: orderPermissions,
    input: cancelRequest,
    data: transactionLookup,
    summary: "Cancel an order that is not placed",
    clientMethod: "transactions.cancel",
    description:
      "Makes sure that no request with this `reference` places an order from now on, also no copy of an earlier request that arrives late. " +
      "If no order has the `reference`, it is recorded as `failed`, `order_cancelled`, and nothing was charged. An order that was placed is not changed: " +
      "its `status` is its current one. A lookup that finds nothing cannot say that an order stays unplaced; this can.",
    errors: ["provider_unavailable"],
    example: {
      input: { reference: "order-1044", type: "data" },
      message: "The order is cancelled",
      data: {
        transaction: {
          ...exampleView(),
          reference: "DATA_3M8Q1T6W9Y2B5D7F0H4K8N1R3V",
          status: "failed",
          amount: 0,
          description: "Cancelled before it was placed",
          caller_reference: "order-1044",
          network: null,
          phone_number: null,
          error_code: "order_cancelled",
        },
      },
    },
  },
}));

const identityDescription =
  "Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge.";
const verificationDescription = `The account must be entitled to basic or advanced checks. ${identityDescription}`;

/** The sandbox's person with the number 00000000000. */
const examplePerson = {
  first_name: "ADAEZE",
  last_name: "OKAFOR",
  middle_name: "NGOZI",
  gender: "F",
  date_of_birth: "1971-04-27",
};
/** The sandbox's person with the phone number 08000000000. */
const exampleOwner = {
  first_name: "FATIMA",
  last_name: "BELLO",
  middle_name: "AISHA",
  gender: "F",
  date_of_birth: "1979-08-28",
  phone_number: "08000000000",
};
type CheckInput = { readonly reference: string; readonly is_consent: true } & Readonly<Record<string, unknown>>;
type CheckedTransaction = Pick<z.input<typeof identityTransaction>, "type" | "title" | "amount" | "reference">;
const exampleCheck = (input: CheckInput, { type, ...shown }: CheckedTransaction, result: object) => ({
  input,
  message: "The record was found",
  data: { transaction: { ...shown, status: "success", type, caller_reference: input.reference }, result },
});

const identityCheck = {
  method: "POST",
  function: "check-identity",
  group: "identity",
  errors: ["consent_required", ...orderErrors, "record_not_found", "delivery_failed", "provider_timeout"],
} as const;

export const checkIdentityRoutes = defineRoutes(() => ({
  verifyNin: {
    ...identityCheck,
    path: "/v1/identity/nin/verify",
    permissions: ["identity"],
    input: ninVerifyRequest,
    data: ninVerifyResult,
    summary: "Verify a NIN",
    clientMethod: "nin.verify",
    description: verificationDescription,
    example: exampleCheck(
      { nin: "00000000000", is_consent: true, mode: "basic", reference: "kyc-2041" },
      {
        type: "nin_verification",
        title: "NIN Verification",
        amount: 150,
        reference: "VERIFY_YFY4ZDPE7W39AD9A3QMJZEAMEV",
      },
      examplePerson,
    ),
  },
  retrieveNin: {
    ...identityCheck,
    path: "/v1/identity/nin/retrieve",
    permissions: ["identity:retrieve"],
    input: retrieveRequest,
    data: ninRetrievalResult,
    summary: "Retrieve NIN details by phone number",
    clientMethod: "nin.retrieve",
    description: identityDescription,
    example: exampleCheck(
      { phone_number: "08000000000", is_consent: true, reference: "kyc-2042" },
      {
        type: "nin_retrieval",
        title: "NIN Retrieval",
        amount: 400,
        reference: "RETRIEVE_5K4FVAQY00RQP4Q85G4HRNYWF3",
      },
      { nin: "18000000000", ...exampleOwner },
    ),
  },
  verifyBvn: {
    ...identityCheck,
    path: "/v1/identity/bvn/verify",
    permissions: ["identity"],
    input: bvnVerifyRequest,
    data: bvnVerifyResult,
    summary: "Verify a BVN",
    clientMethod: "bvn.verify",
    description: verificationDescription,
    example: exampleCheck(
      { bvn: "00000000000", is_consent: true, mode: "basic", reference: "kyc-2043" },
      {
        type: "bvn_verification",
        title: "BVN Verification",
        amount: 100,
        reference: "VERIFY_EQF1RD6YXZX7J75N8W0MFNY1Y1",
      },
      { ...examplePerson, phone_number: "08000000000" },
    ),
  },
  retrieveBvn: {
    ...identityCheck,
    path: "/v1/identity/bvn/retrieve",
    permissions: ["identity:retrieve"],
    input: retrieveRequest,
    data: bvnRetrievalResult,
    summary: "Retrieve BVN details by phone number",
    clientMethod: "bvn.retrieve",
    description: identityDescription,
    example: exampleCheck(
      { phone_number: "08000000000", is_consent: true, reference: "kyc-2044" },
      {
        type: "bvn_retrieval",
        title: "BVN Retrieval",
        amount: 300,
        reference: "RETRIEVE_5APR9FMNQ7SW5TRXBAF34Y05K4",
      },
      { bvn: "18000000000", ...exampleOwner },
    ),
  },
}));

const read = { method: "GET", function: "read-account", group: "catalog", permissions: ["read"] } as const;

export const readAccountRoutes = defineRoutes(() => ({
  getWallet: {
    ...read,
    path: "/v1/wallet",
    input: noInput,
    data: walletResult,
    summary: "Read the prepaid wallet",
    clientMethod: "wallet.get",
    errors: [],
    example: {
      input: {},
      message: "Wallet",
      data: {
        wallet: {
          currency: "NGN",
          balance: 99_500,
          low_balance_threshold: null,
          updated_at: "2026-11-21T09:30:01.200Z",
        },
      },
    },
  },
  getTransaction: {
    ...read,
    path: "/v1/transactions/{reference}",
    input: transactionPath,
    data: transactionLookup,
    summary: "Look up a transaction by the service's reference or the caller's",
    clientMethod: "transactions.get",
    errors: ["not_found", "validation_failed"],
    example: {
      input: { reference: exampleTransaction.reference },
      message: "Transaction",
      data: { transaction: exampleView() },
    },
  },
  listTransactions: {
    ...read,
    path: "/v1/transactions",
    input: transactionQuery,
    data: transactionPage,
    summary: "List transactions, newest first",
    description:
      "A transaction is in the list some moments after it was made. Whether an order exists is found by its reference.",
    clientMethod: "transactions.list",
    errors: ["validation_failed"],
    example: {
      input: { status: "success" },
      message: "Transactions",
      data: { transactions: [exampleView()], next_cursor: null },
    },
  },
}));

const docs = { method: "GET", function: "serve-docs", group: "catalog", hasEtag: true, errors: [] } as const;

export const serveDocsRoutes = defineRoutes(() => ({
  describeApi: {
    ...docs,
    path: "/v1/openapi.json",
    input: noInput,
    data: z.looseObject({ openapi: z.string() }).register(components, { id: "OpenApiDocument" }),
    document: "application/json",
    summary: "Get this OpenAPI document",
    example: { input: {}, data: { openapi: "3.1.1" } },
  },
  showDocs: {
    ...docs,
    path: "/v1/docs",
    input: noInput,
    data: z.string(),
    document: "text/html",
    summary: "Get this document as a web page",
    example: { input: {}, data: "<!doctype html>" },
  },
}));

export const receiveUpstreamEventRoutes = defineRoutes(() => ({
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
}));

/** Every route, by the name of its operation, in the order of the documentation. */
export const routes = defineRoutes(() => {
  const { cancelOrder, ...purchases } = purchaseRoutes;
  return {
    ...listCatalogRoutes,
    ...purchases,
    ...checkIdentityRoutes,
    ...readAccountRoutes,
    cancelOrder,
    ...serveDocsRoutes,
    ...receiveUpstreamEventRoutes,
  };
});

/** The routes that apps call, as the OpenAPI document describes them. */
export const appRoutes = defineRoutes(() =>
  Object.fromEntries(Object.entries<Routes[string]>(routes).filter(([, { audience }]) => audience === undefined)),
);
