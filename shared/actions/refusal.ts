import { AccountError } from "../access/account-store.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { EndpointUrlError } from "../webhooks/address-guard.ts";

/** Whether an action was refused before it changed anything; the message is for the person. */
export const isRefusal = (error: unknown): error is Error =>
  [OperatorError, AccountError, EndpointUrlError].some((kind) => error instanceof kind);
