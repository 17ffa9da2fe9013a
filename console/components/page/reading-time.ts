const SHOWN_MS_MIN = 6_000;
/** What a slow reader takes for a character. */
const READ_MS = 100;

/** For how long a sentence is shown. */
export const shownMs = (sentence: string): number => Math.max(SHOWN_MS_MIN, sentence.length * READ_MS);
