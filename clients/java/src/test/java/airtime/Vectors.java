package airtime;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;

/** The test vectors that the clients of all languages share. */
final class Vectors {
  static final ObjectMapper JSON =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  private Vectors() {}

  static JsonNode read(String name) throws IOException {
    return JSON.readTree(Path.of("../../client/vectors", name).toFile());
  }

  static <T> List<T> list(JsonNode cases, Class<T> type) {
    return StreamSupport.stream(cases.spliterator(), false).map(each -> JSON.convertValue(each, type)).toList();
  }
}
