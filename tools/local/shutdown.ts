type Stop = () => Promise<void> | void;

/**
 * In order: what brings in work or runs it, then the services that this work needs, then what all of them need. Each
 * phase stops everything in parallel, because several parts may take 2 s each and a shutdown at most 3 s.
 */
const phases = ["inbound", "dependencies", "process"] as const;

export type Shutdown = {
  /** Registers what stops a part that was started. */
  readonly add: (phase: (typeof phases)[number], stop: Stop) => void;
  /** Stops everything, once; a second call waits for the first. */
  readonly run: () => Promise<void>;
};

export const createShutdown = (): Shutdown => {
  const stops: Record<(typeof phases)[number], Stop[]> = { inbound: [], dependencies: [], process: [] };
  let done: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    for (const phase of phases) await Promise.allSettled(stops[phase].map(async (stop) => stop()));
  };
  return {
    add: (phase, stop) => void stops[phase].push(stop),
    run: () => {
      done ??= stopAll();
      return done;
    },
  };
};
