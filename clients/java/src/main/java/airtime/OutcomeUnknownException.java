package airtime;

/**
 * The order is not decided: it was placed, or still may be. Send the same order with the same reference again, or cancel
 * it. Never order again with another reference.
 */
public final class OutcomeUnknownException extends Exception {
  public final String reference;

  OutcomeUnknownException(String reference, Exception cause) {
    super("The order " + reference + " is not decided: " + cause.getMessage(), cause);
    this.reference = reference;
  }
}
