import { type Received, type ServiceRequest, wholeNumber } from "./attempt.ts";
import { cancelOrder } from "./cancel.ts";
import type { IdentityTransaction, PurchasedTransaction, TransactionType } from "./contract-types.ts";
import { OutcomeUnknownError, ServiceError, withTransaction } from "./errors.ts";
import { isRecord, jsonInSnakeCase } from "./field-names.ts";
import { type CallOptions, send } from "./send.ts";
import type { Settings } from "./settings.ts";
import { checkReference, isTransaction } from "./transaction.ts";

/** Options of an order: a purchase or an identity check. */
export type OrderOptions = CallOptions & {
  /**
   * Your own id of the order. Save it with your order before this call, and use it again for the same order. Without
   * one the client makes one, which is lost if the process ends: then the order cannot be repeated safely.
   */
  readonly reference?: string;
};

/** Options of a purchase. */
export type PurchaseOptions = OrderOptions & {
  /** The order is meant, although it is like one that was placed shortly before: see `PossibleDuplicateError`. */
  readonly confirmDuplicate?: boolean;
};

type Placed = {
  /** The order's own reference: the caller's, or the one that the client made. */
  readonly callerReference: string;
  /** True if an earlier request with this reference made the transaction. */
  readonly replayed: boolean;
};

/** A purchase as the service knows it. `processing`: wait for it, and never order again. */
export type Order = Readonly<PurchasedTransaction> &
  Placed & {
    /** While the order waits: the estimated seconds until its delivery, if the service names them. */
    readonly estimatedDeliveryS?: number;
  };

/** An identity check. `result` is null only while the status is `processing`. */
export type Check<Result> = Readonly<IdentityTransaction> & Placed & { readonly result: Readonly<Result> | null };

type OrderRoute = {
  readonly operation: string;
  readonly path: string;
  readonly type: TransactionType;
  readonly headers?: Readonly<Record<string, string>>;
};
const CONFIRMED = { headers: { "x-confirm-duplicate": "true" } };

export const purchase = (
  settings: Settings,
  route: OrderRoute,
  body: OrderedFields,
  { confirmDuplicate, ...options }: PurchaseOptions,
): Promise<Order> =>
  placeOrder(
    settings,
    { ...route, ...(confirmDuplicate && CONFIRMED) },
    body,
    options,
    ({ data, headers }, placed): Order | undefined => {
      if (!isRecord(data) || !isTransaction<PurchasedTransaction>(settings, data.transaction)) return undefined;
      if (!isOf(route, body, placed, data.transaction)) return undefined;
      const estimatedDeliveryS = wholeNumber(headers.get("x-estimated-delivery"));
      return { ...data.transaction, ...placed, ...(estimatedDeliveryS !== undefined && { estimatedDeliveryS }) };
    },
  );

/**
 * A check whose first request is still in flight is answered without its result, which only the same request can get,
 * within 10 minutes: a lookup does not show it (docs/interface.md 7.D8, 12.D11). So it is sent again.
 */
export const check = <Result extends object>(
  settings: Settings,
  route: OrderRoute,
  body: object,
  options: OrderOptions,
): Promise<Check<Result>> =>
  placeOrder(
    settings,
    route,
    body,
    options,
    ({ data }, placed): Check<Result> | undefined =>
      isRecord(data) &&
      isTransaction<IdentityTransaction>(settings, data.transaction) &&
      isOf(route, {}, placed, data.transaction) &&
      isResult<Result>(data.result)
        ? { ...data.transaction, ...placed, result: data.result }
        : undefined,
    ({ status, result }) => status === "processing" && result === null,
  );

const placeOrder = async <Data>(
  settings: Settings,
  { operation, path, type, headers }: OrderRoute,
  body: object,
  options: OrderOptions,
  read: (answer: Received, placed: Placed) => Data | undefined,
  isPreliminary?: (data: Data) => boolean,
): Promise<Data> => {
  if ("reference" in body) throw new TypeError("Pass the reference in the second argument: { reference }");
  const reference = referenceFrom(options);
  const request: ServiceRequest<Data> = {
    operation,
    method: "POST",
    path,
    ...(headers && { headers }),
    body: jsonInSnakeCase({ ...body, reference }),
    reference,
    read: (answer) =>
      read(answer, {
        callerReference: reference,
        replayed: answer.headers.get("idempotent-replayed") === "true",
      }),
    ...(isPreliminary && { isPreliminary }),
  };
  const { timeoutMs = settings.timeoutMs } = options;
  const deadline = performance.now() + timeoutMs;
  const left = (): CallOptions => ({ ...options, timeoutMs: Math.max(deadline - performance.now(), LAST_STEP_MS) });
  try {
    return await send(settings, request, options);
  } catch (error) {
    const refusal = error instanceof OutcomeUnknownError ? error.cause : undefined;
    if (!isLasting(refusal)) throw error;
    const found = await cancelOrder(settings, { reference, type }, left()).catch(() => undefined);
    if (found === undefined) throw error;
    if (found.errorCode === "order_cancelled") throw withTransaction(refusal, found.reference);
    // Another request than the refused one placed the order: a replay is its answer.
    return send(settings, request, left(), true);
  }
};

/** Time for a cancellation whose order was refused at the deadline. */
const LAST_STEP_MS = 1_000;

/**
 * A refusal that the same order meets again. It decides nothing by itself: a copy that something on the way sends later
 * can still be carried out, for example once the wallet is funded. So the order is cancelled, and then has failed. One
 * of the reference itself is left to the app: another order has it, or it holds the person's number.
 */
const isLasting = (error: unknown): error is ServiceError =>
  error instanceof ServiceError &&
  (error.status === 400 || error.status === 422) &&
  error.code !== "reference_reused" &&
  error.fields.reference === undefined;

/** What the answer to a purchase repeats of it. Its amount may be another one: an account can have prices of its own. */
type OrderedFields = { readonly phoneNumber?: string };

/**
 * True if the transaction is this order's: a mixed-up connection or a cache can bring another one. Of an old order only
 * the last digits of the phone number are shown, after stars.
 */
const isOf = (
  { type }: Pick<OrderRoute, "type">,
  { phoneNumber = "" }: OrderedFields,
  { callerReference }: Placed,
  transaction: Omit<IdentityTransaction, "title"> & { readonly phoneNumber?: string | null },
): boolean =>
  transaction.callerReference === callerReference &&
  transaction.type === type &&
  phoneNumber.endsWith((transaction.phoneNumber ?? "").replace(/^\*+/, ""));

const isResult = <Result extends object>(value: unknown): value is Result | null => value === null || isRecord(value);

/** A reference that is given but has no value must not silently become another order. */
const referenceFrom = (options: OrderOptions): string =>
  "reference" in options ? checkReference(options.reference) : newReference();

/** 128 random bits. It has no digits, so it cannot contain the order's phone number, which the service refuses. */
const newReference = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => "abcdefghijklmnop"[byte % 16]).join("");
