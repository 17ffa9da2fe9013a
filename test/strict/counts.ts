import type { WireAnswer } from "./wire.ts";

/** How often AWS did what the emulator would not have done. */
export type Counts = {
  conflict: number;
  throttled: number;
  answer_lost: number;
  answer_slow: number;
  stale_read: number;
  token_in_progress: number;
  token_mismatch: number;
  token_replayed: number;
};
/** Counts an answer, and hands it on. */
export type Counted = (what: keyof Counts, answer: WireAnswer) => WireAnswer;

export const newCounts = (): { readonly counts: Counts; readonly counted: Counted } => {
  const counts: Counts = {
    conflict: 0,
    throttled: 0,
    answer_lost: 0,
    answer_slow: 0,
    stale_read: 0,
    token_in_progress: 0,
    token_mismatch: 0,
    token_replayed: 0,
  };
  return {
    counts,
    counted: (what, answer) => {
      counts[what] += 1;
      return answer;
    },
  };
};
