import { wireFaults } from "../../strict/faults.ts";

/** A call of our code to something outside it, its return, or its process's awakening with open connections. */
export type Effect = {
  readonly place: "dynamodb" | "sqs" | "secrets" | "upstream" | "receiver" | "return" | "thaw";
  readonly name: string;
};

export const faults = [
  /** The process ends before the effect. */
  "dies_before",
  /** The process ends after the effect, and never sees its answer. */
  "dies_after",
  /** The process ends when it has written half of its request. */
  "dies_writing",
  /** Where no answer comes, the connection may be reset. The upstream and receivers are throttled by 429. */
  ...wireFaults,
  /** While the process was frozen, the servers closed its idle connections. */
  "fin",
  /** The same, by a reset. */
  "rst",
  /** Something on the way forgot them, and answers the next byte with a reset. */
  "forgotten",
  /** The same, and nothing answers. */
  "swallowed",
] as const;
export type Fault = (typeof faults)[number];

/** What can become of the connections of a frozen process. */
export const freezeEffects = ["fin", "rst", "forgotten", "swallowed"] as const satisfies readonly Fault[];
export type FreezeEffect = (typeof freezeEffects)[number];
export const isFreezeEffect = (fault: Fault | undefined): fault is FreezeEffect =>
  freezeEffects.some((effect) => effect === fault);

const WRITES = /^(Put|Update|Delete|TransactWrite)Item/;

/** Whether a fault can hit an effect. */
export const canHit = ({ place, name }: Effect, fault: Fault): boolean => {
  // An answer to the caller can only be lost, after everything before it.
  if (place === "return") return fault === "dies_after";
  if (place === "thaw" || isFreezeEffect(fault)) return place === "thaw" && isFreezeEffect(fault);
  const isOfWrites = fault === "conflict" || fault === "lands_late";
  return !isOfWrites || (place === "dynamodb" && WRITES.test(name));
};

/** Decides which fault hits an effect. It is called once for each: the SDK's own retries of a call get the same. */
export type FaultPlan = (effect: Effect) => Fault | undefined;

export type Ending<Result> =
  | { readonly kind: "returned"; readonly result: Result }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "died" };
