type Stop = () => Promise<void> | void;

/**
 * What has to be ended, in three steps: first whatever brings work in, which may take a moment to finish, then the parts which
 * that work needs, last what everything stood on.
 */
export const newShutdown = () => {
  const first: Stop[] = [];
  const then: Stop[] = [];
  const last: Stop[] = [];
  let done: Promise<void> | undefined;
  const runAll = async (): Promise<void> => {
    for (const step of [first, then, last]) await Promise.allSettled(step.map(async (stop) => stop()));
  };
  const run = (): Promise<void> => {
    done ??= runAll();
    return done;
  };
  return { first, then, last, run };
};
