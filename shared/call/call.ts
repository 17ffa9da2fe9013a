import type { ServiceError } from "../contract/errors.ts";
import type { Route } from "../contract/route.ts";
import type { Mode } from "../contract/transaction.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { ApiRequest } from "./request.ts";
import type { Rate } from "./result.ts";

/** The account and the key of a request. */
export type Caller = { readonly accountId: string; readonly keyId: string; readonly mode: Mode };

/** The caller, or why the request is refused. The rate is known either way once a key was recognised. */
export type Admission =
  | { readonly rate: Rate; readonly caller: Caller }
  | { readonly rate: Rate; readonly refusal: ServiceError };
export type Admit = (route: Route, request: ApiRequest) => Promise<Admission>;

/** One admitted request with its parsed input. */
export type Call<Input> = {
  readonly input: Input;
  readonly caller: Caller;
  readonly request: ApiRequest;
  readonly deadline: Deadline;
};
