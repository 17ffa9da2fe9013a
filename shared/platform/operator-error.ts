/** What an operator asked for and cannot have, in a sentence; nothing was changed. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}
