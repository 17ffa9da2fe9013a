import type { Caller } from "./access.ts";
import { HttpError, invalidField } from "./http.ts";
import type { Outcome } from "./outcomes.ts";
import type { Order, OrderType, SimulatorState } from "./state.ts";
import { settleLater } from "./webhooks.ts";

/** `stall`: the caller gets no response, and the connection is closed after a while. */
export type Result = { readonly kind: "response"; readonly body: unknown } | { readonly kind: "stall" };

/** A well-formed purchase or identity request with its price, and the outcome that its number selects. */
export type OrderRequest = {
  readonly type: OrderType;
  readonly prefix: string;
  readonly amountKobo: number;
  readonly reference: string | undefined;
  readonly networkName: string | null;
  readonly phoneNumber: string | null;
  readonly outcome: Outcome;
  readonly subjectField: string;
  readonly responseBody: (order: Order) => unknown;
};

/** A request whose key, address and rate were checked. */
export type Call = {
  readonly state: SimulatorState;
  readonly path: string;
  readonly caller: Caller;
  readonly body: unknown;
};

/** The outcome of an order that is refused with a 429 of its own. */
export const LIMITED_RECIPIENT = "limited_recipient";

/** Fulfils one request, from the check for a duplicate reference to the response, and records its outcome. */
export const fulfil = ({ state, path, caller, body }: Call, request: OrderRequest): Result => {
  const { outcome, type, prefix, amountKobo, networkName, phoneNumber, subjectField } = request;
  const { mode, key: keyUsed } = caller;
  const reference = request.reference ?? null;
  const record = (name: string): void =>
    void state.requests.push({ path, mode, reference, body, outcome: name, at: new Date(Date.now()).toISOString() });

  if (reference !== null && state.isReferenceUsed(mode, reference)) {
    record("duplicate_reference");
    throw invalidField("reference", "The reference has already been used.");
  }
  if (phoneNumber !== null && state.limitedRecipients.has(phoneNumber)) {
    record(LIMITED_RECIPIENT);
    throw new HttpError(429, "Too many requests for this recipient.");
  }
  if (outcome.kind === "reject") {
    record(outcome.name);
    const errors = outcome.blamesSubject ? { [subjectField]: ["This is not a valid number."] } : undefined;
    throw new HttpError(outcome.httpStatus, outcome.message, errors);
  }

  const newOrder = { path, type, prefix, amountKobo, reference, networkName, phoneNumber, body, mode, keyUsed };
  const order = state.acceptOrder(newOrder);
  if (order === undefined) {
    record("insufficient_balance");
    throw new HttpError(400, "Insufficient wallet balance.");
  }
  record(outcome.name);
  return apply(state, order, outcome, request);
};

const apply = (
  state: SimulatorState,
  order: Order,
  outcome: Exclude<Outcome, { kind: "reject" }>,
  request: OrderRequest,
): Result => {
  // A stalled order stays `processing`, because its outcome is unknown until an event reports it.
  if (outcome.kind === "stall") return { kind: "stall" };
  if (outcome.kind === "fail") {
    state.settle(order, "failed");
    throw new HttpError(outcome.httpStatus, outcome.message);
  }
  if (outcome.status === "success") state.settle(order, "success");
  if (outcome.later !== undefined) settleLater(state, order, outcome.later);
  return { kind: "response", body: request.responseBody(order) };
};
