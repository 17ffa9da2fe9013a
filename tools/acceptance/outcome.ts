/** A step that AWS or the service failed; the message is one sentence for the report. */
export class AcceptanceError extends Error {
  override readonly name = "AcceptanceError";
}

/** What a step found, or why it did not run. */
export type Outcome = { readonly found: string } | { readonly skipped: string };

export const found = (sentence: string): Outcome => ({ found: sentence });
export const skipped = (reason: string): Outcome => ({ skipped: reason });

/** Throws the failure of a step unless the condition holds. */
export function assertThat(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new AcceptanceError(sentence);
}
