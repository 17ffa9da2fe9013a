import { sleep } from "../../shared/platform/time.ts";

/** Waits until it is so; for what runs without vitest, too. Throws, saying what was awaited, once the patience is over. */
export const until = async (
  what: string,
  isSo: () => boolean,
  { patienceMs, everyMs }: { readonly patienceMs: number; readonly everyMs: number },
): Promise<void> => {
  const endMs = Date.now() + patienceMs;
  while (!isSo()) {
    if (Date.now() > endMs) throw new Error(`Not within ${patienceMs} ms: ${what}`);
    await sleep(everyMs);
  }
};
