package airtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WebhooksTest {
  record Case(
      String name, String secret, String id, String timestamp, String signature, String body, long now, boolean valid, String event, String reason) {
    @Override
    public String toString() {
      return name;
    }
  }

  static List<Case> cases() throws IOException {
    return Vectors.list(Vectors.read("webhooks.json").get("cases"), Case.class);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aWebhookIsJudgedAsItsVectorSays(Case vector) throws Exception {
    Map<String, String> headers = new HashMap<>();
    headers.put("webhook-id", vector.id);
    headers.put("webhook-timestamp", vector.timestamp);
    headers.put("webhook-signature", vector.signature);
    byte[] body = vector.body.getBytes(StandardCharsets.UTF_8);
    Clock clock = Clock.fixed(Instant.ofEpochSecond(vector.now), ZoneOffset.UTC);
    if (vector.valid) {
      Webhooks.Event event = Webhooks.verify(headers::get, body, vector.secret, clock);
      assertEquals(vector.event, event.name());
      assertEquals(vector.id, event.id());
    } else {
      Class<? extends Exception> expected =
          "secret".equals(vector.reason) ? IllegalArgumentException.class : Webhooks.VerificationException.class;
      assertThrows(expected, () -> Webhooks.verify(headers::get, body, vector.secret, clock));
    }
  }
}
