import type * as z from "#zod";
import type { Call, Caller } from "../call/call.ts";
import { invalid } from "../call/invalid.ts";
import { RESPONSE_BYTES_MAX, responseBytes } from "../call/response-size.ts";
import { ServiceError } from "../contract/errors.ts";
import {
  bvnAdvancedResult,
  bvnBasicResult,
  bvnRetrieveResult,
  type ConsentEvidence,
  type IdentityMode,
  ninAdvancedResult,
  ninBasicResult,
  ninRetrieveResult,
} from "../contract/identity.ts";
import type { Entitlement } from "../contract/permission.ts";
import type { Mode, TransactionType } from "../contract/transaction.ts";
import type { DateOrder } from "../contract/values/date-order.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import type { Kobo } from "../contract/values/money.ts";
import { isVirtualNin } from "../contract/values/own-number.ts";
import { consentPk } from "../ledger/schema.ts";
import type { Settlement } from "../ledger/settle-transaction.ts";
import { type Failure, referenceOf, type Transaction, transactionCore } from "../ledger/transaction.ts";
import { logOutcome } from "../orders/log-outcome.ts";
import type { FinalisedOrder, OrderDeps, PlacedOrder } from "../orders/order.ts";
import { failureError, orderHeaders } from "../orders/order-response.ts";
import {
  finaliseOrder,
  openOrder,
  outcomeNotRecorded,
  prepareOrder,
  refusalOf,
  refuseUncompared,
} from "../orders/place-order.ts";
import { withUpstreamFacts } from "../orders/settlement-facts.ts";
import type { RefusalNotes } from "../orders/upstream-refusal.ts";
import { beforeSettlementMs, type Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { isoTime } from "../platform/time.ts";
import type { PriceRules } from "../prices/price-list.ts";
import { priceOrder } from "../prices/price-order.ts";
import type { CheckOutcome, IdentityCheck, Upstream } from "../upstream/upstream.ts";
import { checkRulesAt } from "./check-rules.ts";
import type { Consent } from "./consent.ts";
import { noteEmptyCheck } from "./empty-checks.ts";
import type { IdentityPrices } from "./identity-prices.ts";
import { isOfAnother, normaliseRecord } from "./normalise-record.ts";
import type { ReplayStore } from "./replay-store.ts";
import type { HashSubject, SubjectHash } from "./subject-hash.ts";

export type IdentityDeps = OrderDeps & {
  readonly gate: RefusalNotes;
  readonly upstreams: Readonly<Record<Mode, Upstream>>;
  readonly identityPrices: IdentityPrices;
  /** How the upstream orders day and month in dates without a month's name. */
  readonly upstreamDates: DateOrder;
  readonly takesVirtualNin: boolean;
  readonly replays: ReplayStore;
  readonly hashSubject: HashSubject;
};

/** Transaction type and title of each product. */
const products = {
  nin: {
    verify: { type: "nin_verification", title: "NIN Verification" },
    retrieve: { type: "nin_retrieval", title: "NIN Retrieval" },
  },
  bvn: {
    verify: { type: "bvn_verification", title: "BVN Verification" },
    retrieve: { type: "bvn_retrieval", title: "BVN Retrieval" },
  },
} as const satisfies Record<IdentityCheck["idType"], Record<string, { type: TransactionType; title: string }>>;

type CommonInput = {
  readonly purpose?: string | undefined;
  readonly consent_evidence?: ConsentEvidence | undefined;
  readonly reference?: string | undefined;
};
type Verification = CommonInput & { readonly mode: IdentityMode };
type Retrieval = CommonInput & { readonly phone_number: string };
type IdentityCall<Input> = Pick<Call<Input>, "input" | "caller" | "request" | "deadline">;

/** POST /identity/nin/verify. */
export const verifyNin =
  (deps: IdentityDeps) => async (call: IdentityCall<Verification & { readonly nin: string }>) => {
    const { nin, mode } = call.input;
    const refusal =
      isVirtualNin(nin) && !deps.takesVirtualNin
        ? invalid({ nin: ["Is a virtual NIN: this upstream takes the 11-digit number only"] })
        : undefined;
    const result = mode === "advanced" ? ninAdvancedResult : ninBasicResult;
    return checkIdentity(deps, call, { ...verification(deps, "nin", nin, mode), refusal, result });
  };

/** POST /identity/bvn/verify. */
export const verifyBvn = (deps: IdentityDeps) => (call: IdentityCall<Verification & { readonly bvn: string }>) =>
  checkIdentity(deps, call, {
    ...verification(deps, "bvn", call.input.bvn, call.input.mode),
    result: call.input.mode === "advanced" ? bvnAdvancedResult : bvnBasicResult,
  });

/** POST /identity/nin/retrieve. */
export const retrieveNin = (deps: IdentityDeps) => (call: IdentityCall<Retrieval>) =>
  checkIdentity(deps, call, { ...retrieval(deps, "nin", call.input.phone_number), result: ninRetrieveResult });

/** POST /identity/bvn/retrieve. */
export const retrieveBvn = (deps: IdentityDeps) => (call: IdentityCall<Retrieval>) =>
  checkIdentity(deps, call, { ...retrieval(deps, "bvn", call.input.phone_number), result: bvnRetrieveResult });

/** A product, and the number that identifies the subject: sent upstream, and stored only as a keyed hash. */
type IdentityRequest<Result extends z.ZodMiniObject> = {
  readonly type: TransactionType;
  readonly title: string;
  readonly extent: IdentityMode | "retrieval";
  /** The price without a price rule. */
  readonly faceKobo: Kobo;
  readonly check: IdentityCheck;
  readonly subject: { readonly field: string; readonly number: string };
  /** Why the upstream cannot be asked for it. A replay is answered: the profile may have allowed its order. */
  readonly refusal?: ServiceError | undefined;
  readonly result: Result;
};

const entitlementFor = {
  basic: "identity",
  advanced: "identity:advanced",
  retrieval: "identity:retrieve",
} as const satisfies Record<IdentityRequest<z.ZodMiniObject>["extent"], Entitlement>;

type IdentityRequestBase = Omit<IdentityRequest<z.ZodMiniObject>, "result">;

const verification = (
  { identityPrices }: IdentityDeps,
  idType: IdentityCheck["idType"],
  number: string,
  mode: IdentityMode,
): IdentityRequestBase => ({
  ...products[idType].verify,
  extent: mode,
  faceKobo: identityPrices[idType][mode],
  check: { kind: "identity", idType, by: { number, mode } },
  subject: { field: idType, number },
});

const retrieval = (
  { identityPrices }: IdentityDeps,
  idType: IdentityCheck["idType"],
  phoneNumber: string,
): IdentityRequestBase => ({
  ...products[idType].retrieve,
  extent: "retrieval",
  faceKobo: identityPrices[idType].retrieve,
  check: { kind: "identity", idType, by: { phoneNumber } },
  subject: { field: "phone_number", number: phoneNumber },
});

/**
 * An identity check: an order whose response contains the result. It does not stay open: without a result it is
 * refunded. The result is stored for replays, then the transaction is settled, then the response is sent; if the
 * settling write finds the transaction refunded, the result is not returned.
 */
const checkIdentity = async <Result extends z.ZodMiniObject>(
  deps: IdentityDeps,
  { input, caller, request: { requestId }, deadline }: IdentityCall<CommonInput>,
  identityRequest: IdentityRequest<Result>,
) => {
  const { type, title, check, subject, extent, refusal } = identityRequest;
  refuseFutureConsent(input.consent_evidence, deps.ledger.clock());
  const [quote, hashed] = await Promise.all([
    refusal ??
      deps.upstreams[caller.mode]
        .assertReady(check, deadline)
        .then(() => priceCheck(deps, caller, identityRequest))
        .then((price) => ({ ...price, description: title }), refusalOf),
    deps.hashSubject(subject.field, subject.number).catch(keyUnusable),
  ]);
  const order = { caller, callerReference: input.reference };
  if (hashed instanceof ServiceError) return refuseUncompared(deps, order, hashed);
  const fields = [subject.field, hashed.hash, extent];
  const prepared = await prepareOrder(deps, { ...order, type, entitlement: entitlementFor[extent], fields }, quote);
  if (prepared.kind === "placed") return responseFor(deps.replays, prepared.placed, identityRequest, undefined);
  const records = [newConsent(prepared.transaction, hashed, extent, requestId, input)];
  const opened = await openOrder(deps, prepared, { records }, deadline);
  if (opened.kind === "placed") return responseFor(deps.replays, opened.placed, identityRequest, undefined);
  const { placed, found } = await checkAndFinalise(deps, identityRequest, opened.transaction, deadline);
  return responseFor(deps.replays, placed, identityRequest, found);
};

const priceCheck = (
  { prices, costs, identityPrices, ledger }: IdentityDeps,
  caller: Caller,
  { type: kind, faceKobo, check: { idType } }: IdentityRequestBase,
) => {
  const atMs = ledger.clock();
  const applied: PriceRules = async (by) => checkRulesAt(await prices(by), identityPrices, idType, atMs);
  return priceOrder({ prices: applied, costs, ledger: { clock: () => atMs } }, caller, { kind, faceKobo });
};

/** By how much a caller's clock may be ahead. */
const CLOCK_AHEAD_MS_MAX = 5 * MINUTE_MS;

const refuseFutureConsent = (evidence: ConsentEvidence | undefined, nowMs: number): void => {
  if (evidence === undefined || Date.parse(evidence.obtained_at) <= nowMs + CLOCK_AHEAD_MS_MAX) return;
  throw invalid({ consent_evidence: ["obtained_at: Must not be in the future"] });
};

const KEY_RETRY_S = 5;
/** Without the hash neither the consent nor the fingerprint can be written, so nothing is charged. */
const keyUnusable = (cause: unknown): ServiceError => {
  log.alarm("identity_key.unusable", errorFields(cause));
  return new ServiceError("provider_unavailable", { retryAfterS: KEY_RETRY_S }, { cause });
};

/** Sends the check upstream and settles it. From the debit on no error may be sent. */
const checkAndFinalise = async <Result extends z.ZodMiniObject>(
  deps: IdentityDeps,
  identityRequest: IdentityRequest<Result>,
  transaction: Transaction,
  deadline: Deadline,
): Promise<{ readonly placed: FinalisedOrder; readonly found?: z.output<Result> | undefined }> => {
  try {
    const outcome = await checkUpstream(deps, identityRequest.check, transaction, deadline);
    const found = readResult(deps, identityRequest, transaction, outcome);
    if (found !== undefined) await storeForReplay(deps.replays, transaction, found, deadline);
    const settlement: Settlement =
      found === undefined ? { status: "failed", failure: failureFor(outcome) } : { status: "success" };
    const fulfilment = { settlement: withUpstreamFacts(settlement, outcome, deps.costs) };
    const placed = await finaliseOrder(deps, transaction, fulfilment, deadline);
    if (outcome.kind === "no_record" && transaction.mode === "live") {
      await noteEmptyCheck(deps.ledger, transaction.account_id, deadline);
    }
    return { placed, found };
  } catch (error) {
    // Without the result, because reconcile-ledger will refund the check.
    return { placed: outcomeNotRecorded(transaction, error) };
  }
};

/** The result of a check that found a record; undefined if there is none, or none that can be returned. */
const readResult = <Result extends z.ZodMiniObject>(
  { upstreamDates, ledger }: IdentityDeps,
  { result, check: { idType }, subject: { field, number } }: IdentityRequest<Result>,
  transaction: Transaction,
  outcome: CheckOutcome,
): z.output<Result> | undefined => {
  if (outcome.kind !== "found") return undefined;
  const found = normaliseRecord(
    outcome.record,
    result,
    // A virtual NIN is not the person's NIN, which the upstream may leave out.
    isVirtualNin(number) ? {} : { [field]: number },
    {
      order: upstreamDates,
      nowMs: ledger.clock(),
      onUnreadable: (date, shape) =>
        log.warn("identity.date_unreadable", { reference: referenceOf(transaction), field: date, shape }),
    },
  );
  if (found === undefined || !fitsResponse(found)) return undefined;
  // It is returned nevertheless: the interface does not say what an upstream's number means.
  if (field === idType && !isVirtualNin(number) && isOfAnother(outcome.record, idType, number)) {
    log.alarm("identity.other_person", { reference: referenceOf(transaction) });
  }
  return found;
};

/**
 * The result for the response: just found, or stored for the replay; null while the first request is in flight. A
 * result whose settlement is queued is returned, because the check will be charged and without a reference it could not
 * be replayed.
 */
const resultFor = async <Result extends z.ZodMiniObject>(
  replays: ReplayStore,
  placed: PlacedOrder,
  schema: Result,
  found: z.output<Result> | undefined,
): Promise<z.output<Result> | null> => {
  const { transaction, replayed } = placed;
  if (transaction.status === "failed") throw failureError(transaction, replayed);
  if (transaction.status === "processing") return found ?? null;
  const result = replayed ? schema.safeParse(await replays.find(transaction)).data : found;
  if (result !== undefined) return result;
  throw new ServiceError("reference_reused", {
    message: "The check was charged, and its result is no longer kept. Another one needs a new reference",
    replayed,
    fields: { reference: ["Was used before, and its result is no longer kept: choose another"] },
    transactionReference: referenceOf(transaction),
  });
};

const fitsResponse = (result: unknown): boolean => responseBytes(JSON.stringify(result)) <= RESPONSE_BYTES_MAX;

const responseFor = async <Result extends z.ZodMiniObject>(
  replays: ReplayStore,
  placed: PlacedOrder,
  { title, result: schema }: Pick<IdentityRequest<Result>, "title" | "result">,
  found: z.output<Result> | undefined,
) => {
  const result = await resultFor(replays, placed, schema, found);
  return {
    message: result === null ? "The check is being processed" : "The record was found",
    data: { transaction: { title, ...transactionCore(placed.transaction) }, result },
    headers: orderHeaders(placed),
  };
};

const checkUpstream = async (
  { upstreams, gate, costs }: IdentityDeps,
  check: IdentityCheck,
  transaction: Transaction,
  deadline: Deadline,
): Promise<CheckOutcome> => {
  const { mode } = transaction;
  const outcome = await upstreams[mode].check(check, referenceOf(transaction), deadline);
  logOutcome(transaction, outcome, costs);
  if (mode === "live") await gate.noteOutcome(outcome, deadline);
  return outcome;
};

/** A failure to store the result does not fail the request, nor delay its settlement. */
const storeForReplay = async (
  replays: ReplayStore,
  transaction: Transaction,
  result: Readonly<Record<string, unknown>>,
  deadline: Deadline,
): Promise<void> => {
  if (transaction.caller_reference === undefined) return;
  try {
    await replays.store(transaction, result, beforeSettlementMs(deadline));
  } catch (error) {
    log.warn("replay.not_stored", { reference: referenceOf(transaction), ...errorFields(error) });
  }
};

/** Why a check without a result failed. */
const failureFor = (outcome: CheckOutcome): Failure => {
  if (outcome.kind === "no_record") return { code: "record_not_found" };
  if (outcome.kind === "refused" && outcome.fields.length > 0) {
    return { code: "validation_failed", fields: [...outcome.fields] };
  }
  if (outcome.kind === "unknown" && outcome.reason === "timeout") return { code: "provider_timeout" };
  return { code: "delivery_failed" };
};

/** The consent is written together with the debit. */
const newConsent = (
  transaction: Transaction,
  { hash, keyId }: SubjectHash,
  extent: Consent["extent"],
  requestId: string,
  { purpose, consent_evidence: evidence }: CommonInput,
): Consent => ({
  pk: consentPk(transaction),
  account_id: transaction.account_id,
  key_id: transaction.key_id,
  mode: transaction.mode,
  subject: hash,
  subject_key: keyId,
  operation: transaction.type,
  extent,
  ...(purpose !== undefined && { purpose }),
  ...(evidence && { evidence: { ...evidence, obtained_at: isoTime(Date.parse(evidence.obtained_at)) } }),
  request_id: requestId,
  created_at: transaction.created_at,
});
