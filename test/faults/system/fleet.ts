import { contextOf, type Handler, type Invoke, loadHandler, timeoutMsOf } from "../../../tools/local/functions.ts";
import { hold, now, type Process, processes, schedule, simulate } from "./clock.ts";
import type { FaultPlan } from "./effects.ts";
import { newProcess, workIn } from "./process.ts";

const FUNCTIONS = new URL("../../../functions/", import.meta.url);

/** A process that serves one function, one invocation at a time, as Lambda's do. */
type Instance = { readonly process: Process; handler: Handler | undefined; isBusy: boolean };

/** The functions as Lambda runs them: in as many processes as there are simultaneous invocations. */
export type Fleet = {
  readonly invoke: Invoke;
  /** Starts a process of each function that has none any more because they died. */
  readonly revive: () => Promise<void>;
  /** Ends all processes: the next invocations start new ones. */
  readonly end: () => void;
};

export const openFleet = (planOf: () => FaultPlan): Fleet => {
  let instances = new Map<string, Instance[]>();
  let started = 0;
  /** One module is fetched after the other, so that their order does not depend on the machine. */
  let fetched = Promise.resolve();

  const start = async (name: string, instance: Instance): Promise<Handler> => {
    if (instance.handler !== undefined) return instance.handler;
    const { process } = instance;
    const previous = fetched;
    const mine = Promise.withResolvers<void>();
    fetched = mine.promise;
    await previous;
    const release = hold();
    // From its first connection on it goes on in simulated time.
    process.loaded = () => {
      release();
      mine.resolve();
    };
    try {
      instance.handler = await processes.run(process, () => loadHandler(name, FUNCTIONS));
      return instance.handler;
    } finally {
      process.loaded();
    }
  };

  const freeInstance = (name: string): Instance => {
    const running = (instances.get(name) ?? []).filter(({ process }) => process.state !== "dead");
    const idle = running.find(({ isBusy }) => !isBusy);
    if (idle !== undefined) return idle;
    started += 1;
    const instance = { process: newProcess(`${name} ${started}`), handler: undefined, isBusy: false };
    instances.set(name, [...running, instance]);
    return instance;
  };

  return {
    invoke: async (name, event, timeoutMs = timeoutMsOf(name)) => {
      const instance = freeInstance(name);
      instance.isBusy = true;
      const handler = await simulate(() => start(name, instance));
      const endsMs = now() + timeoutMs;
      const timeout = schedule(timeoutMs, () => instance.process.die());
      const ending = await workIn(instance.process, planOf(), () => handler(event, contextOf(name, endsMs)));
      timeout.isOver = true;
      instance.isBusy = false;
      if (ending.kind === "returned") return ending.result;
      throw new Error(`The invocation of ${name} ${ending.kind}`, { cause: ending });
    },
    revive: async () => {
      for (const name of instances.keys()) await simulate(() => start(name, freeInstance(name)));
    },
    end: () => {
      instances = new Map();
    },
  };
};
