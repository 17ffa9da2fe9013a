type Stop = () => Promise<void> | void;

/**
 * In order: what brings in work or runs it, then the services that this work needs, then what all of them need. Each
 * phase stops everything in parallel, because several parts may take 2 s each and a shutdown at most 3 s.
 */
const phases = ["inbound", "dependencies", "process"] as const;
export type ShutdownPhase = (typeof phases)[number];

export type Shutdown = ReturnType<typeof createShutdown>;

export const createShutdown = () => {
  const stops: Record<(typeof phases)[number], Stop[]> = { inbound: [], dependencies: [], process: [] };
  let done: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    for (const phase of phases) await Promise.allSettled(stops[phase].map(async (stop) => stop()));
  };
  return {
    /** Registers what stops a part that was started. */
    add: (phase: ShutdownPhase, stop: Stop): void => void stops[phase].push(stop),
    /** Stops everything, once; a second call waits for the first. */
    run: (): Promise<void> => {
      done ??= stopAll();
      return done;
    },
  };
};
