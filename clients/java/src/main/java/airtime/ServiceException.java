package airtime;

import java.util.List;
import java.util.Map;

/**
 * An answer of the service with X-Error-Code. An order that throws it has failed for good: it was refunded, or cancelled
 * before it was placed. Another attempt needs a new reference.
 */
public final class ServiceException extends Exception {
  public final String code;
  public final int status;
  /** The service's reference of the transaction; null of a read, which has none. */
  public final String transactionReference;
  /** The order that this one is like, if it was refused as possible_duplicate; else null. */
  public final String duplicateOf;
  /** Messages by request field. */
  public final Map<String, List<String>> fields;
  /** The time after which the same request may be sent again; null if the answer names none. */
  public final Long retryAfterSeconds;
  /** For the service's support; null if the answer has none. */
  public final String requestId;

  ServiceException(
      String code,
      int status,
      String message,
      String transactionReference,
      String duplicateOf,
      Map<String, List<String>> fields,
      Long retryAfterSeconds,
      String requestId) {
    super(message);
    this.code = code;
    this.status = status;
    this.transactionReference = transactionReference;
    this.duplicateOf = duplicateOf;
    this.fields = fields;
    this.retryAfterSeconds = retryAfterSeconds;
    this.requestId = requestId;
  }

  ServiceException withTransaction(String reference) {
    return new ServiceException(code, status, getMessage(), reference, duplicateOf, fields, retryAfterSeconds, requestId);
  }
}
