import type { Caller } from "./access.ts";
import type { Outcome } from "./outcomes.ts";
import type { Order, OrderType, SimulatorState } from "./state.ts";
import { settleLater } from "./webhooks.ts";
import { Refusal } from "./wire.ts";

/** `stall` keeps the caller waiting and then hangs up. */
export type Reply = { kind: "answer"; body: unknown } | { kind: "stall" };

/** A well-formed purchase or identity request, priced, with the outcome that its number asks for. */
export type Ask = {
  type: OrderType;
  prefix: string;
  amountKobo: number;
  reference: string | undefined;
  networkName: string | null;
  phoneNumber: string | null;
  outcome: Outcome;
  subjectField: string;
  answer: (order: Order) => unknown;
};

type Context = { state: SimulatorState; path: string; caller: Caller; body: unknown };

/** Carries out one request, from the repeated reference to the answer, and notes what became of it. */
export function fulfil(context: Context, ask: Ask): Reply {
  const { state, path, caller, body } = context;
  const { outcome, type, prefix, amountKobo, networkName, phoneNumber } = ask;
  const reference = ask.reference ?? null;
  const note = (name: string) =>
    state.requests.push({ path, keyKind: caller.mode, reference, body, outcome: name, at: new Date().toISOString() });

  if (reference !== null && state.isUsed(caller.mode, reference)) {
    note("repeated_reference");
    const errors = { reference: ["The reference has already been used."] };
    throw new Refusal(422, "The given data was invalid.", errors);
  }
  if (outcome.kind === "refuse") {
    note(outcome.name);
    const errors = outcome.blamesSubject ? { [ask.subjectField]: ["This is not a valid number."] } : undefined;
    throw new Refusal(outcome.httpStatus, outcome.message, errors);
  }

  const order = state.takeOrder({
    ...{ path, type, prefix, amountKobo, reference, networkName, phoneNumber, body },
    mode: caller.mode,
    keyUsed: caller.key,
  });
  if (order === undefined) {
    note("insufficient_balance");
    throw new Refusal(400, "Insufficient wallet balance.");
  }
  note(outcome.name);
  return finish(state, order, outcome, ask);
}

function finish(state: SimulatorState, order: Order, outcome: Exclude<Outcome, { kind: "refuse" }>, ask: Ask): Reply {
  // A stalled order stays `processing`: nobody outside can know how it ends until an event says so.
  if (outcome.kind === "stall") return { kind: "stall" };
  if (outcome.kind === "fail") {
    state.settle(order, "failed");
    throw new Refusal(outcome.httpStatus, outcome.message);
  }
  if (outcome.status === "success") state.settle(order, "success");
  if (outcome.later !== undefined) settleLater(state, order, outcome.later);
  return { kind: "answer", body: ask.answer(order) };
}
