import * as z from "zod";
import { catalogSchema } from "./catalog.ts";
import type { RateGroup } from "./limits.ts";
import { dataPurchaseRequest, purchaseResult } from "./purchase.ts";
import { transactionPage, transactionPath, transactionQuery, transactionView } from "./transaction.ts";
import { walletResult } from "./wallet.ts";

/** The rights that a key can hold. New keys get `vtu` and `identity`. */
export const permissionSchema = z.enum(["vtu", "identity", "identity:retrieve"]);
export type Permission = z.infer<typeof permissionSchema>;

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
  readonly summary: string;
};

const nothing = z.object({});

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
  },
  getWallet: {
    method: "GET",
    path: "/v1/wallet",
    function: "read-account",
    group: "catalog",
    input: nothing,
    data: walletResult,
    summary: "Show the prepaid wallet",
  },
  getTransaction: {
    method: "GET",
    path: "/v1/transactions/{reference}",
    function: "read-account",
    group: "catalog",
    input: transactionPath,
    data: z.object({ transaction: transactionView }),
    summary: "Look a transaction up by our reference or the caller's",
  },
  listTransactions: {
    method: "GET",
    path: "/v1/transactions",
    function: "read-account",
    group: "catalog",
    input: transactionQuery,
    data: transactionPage,
    summary: "List transactions, newest first",
  },
} as const satisfies Record<string, Route>;

export type Operation = keyof typeof routes;

/** The operations that one function serves. */
export type OperationOf<Function extends string> = {
  [Name in Operation]: (typeof routes)[Name]["function"] extends Function ? Name : never;
}[Operation];

/** API Gateway's name of a route, such as `GET /v1/wallet`. */
export const routeKey = (route: Pick<Route, "method" | "path">): string => `${route.method} ${route.path}`;
