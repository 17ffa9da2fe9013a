package airtime;

/** There was no answer of the service, or none to this request. */
public final class NoAnswerException extends Exception {
  /** The HTTP status; 0 without an answer. */
  public final int status;
  /** For the service's support; null if the answer has none. */
  public final String requestId;

  final boolean isMismatch;
  final Long retryAfterSeconds;

  NoAnswerException(String message, Exception cause) {
    super(message, cause);
    this.status = 0;
    this.requestId = null;
    this.isMismatch = false;
    this.retryAfterSeconds = null;
  }

  NoAnswerException(String message, int status, boolean isMismatch, Long retryAfterSeconds, String requestId) {
    super(message);
    this.requestId = requestId;
    this.status = status;
    this.isMismatch = isMismatch;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
