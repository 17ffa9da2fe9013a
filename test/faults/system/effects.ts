import { AsyncLocalStorage } from "node:async_hooks";

/** What a run of our code does to the system outside it, or lets it know. */
export type Effect = {
  readonly place: "dynamodb" | "sqs" | "secrets" | "upstream" | "receiver" | "return";
  readonly name: string;
};

export const faults = [
  /** The process ends before the effect. */
  "dies_before",
  /** The process ends after the effect, and never sees its answer. */
  "dies_after",
  /** It is refused for now: nothing happens. The upstream and receivers say 429. */
  "throttled",
  /** Another write held the item: nothing happens. */
  "conflict",
  /** It does not happen, and no answer comes. */
  "never_arrives",
  /** It happens, and its answer does not come. */
  "answer_lost",
] as const;
export type Fault = (typeof faults)[number];

const WRITES = /^(Put|Update|Delete|TransactWrite)Item/;

/** Whether a fault can happen to an effect at all. */
export const canMeet = ({ place, name }: Effect, fault: Fault): boolean => {
  // An answer to the caller can only be lost with all that came before it done.
  if (place === "return") return fault === "dies_after";
  return fault !== "conflict" || (place === "dynamodb" && WRITES.test(name));
};

/** Decides what an effect meets; it is asked once for each, and the SDK's own repeats of a call meet the same. */
export type FaultPlan = (effect: Effect) => Fault | undefined;

/** One run of our code: a function's invocation, or an operator's command. */
export type Run = { readonly plan: FaultPlan; isDead: boolean; readonly die: () => void };

export const runs = new AsyncLocalStorage<Run>();

export type Ending<Result> =
  | { readonly kind: "returned"; readonly result: Result }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "died" };

/** What a run that has ended waits for. */
export const never = <Result>(): Promise<Result> => new Promise<Result>(() => {});

/** Runs our code under a plan, to its end or to its death. What died does nothing any more. */
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
