import * as z from "zod";
import { catalogSchema } from "./catalog.ts";
import type { ErrorCode } from "./errors.ts";
import {
  bvnRetrievalResult,
  bvnVerifyRequest,
  bvnVerifyResult,
  ninRetrievalResult,
  ninVerifyRequest,
  ninVerifyResult,
  retrieveRequest,
} from "./identity.ts";
import type { RateGroup } from "./limits.ts";
import { airtimePurchaseRequest, dataPurchaseRequest, purchaseResult } from "./purchase.ts";
import { transactionPage, transactionPath, transactionQuery, transactionView } from "./transaction.ts";
import { upstreamEvent, upstreamEventReceipt } from "./upstream-event.ts";
import { walletResult } from "./wallet.ts";

/** The rights that a key can hold. New keys get `vtu` and `identity`. */
export const permissionSchema = z.enum(["vtu", "identity", "identity:retrieve"]);
export type Permission = z.infer<typeof permissionSchema>;
export const lacksPermission = (permission: Permission): string => `This API key lacks the permission ${permission}`;

/** One route: everything that API Gateway, the local runner, the handlers and OpenAPI need to know of it. */
export type Route<Input extends z.ZodObject = z.ZodObject, Data extends z.ZodType = z.ZodType> = {
  readonly method: "GET" | "POST";
  /** API Gateway's spelling: `/v1/transactions/{reference}`. */
  readonly path: `/v1/${string}`;
  /** The folder below functions/ that serves it. */
  readonly function: string;
  readonly group: RateGroup;
  readonly permission?: Permission;
  /** The JSON body of a POST; the path and query parameters of a GET. */
  readonly input: Input;
  /** `data` of the success envelope. */
  readonly data: Data;
  /** A document that is served as it is, without key and envelope: its media type. */
  readonly document?: "application/json" | "text/html";
  /** Set where it is not an app that calls. */
  readonly audience?: "upstream";
  readonly summary: string;
  /** What it can answer beside the errors of every route with a key (and of every POST). */
  readonly errors: readonly ErrorCode[];
  readonly example: { readonly input: unknown; readonly data: unknown };
};

/** Errors of every route; those of a POST; those of an operation that takes money. */
const keyErrors = [
  "missing_api_key",
  "invalid_api_key",
  "account_restricted",
  "ip_not_whitelisted",
  "rate_limited",
  "internal_error",
] as const;
const bodyErrors = ["invalid_json", "missing_parameter", "validation_failed"] as const;
const orderErrors = ["insufficient_balance", "reference_reused", "provider_unavailable"] as const;

/** Every error that a route documents. */
export const errorsOf = ({ method, permission, document, errors }: Route): readonly ErrorCode[] => [
  ...(document ? (["internal_error"] as const) : keyErrors),
  ...(permission ? (["permission_denied"] as const) : []),
  ...(method === "POST" ? bodyErrors : []),
  ...errors,
];

/** True for what makes a transaction and can be repeated under a reference. */
export const isOrder = ({ method, input }: Route): boolean => method === "POST" && "reference" in input.shape;

const nothing = z.object({});

/** 1 GB for 500 NGN, as every example buys it. */
const exampleOrder = { phone_number: "08031234567", reference: "order-1042" };
const exampleReference = "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ";
const exampleTransaction = {
  reference: exampleReference,
  status: "success",
  amount: 500,
  description: "MTN 1GB data for 08031234567",
};
const exampleView = {
  ...exampleTransaction,
  type: "data",
  caller_reference: "order-1042",
  network: "MTN",
  phone_number: "08031234567",
  error_code: null,
  created_at: "2026-11-21T09:30:00.000Z",
  updated_at: "2026-11-21T09:30:01.200Z",
};
/** The sandbox's person of the number 00000000000. */
const examplePerson = {
  first_name: "ADAEZE",
  last_name: "OKAFOR",
  middle_name: "NGOZI",
  gender: "F",
  date_of_birth: "1971-04-27",
};
/** The one whose phone number is 08000000000. */
const exampleOwner = {
  first_name: "FATIMA",
  last_name: "BELLO",
  middle_name: "AISHA",
  gender: "F",
  date_of_birth: "1979-08-28",
  phone_number: "08000000000",
};
const exampleCheck = (title: string, amount: number, reference: string) => ({
  title,
  amount,
  reference,
  status: "success",
});

/** The one list of routes, by operation. */
export const routes = {
  listCatalog: {
    method: "GET",
    path: "/v1/vtu/data",
    function: "list-catalog",
    group: "catalog",
    input: nothing,
    data: catalogSchema,
    summary: "List active networks and data plans",
    errors: ["provider_unavailable"],
    example: {
      input: {},
      data: {
        networks: [{ id: 1, name: "MTN", code: "mtn" }],
        data_plans: [{ id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" }],
      },
    },
  },
  buyData: {
    method: "POST",
    path: "/v1/vtu/data/purchase",
    function: "purchase",
    group: "vtu",
    permission: "vtu",
    input: dataPurchaseRequest,
    data: purchaseResult,
    summary: "Buy a data bundle",
    errors: [...orderErrors, "plan_unavailable", "delivery_failed"],
    example: { input: { network_id: 1, plan_id: 101, ...exampleOrder }, data: { transaction: exampleTransaction } },
  },
  buyAirtime: {
    method: "POST",
    path: "/v1/vtu/airtime/purchase",
    function: "purchase",
    group: "vtu",
    permission: "vtu",
    input: airtimePurchaseRequest,
    data: purchaseResult,
    summary: "Buy airtime",
    errors: [...orderErrors, "delivery_failed"],
    example: {
      input: { network: "mtn", amount: 500, ...exampleOrder, reference: "order-1043" },
      data: {
        transaction: {
          reference: "AIRTIME_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
          status: "success",
          amount: 500,
          description: "MTN airtime for 08031234567",
        },
      },
    },
  },
  verifyNin: {
    method: "POST",
    path: "/v1/identity/nin/verify",
    function: "check-identity",
    group: "identity",
    permission: "identity",
    input: ninVerifyRequest,
    data: ninVerifyResult,
    summary: "Verify a NIN",
    errors: ["consent_required", ...orderErrors, "record_not_found", "delivery_failed", "provider_timeout"],
    example: {
      input: { nin: "00000000000", is_consent: true, mode: "basic" },
      data: {
        transaction: exampleCheck("NIN Verification", 150, "VERIFY_7Z9K3QX1V5B8M2N4C6D0F1G3HJ"),
        result: examplePerson,
      },
    },
  },
  retrieveNin: {
    method: "POST",
    path: "/v1/identity/nin/retrieve",
    function: "check-identity",
    group: "identity",
    permission: "identity:retrieve",
    input: retrieveRequest,
    data: ninRetrievalResult,
    summary: "Find NIN details by phone number",
    errors: ["consent_required", ...orderErrors, "record_not_found", "delivery_failed", "provider_timeout"],
    example: {
      input: { phone_number: "08000000000", is_consent: true },
      data: {
        transaction: exampleCheck("NIN Retrieval", 400, "RETRIEVE_7Z9K3QX1V5B8M2N4C6D0F1G3HJ"),
        result: { nin: "18000000000", ...exampleOwner },
      },
    },
  },
  verifyBvn: {
    method: "POST",
    path: "/v1/identity/bvn/verify",
    function: "check-identity",
    group: "identity",
    permission: "identity",
    input: bvnVerifyRequest,
    data: bvnVerifyResult,
    summary: "Verify a BVN",
    errors: ["consent_required", ...orderErrors, "record_not_found", "delivery_failed", "provider_timeout"],
    example: {
      input: { bvn: "00000000000", is_consent: true, mode: "basic" },
      data: {
        transaction: exampleCheck("BVN Verification", 100, "VERIFY_7Z9K3QX1V5B8M2N4C6D0F1G3HK"),
        result: { ...examplePerson, phone_number: "08000000000" },
      },
    },
  },
  retrieveBvn: {
    method: "POST",
    path: "/v1/identity/bvn/retrieve",
    function: "check-identity",
    group: "identity",
    permission: "identity:retrieve",
    input: retrieveRequest,
    data: bvnRetrievalResult,
    summary: "Find BVN details by phone number",
    errors: ["consent_required", ...orderErrors, "record_not_found", "delivery_failed", "provider_timeout"],
    example: {
      input: { phone_number: "08000000000", is_consent: true },
      data: {
        transaction: exampleCheck("BVN Retrieval", 300, "RETRIEVE_7Z9K3QX1V5B8M2N4C6D0F1G3HK"),
        result: { bvn: "18000000000", ...exampleOwner },
      },
    },
  },
  getWallet: {
    method: "GET",
    path: "/v1/wallet",
    function: "read-account",
    group: "catalog",
    input: nothing,
    data: walletResult,
    summary: "Show the prepaid wallet",
    errors: [],
    example: {
      input: {},
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
    method: "GET",
    path: "/v1/transactions/{reference}",
    function: "read-account",
    group: "catalog",
    input: transactionPath,
    data: z.object({ transaction: transactionView }),
    summary: "Look a transaction up by our reference or the caller's",
    errors: ["not_found", "validation_failed"],
    example: { input: { reference: exampleReference }, data: { transaction: exampleView } },
  },
  listTransactions: {
    method: "GET",
    path: "/v1/transactions",
    function: "read-account",
    group: "catalog",
    input: transactionQuery,
    data: transactionPage,
    summary: "List transactions, newest first",
    errors: ["validation_failed"],
    example: { input: { status: "success" }, data: { transactions: [exampleView], next_cursor: null } },
  },
  describeApi: {
    method: "GET",
    path: "/v1/openapi.json",
    function: "serve-docs",
    group: "catalog",
    input: nothing,
    data: z.looseObject({ openapi: z.string() }),
    document: "application/json",
    summary: "This description of the interface (OpenAPI 3.1)",
    errors: [],
    example: { input: {}, data: { openapi: "3.1.1" } },
  },
  showDocs: {
    method: "GET",
    path: "/v1/docs",
    function: "serve-docs",
    group: "catalog",
    input: nothing,
    data: z.string(),
    document: "text/html",
    summary: "The same description as a page to read",
    errors: [],
    example: { input: {}, data: "<!doctype html>" },
  },
  receiveUpstreamEvent: {
    method: "POST",
    path: "/v1/webhooks/upstream/{token}",
    function: "receive-upstream-event",
    group: "catalog",
    audience: "upstream",
    input: upstreamEvent,
    data: upstreamEventReceipt,
    summary: "Take an event of the upstream in",
    errors: ["not_found", "provider_unavailable"],
    example: {
      input: {
        event: "transaction.updated",
        data: { reference: "U-1", status: "success", amount: 500, type: "data", phone_number: "08031234567" },
      },
      data: { outcome: "accepted" },
    },
  },
} as const satisfies Record<string, Route>;

/** The routes that apps call: the interface as it is described to them. */
export const appRoutes: Readonly<Record<string, Route>> = Object.fromEntries(
  Object.entries<Route>(routes).filter(([, { audience }]) => audience === undefined),
);

type Routes = typeof routes;
export type RouteName = keyof Routes;

/** The route of each name, with the types of its schemas. */
export type RouteTable = { readonly [Name in RouteName]: Route<Routes[Name]["input"], Routes[Name]["data"]> };

/** The names of the routes that one function serves. */
export type RouteOf<Function extends string> = {
  [Name in RouteName]: Routes[Name]["function"] extends Function ? Name : never;
}[RouteName];
export const isRouteOf = <Function extends string>(name: string, served: Function): name is RouteOf<Function> =>
  isRouteName(name) && routes[name].function === served;
const isRouteName = (name: string): name is RouteName => Object.hasOwn(routes, name);

/** API Gateway's name of a route, such as `GET /v1/wallet`. */
export const routeKey = (route: Pick<Route, "method" | "path">): string => `${route.method} ${route.path}`;
