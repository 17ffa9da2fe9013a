import { sleep } from "../../shared/platform/time.ts";

/** Polls until the condition holds, also outside vitest. Throws with its description after `timeoutMs`. */
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
