import { scheduledFunctions } from "../../../infra/schedules.ts";
import { contextOf, type Handler, type Invoke, loadHandler, timeoutMsOf } from "../../../tools/local/functions.ts";
import type { Chance } from "../../strict/chance.ts";
import { awakenings, hold, now, type Process, processes, schedule, simulate } from "./clock.ts";
import type { Ending, FaultPlan } from "./effects.ts";
import { newProcess, workIn } from "./process.ts";
import { meet } from "./realities.ts";

const FUNCTIONS = new URL("../../../functions/", import.meta.url);

/** A process that serves one function, one invocation at a time, as Lambda's do. */
type Instance = { readonly process: Process; handler: Handler | undefined; isBusy: boolean };

/** One invocation, as AWS measures it. */
export type Invocation = {
  readonly name: string;
  readonly begunMs: number;
  readonly endedMs: number;
  readonly ending: Ending<unknown>["kind"];
};

/** The functions as Lambda runs them: in as many processes as there are simultaneous invocations. */
export type Fleet = {
  readonly invoke: Invoke;
  /** Starts a process of each function that has none any more because they died. */
  readonly revive: () => Promise<void>;
  /** This many processes of each function take turns; more only where more work at the same time. */
  spread: number;
  readonly processes: () => readonly Process[];
  /** Ends all processes: the next invocations start new ones. */
  readonly end: () => void;
};

export const openFleet = (parts: {
  readonly plan: () => FaultPlan;
  readonly weather: FaultPlan;
  readonly chance: () => Chance;
  readonly note: (invocation: Invocation) => void;
}): Fleet => {
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
    const idle = running.filter(({ isBusy }) => !isBusy);
    if (idle.length < running.length) {
      meet("several processes of a function at once");
      if (scheduledFunctions.some((schedule) => schedule === name)) meet("overlapping runs of a schedule");
    }
    const chosen = running.length < fleet.spread ? undefined : parts.chance().oneOf(idle);
    if (chosen !== undefined) return chosen;
    started += 1;
    const instance = { process: newProcess(`${name} ${started}`, parts.weather), handler: undefined, isBusy: false };
    instances.set(name, [...running, instance]);
    return instance;
  };

  const fleet: Fleet = {
    spread: 1,
    processes: () => [...instances.values()].flat().map(({ process }) => process),
    invoke: async (name, event, timeoutMs = timeoutMsOf(name)) => {
      const instance = freeInstance(name);
      instance.isBusy = true;
      const handler = await simulate(() => start(name, instance));
      const begunMs = now();
      const endsMs = begunMs + timeoutMs;
      const timeout = schedule(timeoutMs, () => instance.process.die());
      const work = () => handler(event, contextOf(name, endsMs));
      const ending = await workIn(instance.process, parts.plan(), work, parts.chance().oneOf(awakenings));
      timeout.isOver = true;
      parts.note({ name, begunMs, endedMs: now(), ending: ending.kind });
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
  return fleet;
};
