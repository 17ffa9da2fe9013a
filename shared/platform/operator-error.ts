type OperatorErrorOptions = {
  /** Which admin command helps: `events list shows the event ids`. */
  readonly command?: string;
  /** Between sentence and command. */
  readonly separator?: string;
  /** The field of the action's input that it is about. */
  readonly field?: string | undefined;
  readonly cause?: unknown;
};

/** A refused action; the message is a sentence, and nothing was changed. */
export class OperatorError extends Error {
  override readonly name: string = "OperatorError";
  /** The message without the admin command that it recommends. */
  readonly sentence: string;
  /** A form shows the sentence there. */
  readonly field: string | undefined;

  constructor(sentence: string, { command, separator = ". ", field, cause }: OperatorErrorOptions = {}) {
    super(command === undefined ? sentence : `${sentence}${separator}${command}`, { cause });
    this.sentence = sentence;
    this.field = field;
  }
}

/** The named account, key, transaction or event does not exist. */
export class NotFoundError extends OperatorError {
  override readonly name = "NotFoundError";
}

/** The person may not do this. */
export class NotAllowedError extends OperatorError {
  override readonly name = "NotAllowedError";
}

/** What has to end first is still running: the action succeeds after `retryAfterMs`. */
export class InFlightError extends OperatorError {
  override readonly name = "InFlightError";
  readonly retryAfterMs: number;

  constructor(sentence: string, retryAfterMs: number) {
    super(sentence);
    this.retryAfterMs = retryAfterMs;
  }
}
