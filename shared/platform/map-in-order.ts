/**
 * The results of `work` for each input, in the inputs' order. At most `concurrencyMax` are under way or waiting for
 * their turn, so memory stays bounded however many inputs there are.
 *
 * An error is thrown in its result's turn. It ends everything, as does a consumer that stops early: no further input is
 * read, the signal aborts what is under way, and nothing runs on after the generator has ended.
 */
export async function* mapInOrder<Input, Result>(
  inputs: Iterable<Input> | AsyncIterable<Input>,
  concurrencyMax: number,
  work: (input: Input, abortSignal: AbortSignal) => Promise<Result>,
): AsyncGenerator<Result, void, void> {
  const abort = new AbortController();
  const pending: Promise<Result>[] = [];
  try {
    for await (const input of inputs) {
      const result = work(input, abort.signal);
      // Otherwise an error whose turn has not come is an unhandled rejection.
      result.catch(() => {});
      pending.push(result);
      if (pending.length < concurrencyMax) continue;
      for (const first of pending.splice(0, 1)) yield await first;
    }
    while (pending.length > 0) for (const first of pending.splice(0, 1)) yield await first;
  } finally {
    abort.abort();
    await Promise.allSettled(pending);
  }
}
