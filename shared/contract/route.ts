import * as z from "#zod";
import type { ErrorCode } from "./errors.ts";
import type { RateGroup } from "./limits.ts";
import type { Permission } from "./permission.ts";

/** One route, as API Gateway, the local runner, the handlers and the OpenAPI document read it. */
export type Route<Input extends z.ZodMiniObject = z.ZodMiniObject, Data extends z.ZodMiniType = z.ZodMiniType> = {
  readonly method: "GET" | "POST";
  /** API Gateway's spelling: `/v1/transactions/{reference}`. */
  readonly path: `/v1/${string}`;
  /** The folder below functions/ that serves it. */
  readonly function: string;
  readonly group: RateGroup;
  /** One of them is sufficient. */
  readonly permissions?: readonly Permission[];
  /** The JSON body of a POST; the path and query parameters of a GET. */
  readonly input: Input;
  /** `data` of the success envelope. */
  readonly data: Data;
  /** The media type of a public document: it needs no key and has no envelope. */
  readonly document?: "application/json" | "text/html";
  /** The response has an `ETag` and can be 304. */
  readonly hasEtag?: true;
  /** Set if the caller is not an app. */
  readonly audience?: "upstream";
  readonly summary: string;
  /** The method of the TypeScript client (client/README.md); absent for what no app calls. */
  readonly clientMethod?: string;
  readonly description?: string;
  /** Errors beyond those of `errorsOf`. */
  readonly errors: readonly ErrorCode[];
  /** `message` is that of a success; a document has none. */
  readonly example: { readonly input: unknown; readonly message?: string; readonly data: unknown };
};

/** Routes by the names of their operations. */
export type Routes = Readonly<Record<string, Route>>;

/** Errors of every route with a key. */
const keyErrors = [
  "missing_api_key",
  "invalid_api_key",
  "account_restricted",
  "ip_not_whitelisted",
  "rate_limited",
  "internal_error",
] as const;
const bodyErrors = ["invalid_json", "missing_parameter", "validation_failed"] as const;
export const orderErrors = [
  "limit_reached",
  "insufficient_balance",
  "reference_reused",
  "order_cancelled",
  "provider_unavailable",
] as const;

export const errorsOf = ({ method, permissions, document, errors }: Route): readonly ErrorCode[] => [
  ...(document ? (["internal_error"] as const) : keyErrors),
  ...(permissions ? (["permission_denied"] as const) : []),
  ...(method === "POST" ? bodyErrors : []),
  ...errors,
];

/** True if the route makes a transaction and accepts a reference. */
export const isOrder = ({ method, input }: Route): boolean => method === "POST" && "reference" in input.shape;

export const noInput = z.object({});

/** API Gateway's name of a route, such as `GET /v1/wallet`. */
export const routeKey = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`;
