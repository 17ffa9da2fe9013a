import { freeze, type Process, processes, schedule, simulate, thaw } from "./clock.ts";
import type { Ending, FaultPlan } from "./effects.ts";

const noFaults: FaultPlan = () => undefined;

export const newProcess = (name: string): Process => ({
  name,
  state: "runs",
  clockAheadMs: 0,
  held: [],
  plan: noFaults,
  die: () => {},
  loaded: () => {},
});

/** Does work in a process, which is thawed for it and frozen afterwards. A killed process's pending calls never resolve. */
export const workIn = <Result>(
  process: Process,
  plan: FaultPlan,
  work: () => Promise<Result>,
): Promise<Ending<Result>> =>
  simulate(async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<Ending<Result>>();
    process.plan = plan;
    process.die = () => {
      process.state = "dead";
      end({ kind: "died" });
    };
    const begin = async (): Promise<void> => {
      try {
        end({ kind: "returned", result: await work() });
      } catch (error) {
        end({ kind: "threw", error });
      }
    };
    thaw(process, "socket");
    schedule(0, () => processes.run(process, () => void begin()), process);
    const ending = await ended;
    if (ending.kind !== "died" && plan({ place: "return", name: ending.kind }) === "dies_after") process.die();
    freeze(process);
    process.plan = noFaults;
    return process.state === "dead" ? { kind: "died" } : ending;
  });
