package airtime;

/** There was no answer of the service, or none to this request. */
public final class NoAnswerException extends Exception {
  /** The HTTP status; 0 without an answer. */
  public final int status;

  final boolean isMismatch;
  final Long retryAfterSeconds;

  NoAnswerException(String message, int status, boolean isMismatch, Long retryAfterSeconds, Exception cause) {
    super(message, cause);
    this.status = status;
    this.isMismatch = isMismatch;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
