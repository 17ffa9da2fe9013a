/** A refused operator command; the message is a sentence, and nothing was changed. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}
