import { sleep } from "../../../shared/platform/time.ts";

/**
 * How long a test waits for something that will happen. It ends a wait for what never happens, before the test's own
 * limit does, so that the failure names it. No test expects that something happens sooner: machines differ.
 */
export const WAIT_MS_MAX = 120_000;

/** Polls until the condition holds, also outside vitest. Throws with its description if it never does. */
export const until = async (
  what: string,
  isSo: () => boolean,
  { timeoutMs = WAIT_MS_MAX, everyMs = 20 }: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<void> => {
  const endMs = Date.now() + timeoutMs;
  while (!isSo()) {
    if (Date.now() > endMs) throw new Error(`Not within ${timeoutMs} ms: ${what}`);
    await sleep(everyMs);
  }
};
