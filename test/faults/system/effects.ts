import { AsyncLocalStorage } from "node:async_hooks";

/** A call of our code to something outside it, or its return. */
export type Effect = {
  readonly place: "dynamodb" | "sqs" | "secrets" | "upstream" | "receiver" | "return";
  readonly name: string;
};

export const faults = [
  /** The process ends before the effect. */
  "dies_before",
  /** The process ends after the effect, and never sees its answer. */
  "dies_after",
  /** It is refused for now, without an effect. The upstream and receivers answer 429. */
  "throttled",
  /** Another write held the item, without an effect. */
  "conflict",
  /** It has no effect, and no answer comes. */
  "never_arrives",
  /** It takes effect, and its answer does not come. */
  "answer_lost",
  /** Its answer does not come, and it takes effect when `landLateWrites` says so. */
  "lands_late",
] as const;
export type Fault = (typeof faults)[number];

const WRITES = /^(Put|Update|Delete|TransactWrite)Item/;

/** Whether a fault can hit an effect. */
export const canHit = ({ place, name }: Effect, fault: Fault): boolean => {
  // An answer to the caller can only be lost, after everything before it.
  if (place === "return") return fault === "dies_after";
  const isOfWrites = fault === "conflict" || fault === "lands_late";
  return !isOfWrites || (place === "dynamodb" && WRITES.test(name));
};

/** Decides which fault hits an effect. It is called once for each: the SDK's own retries of a call get the same. */
export type FaultPlan = (effect: Effect) => Fault | undefined;

/** One run of our code: a function's invocation, or an operator's command. */
export type Run = { readonly plan: FaultPlan; isDead: boolean; readonly die: () => void };

export const runs = new AsyncLocalStorage<Run>();

export type Ending<Result> =
  | { readonly kind: "returned"; readonly result: Result }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "died" };

/** A killed run's pending calls never resolve. */
export const never = <Result>(): Promise<Result> => new Promise<Result>(() => {});

/** Runs the code under a plan until it ends or is killed. A killed run has no further effects. */
export const runUnder = async <Result>(plan: FaultPlan, work: () => Promise<Result>): Promise<Ending<Result>> => {
  const death = Promise.withResolvers<Ending<Result>>();
  const run: Run = {
    plan,
    isDead: false,
    die: () => {
      run.isDead = true;
      death.resolve({ kind: "died" });
    },
  };
  const life = runs.run(run, async (): Promise<Ending<Result>> => {
    try {
      return { kind: "returned", result: await work() };
    } catch (error) {
      return { kind: "threw", error };
    }
  });
  const ending = await Promise.race([life, death.promise]);
  if (ending.kind === "died") return ending;
  return plan({ place: "return", name: ending.kind }) === "dies_after" ? { kind: "died" } : ending;
};
