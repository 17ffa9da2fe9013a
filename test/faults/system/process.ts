import { type Awakening, freeze, type Process, processes, simulate, thaw } from "./clock.ts";
import { type Effect, type Ending, type Fault, type FaultPlan, isFreezeEffect } from "./effects.ts";
import { connectionsOf } from "./network.ts";

const noFaults: FaultPlan = () => undefined;

export const newProcess = (name: string, weather: FaultPlan = noFaults): Process => ({
  name,
  state: "runs",
  clockAheadMs: 0,
  held: [],
  plan: noFaults,
  weather,
  die: () => {},
  loaded: () => {},
});

/**
 * Does work in a process, which is thawed for it and frozen afterwards. A killed process's pending
 * calls never resolve.
 */
export const workIn = <Result>(
  process: Process,
  plan: FaultPlan,
  work: () => Promise<Result>,
  first: Awakening = "socket",
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
    const faultAt = (effect: Effect): Fault | undefined => plan(effect) ?? process.weather(effect);
    const idle = [...connectionsOf(process)];
    const fault = idle.length > 0 ? faultAt({ place: "thaw", name: process.name }) : undefined;
    if (isFreezeEffect(fault)) for (const connection of idle) connection.lose(fault);
    // It may be harmless if sockets are read first.
    thaw(process, isFreezeEffect(fault) && first === "socket" ? "work" : first, () =>
      processes.run(process, () => void begin()),
    );
    const ending = await ended;
    if (ending.kind !== "died" && faultAt({ place: "return", name: ending.kind }) === "dies_after") process.die();
    freeze(process);
    process.plan = noFaults;
    return process.state === "dead" ? { kind: "died" } : ending;
  });
