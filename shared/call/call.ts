import type { ServiceError } from "../contract/errors.ts";
import type { CallerLimits } from "../contract/order-limits.ts";
import type { Entitlements } from "../contract/permission.ts";
import type { Route } from "../contract/route.ts";
import type { Mode } from "../contract/transaction.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { Rate } from "./result.ts";

/** The account and the key of a request. `entitlements`: what both allow. */
export type Caller = {
  readonly accountId: string;
  readonly keyId: string;
  readonly mode: Mode;
  readonly entitlements: Entitlements;
  /** The version of the account's price rules; absent if it has none. */
  readonly priceList?: number | undefined;
  /** Seconds in which a purchase like an earlier one is refused; absent if none is. */
  readonly duplicateWindowS?: number | undefined;
  /** What the account and the key may order at most; absent if neither has a limit. */
  readonly limits?: CallerLimits | undefined;
};

/** What admissions and operations read of a request, whatever brought it. */
export type CallRequest = {
  readonly requestId: string;
  readonly sourceIp: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly body: () => Buffer;
};

/** The caller, or why the request is refused. The rate is known either way once a key was recognised. */
export type Admission =
  | { readonly rate: Rate; readonly caller: Caller }
  | { readonly rate: Rate; readonly refusal: ServiceError };
export type Admit = (route: Route, request: CallRequest) => Promise<Admission>;

/** One admitted request with its parsed input. */
export type Call<Input> = {
  readonly input: Input;
  readonly caller: Caller;
  readonly request: CallRequest;
  readonly deadline: Deadline;
};
