package airtime;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import airtime.AirtimeClient.TransactionQuery;
import airtime.Models.BvnVerifyRequest;
import airtime.Models.DataPurchaseRequest;
import airtime.Models.IdentityTransaction;
import airtime.Models.NinBasicResult;
import airtime.Models.NinVerification;
import airtime.Models.NinVerifyRequest;
import airtime.Models.Purchase;
import airtime.Models.RetrieveRequest;
import airtime.Models.TransactionPage;
import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class AirtimeClientTest {
  private static final DataPurchaseRequest ORDER = new DataPurchaseRequest(1L, 101L, "08031234567", null);
  private static final JsonNode TABLE = table("answers.json");

  record Answer(String name, int status, Map<String, String> headers, String body, String next, int wait_s) {
    @Override
    public String toString() {
      return name;
    }
  }

  record Received(String path, String body, String confirmed) {}

  interface Handler {
    void handle(HttpExchange exchange) throws Exception;
  }

  /** A service that answers each request by the next handler, and the rest by the last one. */
  static final class Service implements AutoCloseable {
    final List<Received> requests = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;

    Service(Handler... handlers) throws IOException {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.setExecutor(threads);
      server.createContext("/", exchange -> {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String confirmed = exchange.getRequestHeaders().getFirst("X-Confirm-Duplicate");
        requests.add(new Received(exchange.getRequestURI().getPath(), body, confirmed));
        try {
          handlers[Math.min(requests.size(), handlers.length) - 1].handle(exchange);
        } catch (Exception error) {
          throw new IOException(error);
        }
      });
      server.start();
    }

    String baseUrl() {
      return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
    }

    /** With deadlines that only a test which waits for them meets, on a busy machine too. */
    AirtimeClient client() {
      return client(Duration.ofSeconds(300), Duration.ofSeconds(120));
    }

    AirtimeClient client(Duration timeout, Duration attemptTimeout) {
      return new AirtimeClient(baseUrl(), "live_key", timeout, attemptTimeout);
    }

    @Override
    public void close() {
      server.stop(0);
      threads.shutdownNow();
    }
  }

  private static JsonNode table(String name) {
    try {
      return Vectors.read(name);
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  static List<Answer> answers() {
    return Vectors.list(TABLE.get("answers"), Answer.class);
  }

  static Answer replay() {
    return Vectors.JSON.convertValue(TABLE.get("replay"), Answer.class);
  }

  static Answer named(String name) {
    List<Answer> cancellations = Vectors.list(TABLE.get("cancellations"), Answer.class);
    return Stream.concat(answers().stream(), cancellations.stream())
        .filter(each -> each.name.equals(name))
        .findFirst()
        .orElseThrow();
  }

  static void write(HttpExchange exchange, Answer answer) throws IOException {
    byte[] body = answer.body.getBytes(StandardCharsets.UTF_8);
    answer.headers.forEach(exchange.getResponseHeaders()::set);
    exchange.sendResponseHeaders(answer.status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static String result(AirtimeClient client) throws InterruptedException {
    try {
      return client.buy(ORDER, "order-1").transaction().status();
    } catch (OutcomeUnknownException error) {
      assertEquals("order-1", error.reference);
      return "unknown";
    } catch (ServiceException error) {
      return error.transactionReference == null ? "failed without a transaction" : "failed";
    }
  }

  @ParameterizedTest
  @MethodSource("answers")
  void eachAnswerIsFollowedByWhatTheTableSays(Answer answer) throws Exception {
    Answer after = answer.next.equals("cancel") ? named("cancelled") : replay();
    try (Service service = new Service(exchange -> write(exchange, answer), exchange -> write(exchange, after))) {
      long startedAt = System.nanoTime();
      String result = result(service.client());
      assertEquals(Map.of("retry", "success", "cancel", "failed").getOrDefault(answer.next, answer.next), result);
      assertTrue(System.nanoTime() - startedAt >= Duration.ofSeconds(answer.wait_s).toNanos(), "it did not wait");

      Received sent = service.requests.get(0);
      assertEquals("/v1" + TABLE.get("path").asText(), sent.path);
      assertEquals(TABLE.get("order"), Vectors.JSON.readTree(sent.body));
      List<Received> later = service.requests.subList(1, service.requests.size());
      switch (answer.next) {
        case "retry" -> assertEquals(List.of(sent), later);
        case "cancel" -> {
          assertEquals(List.of("/v1/transactions/cancel"), later.stream().map(Received::path).toList());
          assertEquals(TABLE.get("cancellation"), Vectors.JSON.readTree(later.get(0).body));
        }
        default -> assertEquals(List.of(), later);
      }
    }
  }

  record Sequence(String name, List<String> answers, List<String> sent, String end) {
    @Override
    public String toString() {
      return name;
    }
  }

  static List<Sequence> sequences() {
    return Vectors.list(TABLE.get("sequences"), Sequence.class);
  }

  @ParameterizedTest
  @MethodSource("sequences")
  void furtherAnswersAreFollowedByWhatTheTableSays(Sequence sequence) throws Exception {
    Stream<Answer> answers = sequence.answers.stream().map(AirtimeClientTest::named);
    Handler[] handlers = answers.map(answer -> (Handler) exchange -> write(exchange, answer)).toArray(Handler[]::new);
    try (Service service = new Service(handlers)) {
      assertEquals(sequence.end, result(service.client()));
      List<JsonNode> bodies = new ArrayList<>();
      for (Received request : service.requests) bodies.add(Vectors.JSON.readTree(request.body));
      assertEquals(sequence.sent.stream().map(TABLE::get).toList(), bodies);
    }
  }

  @Test
  void anInterruptedCallEndsItsRequest() throws Exception {
    CountDownLatch sent = new CountDownLatch(1);
    CountDownLatch cut = new CountDownLatch(1);
    Handler dripping = exchange -> {
      exchange.sendResponseHeaders(200, 0);
      sent.countDown();
      try {
        while (true) {
          exchange.getResponseBody().write(' ');
          exchange.getResponseBody().flush();
          Thread.sleep(20);
        }
      } finally {
        cut.countDown();
      }
    };
    try (Service service = new Service(dripping, dripping)) {
      AirtimeClient client = service.client();
      Thread caller = new Thread(() -> assertThrows(InterruptedException.class, () -> client.buy(ORDER, "order-1")));
      caller.start();
      assertTrue(sent.await(60, TimeUnit.SECONDS));
      caller.interrupt();
      assertTrue(cut.await(60, TimeUnit.SECONDS), "the connection is still open");
    }
  }

  @Test
  void anOrderLikeAnotherIsRefusedWithItsReferenceAndTakenWhenConfirmed() throws Exception {
    Answer refusal = named("422 possible_duplicate");
    Answer cancelled = named("cancelled");
    Answer replay = replay();
    try (Service service = new Service(
        exchange -> write(exchange, refusal), exchange -> write(exchange, cancelled), exchange -> write(exchange, replay))) {
      AirtimeClient client = service.client();
      ServiceException refused = assertThrows(ServiceException.class, () -> client.buy(ORDER, "order-1"));
      assertEquals(refusal.headers.get("x-duplicate-of"), refused.duplicateOf);
      assertEquals("success", client.buy(ORDER, "order-1", true).transaction().status());
      assertEquals(Arrays.asList(null, null, "true"), service.requests.stream().map(Received::confirmed).toList());
    }
  }

  @Test
  void anOrderWhoseConnectionIsCutIsSentAgain() throws Exception {
    Answer replay = replay();
    try (Service service = new Service(HttpExchange::close, exchange -> write(exchange, replay))) {
      assertEquals("success", result(service.client()));
      assertEquals(2, service.requests.size());
    }
  }

  @Test
  void anOrderWhoseConnectionsAreCutIsUnknownAtTheDeadline() throws Exception {
    try (Service service = new Service(HttpExchange::close)) {
      assertEquals("unknown", result(service.client(Duration.ofSeconds(3), Duration.ofSeconds(3))));
    }
  }

  @Test
  void anAnswerWhoseBodyComesTooLateIsNone() throws Exception {
    Answer replay = replay();
    CountDownLatch end = new CountDownLatch(1);
    Handler held = exchange -> {
      exchange.sendResponseHeaders(200, 100);
      exchange.getResponseBody().flush();
      end.await();
    };
    try (Service service = new Service(held, exchange -> write(exchange, replay))) {
      // On a busy machine a later attempt may be over before its answer too.
      assertEquals("success", result(service.client(Duration.ofSeconds(300), Duration.ofSeconds(3))));
      assertTrue(service.requests.size() > 1);
      end.countDown();
    }
  }

  @Test
  void anAnswerWithoutEndIsCutAndIsNone() throws Exception {
    AtomicLong sent = new AtomicLong();
    CountDownLatch cut = new CountDownLatch(1);
    byte[] spaces = " ".repeat(100_000).getBytes(StandardCharsets.UTF_8);
    Handler pouring = exchange -> {
      exchange.sendResponseHeaders(200, 0);
      try {
        while (sent.get() < 200_000_000) {
          exchange.getResponseBody().write(spaces);
          sent.addAndGet(spaces.length);
        }
      } finally {
        cut.countDown();
      }
    };
    Answer replay = replay();
    try (Service service = new Service(pouring, exchange -> write(exchange, replay))) {
      assertEquals("success", result(service.client()));
      assertEquals(2, service.requests.size());
      assertTrue(cut.await(60, TimeUnit.SECONDS));
      // The system's buffers take some beyond the limit.
      assertTrue(sent.get() < 100_000_000, sent + " bytes were read");
    }
  }

  @Test
  void aRefusalSaysWhenToSendAgainAndHasItsIdForSupport() throws Exception {
    Map<String, String> headers =
        Map.of("X-Error-Code", "provider_unavailable", "Retry-After", "300", "X-Request-Id", "req-1");
    Answer refused = new Answer("refused", 503, headers, "{}", "", 0);
    try (Service service = new Service(exchange -> write(exchange, refused))) {
      AirtimeClient client = service.client();
      Exception unknown = assertThrows(OutcomeUnknownException.class, () -> client.buy(ORDER, "order-1"));
      ServiceException refusal = assertInstanceOf(ServiceException.class, unknown.getCause());
      assertEquals(300L, refusal.retryAfterSeconds);
      assertEquals("req-1", refusal.requestId);
    }
  }

  @Test
  void anAnswerIsAskedForWithoutCompression() throws Exception {
    List<String> encodings = new CopyOnWriteArrayList<>();
    Answer replay = replay();
    Handler recording = exchange -> {
      encodings.add(String.valueOf(exchange.getRequestHeaders().getFirst("Accept-Encoding")));
      write(exchange, replay);
    };
    try (Service service = new Service(recording)) {
      assertEquals("success", result(service.client()));
      assertEquals(List.of("identity"), encodings);
    }
  }

  @Test
  void anErrorWhoseBodyIsCutIsReadByItsHeaders() throws Exception {
    Answer failed = named("502 delivery_failed");
    Handler cut = exchange -> {
      failed.headers.forEach(exchange.getResponseHeaders()::set);
      exchange.sendResponseHeaders(failed.status, 100);
      exchange.getResponseBody().write('{');
      exchange.getResponseBody().flush();
      exchange.close();
    };
    try (Service service = new Service(cut)) {
      AirtimeClient client = service.client();
      // Again and again: the end of the connection comes before, while or after the client reads the headers.
      for (int request = 1; request <= 50; request++) {
        assertEquals("failed", result(client));
        assertEquals(request, service.requests.size());
      }
    }
  }

  @Test
  void anAnswerToAnOrderWithoutANumberIsOfAnotherOrder() throws Exception {
    Answer other = replay();
    Answer failed = named("502 delivery_failed");
    try (Service service = new Service(exchange -> write(exchange, other), exchange -> write(exchange, failed))) {
      AirtimeClient client = service.client();
      DataPurchaseRequest order = new DataPurchaseRequest(1L, 101L, null, null);
      assertThrows(ServiceException.class, () -> client.buy(order, "order-1"));
    }
  }

  private static final NinVerifyRequest CHECK = new NinVerifyRequest("12345678901", null, true, null, null);

  private static Handler answering(String data, String... headers) {
    Map<String, String> named = new HashMap<>();
    for (int each = 0; each < headers.length; each += 2) named.put(headers[each], headers[each + 1]);
    Answer answer = new Answer("", 200, named, "{\"status\":true,\"data\":" + data + "}", "", 0);
    return exchange -> write(exchange, answer);
  }

  private static String check(String type, String status, String result) {
    return ("{\"transaction\":{\"reference\":\"VERIFY_1\",\"status\":\"%s\",\"type\":\"%s\",\"caller_reference\":\"check-1\"},"
        + "\"result\":%s}").formatted(status, type, result);
  }

  private static final JsonNode CHECKS = table("checks.json");

  static List<Sequence> checks() {
    return Vectors.list(CHECKS.get("sequences"), Sequence.class);
  }

  @ParameterizedTest
  @MethodSource("checks")
  void aCheckEndsAsTheTableSays(Sequence sequence) throws Exception {
    List<Answer> answers = Vectors.list(CHECKS.get("answers"), Answer.class);
    Stream<Answer> named = sequence.answers.stream()
        .map(name -> answers.stream().filter(answer -> answer.name.equals(name)).findFirst().orElseThrow());
    Handler[] handlers = named.map(answer -> (Handler) exchange -> write(exchange, answer)).toArray(Handler[]::new);
    try (Service service = new Service(handlers)) {
      String end;
      try {
        NinVerification check = service.client().verify(CHECK, "check-1");
        assertEquals("ADAEZE", Vectors.JSON.treeToValue(check.result(), NinBasicResult.class).firstName());
        end = check.transaction().status().equals("success") ? "found" : check.transaction().status();
      } catch (ServiceException error) {
        end = "failed";
      } catch (OutcomeUnknownException error) {
        end = "unknown";
      }
      assertEquals(sequence.end, end);
      List<JsonNode> bodies = new ArrayList<>();
      for (Received request : service.requests) bodies.add(Vectors.JSON.readTree(request.body));
      assertEquals(sequence.sent.stream().map(CHECKS::get).toList(), bodies);
      assertEquals("/v1" + CHECKS.get("path").asText(), service.requests.get(0).path);
    }
  }

  @Test
  void aCheckWithoutAResultUntilTheDeadlineIsProcessing() throws Exception {
    Handler unchecked = answering(check("nin_verification", "processing", "null"));
    for (Handler last : List.of(unchecked, (Handler) HttpExchange::close)) {
      try (Service service = new Service(unchecked, last)) {
        NinVerification check = service.client(Duration.ofSeconds(3), Duration.ofSeconds(3)).verify(CHECK, "check-1");
        assertEquals("processing", check.transaction().status());
        assertNull(check.result());
      }
    }
  }

  interface Check {
    IdentityTransaction send(AirtimeClient client) throws Exception;
  }

  @Test
  void eachCheckIsSentToItsPathAndTakesOnlyItsTypeForTheAnswer() throws Exception {
    RetrieveRequest person = new RetrieveRequest("08031234567", true, null, null);
    BvnVerifyRequest bvn = new BvnVerifyRequest("12345678901", null, true, null, null);
    Map<String, Check> checks = Map.of(
        "bvn/verify", client -> client.verify(bvn, "check-1").transaction(),
        "nin/retrieve", client -> client.retrieveNin(person, "check-1").transaction(),
        "bvn/retrieve", client -> client.retrieveBvn(person, "check-1").transaction());
    for (Map.Entry<String, Check> each : checks.entrySet()) {
      String type = each.getKey().replace("/verify", "_verification").replace("/retrieve", "_retrieval");
      try (Service service = new Service(
          answering(check("nin_verification", "success", "{}")), answering(check(type, "success", "{}")))) {
        assertEquals(type, each.getValue().send(service.client()).type());
        assertEquals(2, service.requests.size());
        assertEquals("/v1/identity/" + each.getKey(), service.requests.get(0).path());
      }
    }
  }

  @Test
  void anOrderSaysForHowLongItWaitsAndWhetherItIsAReplay() throws Exception {
    String waiting = "{\"transaction\":{\"reference\":\"DATA_1\",\"caller_reference\":\"order-1\",\"status\":\"processing\",\"type\":\"data\"}}";
    try (Service service = new Service(
        answering(waiting, "X-Estimated-Delivery", "61"), answering(waiting, "Idempotent-Replayed", "true"))) {
      Purchase bought = service.client().buy(ORDER, "order-1");
      assertEquals(61, bought.estimatedDeliveryS());
      assertFalse(bought.replayed());
      Purchase replay = service.client().buy(ORDER, "order-1");
      assertNull(replay.estimatedDeliveryS());
      assertTrue(replay.replayed());
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "DATA_1 | success | null", "TEST_1 | failed | null", "DATA_1 | failed | \"c+1\"",
  })
  void aPageIsAskedForByTheQueryAndOneOfOthersIsNone(String reference, String status, String next) throws Exception {
    String listed = "{\"transactions\":[{\"reference\":\"%s\",\"status\":\"%s\",\"type\":\"data\"}],\"next_cursor\":%s}";
    List<String> asked = new CopyOnWriteArrayList<>();
    Handler right = answering(listed.formatted("DATA_1", "failed", "\"c2\""));
    try (Service service = new Service(answering("{}"), answering(listed.formatted(reference, status, next)), exchange -> {
      asked.add(exchange.getRequestURI().getRawQuery());
      right.handle(exchange);
    })) {
      TransactionQuery failed = new TransactionQuery("failed", null, "2026-11-21T00:00:00+01:00", null, null);
      TransactionPage page = service.client().transactions(failed.withCursor("c+1"));
      assertEquals("DATA_1", page.transactions().get(0).reference());
      assertEquals("c2", page.nextCursor());
      assertEquals(List.of("status=failed&from=2026-11-21T00%3A00%3A00%2B01%3A00&cursor=c%2B1"), asked);
    }
  }

  @Test
  void catalogAndWalletAreRead() throws Exception {
    try (Service service = new Service(
        answering("{}"), answering("{\"networks\":[],\"data_plans\":[{\"id\":101,\"price\":485.5}]}"),
        answering("{}"), answering("{\"wallet\":{\"currency\":\"NGN\",\"balance\":0.07}}"))) {
      AirtimeClient client = service.client();
      assertEquals(new BigDecimal("485.5"), client.catalog().dataPlans().get(0).price());
      assertEquals(new BigDecimal("0.07"), client.wallet().balance());
      assertEquals(
          List.of("/v1/vtu/data", "/v1/vtu/data", "/v1/wallet", "/v1/wallet"),
          service.requests.stream().map(Received::path).toList());
    }
  }

  @Test
  void aNewReferenceIsOneAndHasNoDigits() {
    assertTrue(AirtimeClient.newReference().matches("[a-p]{32}"));
    assertNotEquals(AirtimeClient.newReference(), AirtimeClient.newReference());
  }

  /** Records the client's lines about one order, because other tests run beside it, and throws at each. */
  private static final class FullDisk extends java.util.logging.Handler {
    final List<String> lines = new CopyOnWriteArrayList<>();

    @Override
    public void publish(LogRecord line) {
      if (!line.getMessage().contains(" logged-1,")) return;
      lines.add(line.getMessage());
      throw new IllegalStateException("The disk is full");
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @Test
  void attemptsAreLoggedWithoutPersonalDataAndALogThatThrowsChangesNothing() throws Exception {
    Answer refusal = new Answer("", 500, Map.of("X-Error-Code", "internal_error"), "{\"message\":\"08031234567\"}", "", 0);
    Answer replay = replay();
    Answer answer = new Answer("", 200, Map.of(), replay.body.replace("order-1", "logged-1"), "", 0);
    FullDisk disk = new FullDisk();
    Logger logger = Logger.getLogger("airtime");
    logger.setLevel(Level.ALL);
    logger.addHandler(disk);
    try (Service service = new Service(
        exchange -> write(exchange, refusal), HttpExchange::close, exchange -> write(exchange, answer))) {
      assertEquals("success", service.client().buy(ORDER, "logged-1").transaction().status());
    } finally {
      logger.removeHandler(disk);
      logger.setLevel(null);
    }
    String attempt = "/vtu/data/purchase logged-1, attempt ";
    assertEquals(
        List.of(attempt + "1: internal_error, again in", attempt + "2: the connection failed, again in", attempt + "3: answered"),
        disk.lines.stream().map(line -> line.replaceFirst(" \\d+ ms$", "")).toList());
  }

  @Test
  void aPauseBetweenLookupsLeavesTimeForALastOne() {
    assertEquals(2_000, AirtimeClient.pauseMs(10_000, 3_000));
    assertTrue(AirtimeClient.pauseMs(1_000, 60_000) <= 1_000);
  }

  @Test
  void theWaitForATransactionEndsInTimeAlsoIfALookupHasNoAnswer() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Handler held = exchange -> end.await();
    try (Service service = new Service(held, held)) {
      AirtimeClient client = service.client();
      long startedAt = System.nanoTime();
      assertThrows(TimeoutException.class, () -> client.await("order-1", Duration.ofSeconds(1)));
      assertTrue(System.nanoTime() - startedAt < Duration.ofSeconds(100).toNanos(), "it waited for the attempt's end");
      end.countDown();
    }
  }

  @Test
  void theWaitForATransactionLooksItUpUntilItIsFoundOrTheLookupIsRefusedForGood() throws Exception {
    Answer notFound = new Answer("not found", 404, Map.of("X-Error-Code", "not_found"), "{}", "", 0);
    Answer refused = new Answer("refused", 401, Map.of("X-Error-Code", "invalid_api_key"), "{}", "", 0);
    try (Service service = new Service(exchange -> write(exchange, notFound), exchange -> write(exchange, refused))) {
      AirtimeClient client = service.client();
      Exception end = assertThrows(TimeoutException.class, () -> client.await("order-1", Duration.ofSeconds(60)));
      assertEquals("invalid_api_key", assertInstanceOf(ServiceException.class, end.getCause()).code);
      assertEquals(2, service.requests.size());
    }
  }

  @Test
  void anErrorWhoseFieldsAreNoListsIsReadWithoutThem() throws Exception {
    Map<String, String> headers = Map.of("X-Error-Code", "delivery_failed", "X-Caller-Reference", "order-1", "X-Transaction-Reference", "DATA_1");
    Answer odd = new Answer("odd", 502, headers, "{\"errors\":{\"plan_id\":{\"a\":1}}}", "failed", 0);
    try (Service service = new Service(exchange -> write(exchange, odd), exchange -> write(exchange, odd))) {
      assertEquals("failed", result(service.client()));
    }
  }

  record Settings(String base_url, String api_key, String refused) {}

  static List<Settings> settings() throws IOException {
    return Vectors.list(Vectors.read("settings.json").get("cases"), Settings.class);
  }

  @ParameterizedTest
  @MethodSource("settings")
  void settingsAreTakenOrRefusedWithoutShowingTheKey(Settings settings) {
    Executable make = () -> new AirtimeClient(settings.base_url(), settings.api_key());
    if (settings.refused() == null) {
      assertDoesNotThrow(make);
    } else {
      String message = assertThrows(IllegalArgumentException.class, make).getMessage();
      assertTrue(message.startsWith("base_url".equals(settings.refused()) ? "baseUrl " : "apiKey "), message);
      assertFalse(message.contains("@"), message);
      assertFalse(!settings.api_key().isEmpty() && message.contains(settings.api_key()), message);
    }
  }

  @Test
  void aSettingThatIsMissingIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> new AirtimeClient(null, "live_key"));
    assertThrows(IllegalArgumentException.class, () -> new AirtimeClient("https://example.com/v1", null));
  }

  @ParameterizedTest
  @CsvSource({"PT0S, PT35S", "PT90S, PT0S", "PT-1S, PT35S", "PT90S, PT0.0004S"})
  void aTimeOutThatLeavesNoTimeIsRefused(Duration timeout, Duration attemptTimeout) {
    Executable make = () -> new AirtimeClient("https://example.com/v1", "live_key", timeout, attemptTimeout);
    assertThrows(IllegalArgumentException.class, make);
  }

  @ParameterizedTest
  @CsvSource({"''", ".", "..", "a b", "a/b"})
  void aReferenceThatCannotBeOneIsRefused(String reference) {
    AirtimeClient client = new AirtimeClient("http://127.0.0.1:1/v1", "live_key");
    assertThrows(IllegalArgumentException.class, () -> client.buy(ORDER, reference));
    assertThrows(IllegalArgumentException.class, () -> client.transaction(reference));
    assertThrows(IllegalArgumentException.class, () -> client.await(reference, Duration.ofSeconds(1)));
    assertThrows(IllegalArgumentException.class, () -> client.cancel(reference, "data"));
    assertThrows(IllegalArgumentException.class, () -> client.verify(CHECK, reference));
  }
}
