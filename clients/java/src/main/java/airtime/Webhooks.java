package airtime;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.Base64;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies the service's webhooks, as Standard Webhooks says. */
public final class Webhooks {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  private static final long TOLERANCE_S = 300;

  /**
   * A verified webhook. `id` is the same for every copy of an event. `data` is of the record that the name says:
   * `mapper.treeToValue(event.data(), Models.TransactionUpdatedData.class)`. Answer 2xx also to names that you do not know, and
   * do nothing with a status that is neither "success" nor "failed": a later release may add some.
   */
  public record Event(String id, String name, JsonNode data) {}

  /** The request is not a webhook of the service: answer 400. */
  public static final class VerificationException extends Exception {
    VerificationException(String message) {
      super(message);
    }
  }

  private Webhooks() {}

  /**
   * @param header gives a header's value by its name, or null, such as `request::getHeader`
   * @param body as it was received, byte by byte
   * @param secret whsec_...
   */
  public static Event verify(Function<String, String> header, byte[] body, String secret)
      throws VerificationException {
    return verify(header, body, secret, Clock.systemUTC());
  }

  static Event verify(Function<String, String> header, byte[] body, String secret, Clock clock)
      throws VerificationException {
    String id = required(header, "webhook-id");
    String timestamp = required(header, "webhook-timestamp");
    String signatures = required(header, "webhook-signature");
    if (!timestamp.matches("\\d{1,12}")
        || Math.abs(clock.instant().getEpochSecond() - Long.parseLong(timestamp)) > TOLERANCE_S) {
      throw new VerificationException("The timestamp is not within 5 minutes of now");
    }
    byte[] expected = hmac(secret, id + "." + timestamp + ".", body);
    boolean isSigned = false;
    for (String signature : signatures.split(" ")) {
      isSigned |= signature.startsWith("v1,") && MessageDigest.isEqual(decoded(signature.substring(3)), expected);
    }
    if (!isSigned) throw new VerificationException("No signature matches");
    try {
      JsonNode event = JSON.readTree(body);
      if (event.path("event").isTextual() && event.path("data").isObject()) {
        return new Event(id, event.get("event").asText(), event.get("data"));
      }
    } catch (IOException error) {
      // It is no event.
    }
    throw new VerificationException("The body is not an event");
  }

  private static String required(Function<String, String> header, String name) throws VerificationException {
    String value = header.apply(name);
    if (value == null || value.isEmpty()) throw new VerificationException("The header " + name + " is missing");
    return value;
  }

  private static byte[] hmac(String secret, String prefix, byte[] body) {
    byte[] key = decoded(secret.strip().replaceFirst("^whsec_", ""));
    if (key.length == 0) throw new IllegalArgumentException("secret must be the endpoint's whsec_... secret");
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update(prefix.getBytes(StandardCharsets.UTF_8));
      return mac.doFinal(body);
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException(error);
    }
  }

  private static byte[] decoded(String base64) {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException error) {
      return new byte[0];
    }
  }
}
