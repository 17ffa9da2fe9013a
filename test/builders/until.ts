import { sleep } from "../../shared/platform/time.ts";

/** Waits until it is so; for what runs without vitest, too. Throws, saying what was awaited, after `timeoutMs`. */
export const until = async (
  what: string,
  isSo: () => boolean,
  { timeoutMs, everyMs }: { readonly timeoutMs: number; readonly everyMs: number },
): Promise<void> => {
  const endMs = Date.now() + timeoutMs;
  while (!isSo()) {
    if (Date.now() > endMs) throw new Error(`Not within ${timeoutMs} ms: ${what}`);
    await sleep(everyMs);
  }
};
