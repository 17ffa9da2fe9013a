import { sleep } from "../../shared/platform/time.ts";

/** Waits until it is so; for what runs without vitest, too. Throws, saying what was awaited, once the patience is over. */
export const until = async (
  what: string,
  isSo: () => boolean,
  { patience_ms, every_ms }: { readonly patience_ms: number; readonly every_ms: number },
): Promise<void> => {
  const end_ms = Date.now() + patience_ms;
  while (!isSo()) {
    if (Date.now() > end_ms) throw new Error(`Not within ${patience_ms} ms: ${what}`);
    await sleep(every_ms);
  }
};
