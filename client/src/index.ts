export type { Cancellation } from "./cancel.ts";
export {
  AirtimeClient,
  type AirtimeOrder,
  type BvnVerification,
  type CheckMode,
  type DataOrder,
  type NinVerification,
  type Retrieval,
} from "./client.ts";
export type {
  BvnAdvancedResult,
  BvnBasicResult,
  BvnRetrieveResult,
  Catalog,
  CatalogUpdated,
  DataPlan,
  LimitNear,
  Network,
  NinAdvancedResult,
  NinBasicResult,
  NinRetrieveResult,
  Transaction,
  TransactionStatus,
  TransactionType,
  TransactionUpdated,
  WalletLow,
  WebhookTest,
} from "./contract-types.ts";
export {
  AbortedError,
  AirtimeError,
  AuthenticationError,
  DeliveryFailedError,
  type ErrorCode,
  InsufficientBalanceError,
  InternalError,
  InvalidRequestError,
  LimitReachedError,
  NoAnswerError,
  type NoAnswerReason,
  NotFoundError,
  OrderCancelledError,
  OutcomeUnknownError,
  PermissionError,
  PlanUnavailableError,
  PossibleDuplicateError,
  PriceChangedError,
  ProviderTimeoutError,
  RateLimitedError,
  type RateState,
  RecordNotFoundError,
  ReferenceReusedError,
  ServiceError,
  UnavailableError,
  WaitEndedError,
  WebhookVerificationError,
} from "./errors.ts";
export type { Check, Order, OrderOptions, PurchaseOptions } from "./order.ts";
export type { CallOptions } from "./send.ts";
export type { AttemptEvent, ClientOptions } from "./settings.ts";
export type { FinalTransaction, TransactionFilter, Transactions } from "./transactions.ts";
export { type OtherEvent, verifyWebhook, type WebhookEvent, type WebhookHeaders } from "./webhooks.ts";
