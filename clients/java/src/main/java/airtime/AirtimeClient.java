package airtime;

import airtime.Models.AirtimePurchaseRequest;
import airtime.Models.BvnRetrieval;
import airtime.Models.BvnVerification;
import airtime.Models.BvnVerifyRequest;
import airtime.Models.CancelRequest;
import airtime.Models.Catalog;
import airtime.Models.DataPurchaseRequest;
import airtime.Models.NinRetrieval;
import airtime.Models.NinVerification;
import airtime.Models.NinVerifyRequest;
import airtime.Models.Purchase;
import airtime.Models.RetrieveRequest;
import airtime.Models.Transaction;
import airtime.Models.TransactionLookup;
import airtime.Models.TransactionPage;
import airtime.Models.Wallet;
import airtime.Models.WalletWallet;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/**
 * A client of the Airtime, Data and Identity Service. Each order has one reference, and each attempt to place it has the
 * same: it is charged and delivered at most once. One client for each API key is enough for a process.
 */
public final class AirtimeClient {
  private static final System.Logger LOG = System.getLogger("airtime");
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Set<String> STATUSES = Set.of("processing", "success", "failed");
  /** Refusals that pass by themselves. */
  private static final Set<String> PASSING = Set.of("rate_limited", "provider_unavailable", "internal_error");
  /** Statuses without X-Error-Code that a proxy answers and that pass by themselves. */
  private static final Set<Integer> PASSING_STATUS = Set.of(408, 425, 429);

  private static final long FIRST_BACKOFF_MS = 500;
  private static final long BACKOFF_MS_MAX = 8_000;
  private static final long JITTER_MS_MAX = 1_000;
  /** An attempt with less time would hardly be answered, and could make a known outcome unknown. */
  private static final long RETRY_MS_MIN = 1_000;
  private static final long POLL_MS_MAX = 10_000;
  /** No answer of the service is longer: Lambda sends at most 6 MB. */
  private static final int BODY_BYTES_MAX = 8_000_000;

  // A redirect would send the key elsewhere, and may turn an order into a GET. java.net.http sends a POST again by itself
  // only if jdk.httpclient.enableAllMethodRetry is set.
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();

  private final String baseUrl;
  private final String apiKey;
  private final Duration timeout;
  private final Duration attemptTimeout;

  /** With a deadline of 90 s for a call, and 35 s for an attempt: the service answers within 30 s. */
  public AirtimeClient(String baseUrl, String apiKey) {
    this(baseUrl, apiKey, Duration.ofSeconds(90), Duration.ofSeconds(35));
  }

  /**
   * @param baseUrl ends with /v1, and is https except on this machine
   * @param timeout the deadline of a call with all its attempts and waits
   * @param attemptTimeout the longest that one attempt may take
   */
  public AirtimeClient(String baseUrl, String apiKey, Duration timeout, Duration attemptTimeout) {
    URI uri = uriOf(baseUrl == null ? "" : baseUrl.trim().replaceAll("/+$", ""));
    if (uri.getPath() == null || !uri.getPath().endsWith("/v1") || uri.getQuery() != null || uri.getFragment() != null) {
      throw new IllegalArgumentException("baseUrl must be a URL that ends with /v1");
    }
    if (uri.getRawUserInfo() != null) {
      throw new IllegalArgumentException("baseUrl must not have a user: requests carry the API key instead");
    }
    if (uri.getHost() == null) {
      throw new IllegalArgumentException("baseUrl must have a host");
    }
    boolean isLocal = "http".equals(uri.getScheme()) && uri.getHost().matches("localhost|127\\.[\\d.]+|\\[::1\\]");
    if (!"https".equals(uri.getScheme()) && !isLocal) {
      throw new IllegalArgumentException("baseUrl must be https, because requests carry the API key");
    }
    if (apiKey == null || !apiKey.matches("(live|test)_[\\w-]+")) {
      throw new IllegalArgumentException("apiKey must be a key of the service: live_... or test_...");
    }
    if (timeout.toMillis() <= 0 || attemptTimeout.toMillis() <= 0) {
      throw new IllegalArgumentException("timeout and attemptTimeout must be a millisecond at least");
    }
    this.baseUrl = uri.toString();
    this.apiKey = apiKey;
    this.timeout = timeout;
    this.attemptTimeout = attemptTimeout;
  }

  private static URI uriOf(String baseUrl) {
    try {
      return new URI(baseUrl);
    } catch (URISyntaxException error) {
      // Its message has the whole text, perhaps with a password.
      throw new IllegalArgumentException("baseUrl must be a URL that ends with /v1");
    }
  }

  /**
   * Buys a data bundle. A transaction that is "processing" is paid: wait for it, and never order again.
   *
   * @param reference your own id of the order: save it before, and use it again for the same order
   */
  public Purchase buy(DataPurchaseRequest order, String reference)
      throws ServiceException, OutcomeUnknownException, InterruptedException {
    return buy(order, reference, false);
  }

  /**
   * @param confirmDuplicate the order is meant besides another like it, after a refusal as possible_duplicate
   */
  public Purchase buy(DataPurchaseRequest order, String reference, boolean confirmDuplicate)
      throws ServiceException, OutcomeUnknownException, InterruptedException {
    return place("data", "/vtu/data/purchase", order, reference, confirmDuplicate, Purchase.class);
  }

  /** Buys airtime, as of a data bundle. */
  public Purchase buy(AirtimePurchaseRequest order, String reference)
      throws ServiceException, OutcomeUnknownException, InterruptedException {
    return buy(order, reference, false);
  }

  /**
   * @param confirmDuplicate the order is meant besides another like it, after a refusal as possible_duplicate
   */
  public Purchase buy(AirtimePurchaseRequest order, String reference, boolean confirmDuplicate)
      throws ServiceException, OutcomeUnknownException, InterruptedException {
    return place("airtime", "/vtu/airtime/purchase", order, reference, confirmDuplicate, Purchase.class);
  }

  /**
   * Finds the person of a NIN. A check is an order, as a purchase is, and one without a result is never charged. The service
   * keeps a result for 10 minutes, for the same check with the same reference. Afterwards that is a ServiceException with the
   * code reference_reused: the check was charged, and another one needs a new reference.
   */
  public NinVerification verify(NinVerifyRequest check, String reference)
      throws ServiceException, OutcomeUnknownException, InterruptedException {
    return place("nin_verification", "/identity/nin/verify", check, reference, false, NinVerification.class);
  }

  /** Finds the person of a BVN, as of a NIN. */
  public BvnVerification verify(BvnVerifyRequest check, String reference)
      throws ServiceException, OutcomeUnknownException, InterruptedException {
    return place("bvn_verification", "/identity/bvn/verify", check, reference, false, BvnVerification.class);
  }

  /** Finds a person with a NIN by phone number, as `verify` does. It needs a key with the permission identity:retrieve. */
  public NinRetrieval retrieveNin(RetrieveRequest check, String reference)
      throws ServiceException, OutcomeUnknownException, InterruptedException {
    return place("nin_retrieval", "/identity/nin/retrieve", check, reference, false, NinRetrieval.class);
  }

  /** Finds a person with a BVN by phone number, as of a NIN. */
  public BvnRetrieval retrieveBvn(RetrieveRequest check, String reference)
      throws ServiceException, OutcomeUnknownException, InterruptedException {
    return place("bvn_retrieval", "/identity/bvn/retrieve", check, reference, false, BvnRetrieval.class);
  }

  /**
   * A random reference. Save it with your order before you send that. It has no digits, so it cannot contain the order's own
   * number, which the service refuses.
   */
  public static String newReference() {
    return RANDOM.ints(32, 'a', 'q').collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
  }

  /**
   * Makes sure that no request places the order from now on: "failed" if it was not placed or failed before, else the
   * transaction as it is.
   *
   * @param type of the order, such as "data"
   */
  public Transaction cancel(String reference, String type)
      throws ServiceException, NoAnswerException, InterruptedException {
    return cancel(checked(reference), type, deadline());
  }

  /** Looks a transaction up, by the service's reference or yours. */
  public Transaction transaction(String reference) throws ServiceException, NoAnswerException, InterruptedException {
    return transaction(checked(reference), deadline());
  }

  private Transaction transaction(String reference, long deadline)
      throws ServiceException, NoAnswerException, InterruptedException {
    String path = "/transactions/" + URLEncoder.encode(reference, StandardCharsets.UTF_8);
    return send(
        new Request<>("GET", path, null, null, false, TransactionLookup.class, data -> {
          JsonNode found = data.path("transaction");
          boolean isNamed = isText(found, "reference", reference) || isText(found, "caller_reference", reference);
          return isNamed && isOurs(found);
        }),
        deadline)
        .transaction();
  }

  /**
   * Which transactions are listed. Each field can be null.
   *
   * @param from inclusive, as `to` is, such as 2026-11-21T00:00:00+01:00; a date alone is that day in UTC
   * @param cursor the nextCursor of the page before
   */
  public record TransactionQuery(String status, String type, String from, String to, String cursor) {
    /** All transactions, from the newest. */
    public static final TransactionQuery ALL = new TransactionQuery(null, null, null, null, null);

    public TransactionQuery withCursor(String next) {
      return new TransactionQuery(status, type, from, to, next);
    }
  }

  /**
   * Lists transactions, newest first. A page can be short while nextCursor is not null. A new transaction is in the list some
   * moments later: `transaction` says whether an order exists.
   */
  public TransactionPage transactions(TransactionQuery query)
      throws ServiceException, NoAnswerException, InterruptedException {
    ObjectNode fields = JSON.valueToTree(query);
    List<String> parameters = new ArrayList<>();
    fields.fieldNames().forEachRemaining(name -> {
      String value = fields.get(name).textValue();
      if (value != null) parameters.add(name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8));
    });
    return read("/transactions?" + String.join("&", parameters), TransactionPage.class, data -> {
      for (JsonNode transaction : data.path("transactions")) {
        boolean isAsked = query.status == null || isText(transaction, "status", query.status);
        isAsked &= query.type == null || isText(transaction, "type", query.type);
        if (!isAsked || !isOurs(transaction)) return false;
      }
      // A page that names itself as the next one would be read for ever.
      boolean isNext = query.cursor == null || !isText(data, "next_cursor", query.cursor);
      return data.path("transactions").isArray() && isNext;
    });
  }

  /** Networks and data plans. Keep them for an hour. */
  public Catalog catalog() throws ServiceException, NoAnswerException, InterruptedException {
    return read(
        "/vtu/data", Catalog.class, data -> data.path("networks").isArray() && data.path("data_plans").isArray());
  }

  /** The prepaid balance. */
  public WalletWallet wallet() throws ServiceException, NoAnswerException, InterruptedException {
    return read("/wallet", Wallet.class, data -> data.path("wallet").path("balance").isNumber()).wallet();
  }

  private <T> T read(String path, Class<T> type, Predicate<JsonNode> isAnswer)
      throws ServiceException, NoAnswerException, InterruptedException {
    return send(new Request<>("GET", path, null, null, false, type, isAnswer), deadline());
  }

  /**
   * Looks a transaction up until its status is final. Throws at the end of `atMost`, or at once if the lookup is refused for
   * good, as without a valid key. The exception says nothing about the order; its cause is the last error, null of none.
   */
  public Transaction await(String reference, Duration atMost) throws TimeoutException, InterruptedException {
    checked(reference);
    long end = System.nanoTime() + atMost.toNanos();
    for (long pollMs = 1_000; ; pollMs = Math.min(pollMs * 3 / 2, POLL_MS_MAX)) {
      Exception last = null;
      try {
        long lastDeadline = Math.max(end, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RETRY_MS_MIN));
        Transaction found = transaction(reference, Math.min(lastDeadline, deadline()));
        if (!"processing".equals(found.status())) return found;
      } catch (ServiceException | NoAnswerException error) {
        last = error;
      }
      long leftMs = msUntil(end);
      if (leftMs < 2 * RETRY_MS_MIN || !mayBeFound(last)) {
        throw (TimeoutException) new TimeoutException(reference + " is not final yet: wait again").initCause(last);
      }
      Thread.sleep(pauseMs(pollMs, leftMs));
    }
  }

  /** The time before the next lookup. A last one has RETRY_MS_MIN. */
  static long pauseMs(long pollMs, long leftMs) {
    return Math.min(jittered(pollMs), leftMs - RETRY_MS_MIN);
  }

  /** Whether a later lookup may find the transaction: its request may still be under way. */
  private static boolean mayBeFound(Exception error) {
    return !(error instanceof ServiceException refusal)
        || refusal.code.equals("not_found")
        || refusal.retryAfterSeconds != null
        || refusal.status >= 500;
  }

  private <T> T place(
      String type, String path, Object order, String reference, boolean confirmDuplicate, Class<T> answer)
      throws ServiceException, OutcomeUnknownException, InterruptedException {
    ObjectNode fields = JSON.valueToTree(order);
    String body = fields.put("reference", checked(reference)).toString();
    String phoneNumber = fields.path("phone_number").asText();
    Request<T> request =
        new Request<>("POST", path, body, reference, confirmDuplicate, answer, data -> {
          JsonNode placed = data.path("transaction");
          String shown = placed.hasNonNull("phone_number") ? placed.get("phone_number").asText().replaceFirst("^\\*+", "") : "";
          return isText(placed, "caller_reference", reference)
              && isText(placed, "type", type)
              && phoneNumber.endsWith(shown)
              && isOurs(placed);
        });
    long deadline = deadline();
    ServiceException refusal;
    try {
      return send(request, deadline);
    } catch (NoAnswerException error) {
      throw new OutcomeUnknownException(reference, error);
    } catch (ServiceException error) {
      if (error.transactionReference != null) throw error;
      if (!isLasting(error)) throw new OutcomeUnknownException(reference, error);
      refusal = error;
    }
    // A copy of the refused request can still be carried out, for example once the wallet is funded. So it is cancelled.
    long lastDeadline = Math.max(deadline, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RETRY_MS_MIN));
    Transaction found;
    try {
      found = cancel(reference, type, lastDeadline);
    } catch (NoAnswerException | ServiceException error) {
      throw new OutcomeUnknownException(reference, refusal);
    }
    if ("order_cancelled".equals(found.errorCode())) throw refusal.withTransaction(found.reference());
    // Another request than the refused one placed the order: a replay is its answer.
    try {
      return send(request, lastDeadline);
    } catch (NoAnswerException error) {
      throw new OutcomeUnknownException(reference, error);
    } catch (ServiceException error) {
      if (error.transactionReference != null) throw error;
      throw new OutcomeUnknownException(reference, error);
    }
  }

  private Transaction cancel(String reference, String type, long deadline)
      throws ServiceException, NoAnswerException, InterruptedException {
    String body = JSON.valueToTree(new CancelRequest(reference, type)).toString();
    return send(
        new Request<>("POST", "/transactions/cancel", body, null, false, TransactionLookup.class, data -> {
          JsonNode found = data.path("transaction");
          return isText(found, "caller_reference", reference) && isOurs(found);
        }),
        deadline)
        .transaction();
  }

  /** In the path of a lookup, an empty one would be the list, and a URL takes . and .. for folders. */
  private static String checked(String reference) {
    if (reference == null || !reference.matches("[\\w.:-]{1,100}") || reference.matches("\\.\\.?")) {
      throw new IllegalArgumentException(
          "reference must be 1 to 100 of the characters A-Z a-z 0-9 . _ : - and not . or ..");
    }
    return reference;
  }

  private static boolean isText(JsonNode of, String field, String expected) {
    return expected.equals(of.path(field).textValue());
  }

  /** Whether a transaction is of the key's mode and has a status that this release knows. */
  private boolean isOurs(JsonNode transaction) {
    String reference = transaction.path("reference").textValue();
    boolean isKnown = STATUSES.contains(transaction.path("status").asText());
    return isKnown && reference != null && !reference.isEmpty() && isOfMode(reference);
  }

  /** Whether a transaction is of the key's mode: the status of a simulated one says nothing about a live order. */
  private boolean isOfMode(String reference) {
    return reference.startsWith("TEST_") == apiKey.startsWith("test_");
  }

  /** Whether the same order would be refused again. A refusal of the reference is left to the caller. */
  private static boolean isLasting(ServiceException error) {
    return (error.status == 400 || error.status == 422)
        && !error.code.equals("reference_reused")
        && !error.fields.containsKey("reference");
  }

  /** `reference` is that of an order; null of what is none. */
  private record Request<T>(
      String method,
      String path,
      String body,
      String reference,
      boolean confirmDuplicate,
      Class<T> type,
      Predicate<JsonNode> isAnswer) {}

  /** `isPreliminary` of a check without its result yet. Only the same request gets that: a lookup has none. */
  private record Answer<T>(T value, boolean isPreliminary) {}

  /** Sends the same bytes until an answer decides the call, or the deadline comes. */
  private <T> T send(Request<T> request, long deadline)
      throws ServiceException, NoAnswerException, InterruptedException {
    T preliminary = null;
    long backoffMs = FIRST_BACKOFF_MS;
    for (int number = 1; ; number++, backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX)) {
      long waitMs = jittered(backoffMs);
      try {
        Answer<T> answer = attempt(request, Math.max(msUntil(deadline), 1));
        boolean isLast = !answer.isPreliminary || waitMs + RETRY_MS_MIN > msUntil(deadline);
        log(request, number, "answered", isLast, waitMs);
        if (isLast) return answer.value;
        preliminary = answer.value;
      } catch (ServiceException error) {
        boolean isDecided = request.reference != null && error.transactionReference != null;
        boolean passes = error.retryAfterSeconds != null || PASSING.contains(error.code);
        waitMs = waitMs(error.retryAfterSeconds, waitMs);
        boolean isLast = isDecided || !passes || waitMs + RETRY_MS_MIN > msUntil(deadline);
        log(request, number, error.code, isLast, waitMs);
        if (isLast) throw error;
      } catch (NoAnswerException error) {
        boolean passes =
            error.isMismatch || error.status < 300 || error.status >= 500 || PASSING_STATUS.contains(error.status);
        waitMs = waitMs(error.retryAfterSeconds, waitMs);
        boolean isLast = !passes || waitMs + RETRY_MS_MIN > msUntil(deadline);
        log(request, number, error.getMessage(), isLast, waitMs);
        if (isLast && preliminary != null) return preliminary;
        if (isLast) throw error;
      }
      Thread.sleep(waitMs);
    }
  }

  /** What a logger throws must not hide that an order was placed. */
  private static void log(Request<?> request, int number, String result, boolean isLast, long waitMs) {
    String what = request.reference == null ? request.path : request.path + " " + request.reference;
    String next = isLast ? "" : ", again in " + waitMs + " ms";
    try {
      LOG.log(System.Logger.Level.DEBUG, () -> what + ", attempt " + number + ": " + result + next);
    } catch (RuntimeException error) {
      // The call goes on without its line.
    }
  }

  private static long waitMs(Long retryAfterSeconds, long backoffMs) {
    return retryAfterSeconds == null ? backoffMs : retryAfterSeconds * 1_000 + Math.min(backoffMs, JITTER_MS_MAX);
  }

  /** Sends the request once. */
  private <T> Answer<T> attempt(Request<T> request, long leftMs)
      throws ServiceException, NoAnswerException, InterruptedException {
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(URI.create(baseUrl + request.path))
            .header("Authorization", "Bearer " + apiKey)
            .header("Accept", "application/json")
            // Without it, a proxy may compress the answer.
            .header("Accept-Encoding", "identity");
    if (request.confirmDuplicate) builder.header("X-Confirm-Duplicate", "true");
    if (request.body == null) builder.GET();
    else builder.header("Content-Type", "application/json").POST(BodyPublishers.ofString(request.body));
    AtomicReference<ResponseInfo> head = new AtomicReference<>();
    // A request's own time-out ends when the headers have come, so it would wait for ever for a body.
    CompletableFuture<HttpResponse<String>> sent = http.sendAsync(builder.build(), received -> {
      head.set(received);
      return new LimitedText();
    });
    try {
      HttpResponse<String> response = sent.get(Math.min(leftMs, attemptTimeout.toMillis()), TimeUnit.MILLISECONDS);
      return read(request, response.statusCode(), response.headers(), response.body());
    } catch (TimeoutException error) {
      sent.cancel(true);
      throw new NoAnswerException("no answer in time", error);
    } catch (InterruptedException error) {
      sent.cancel(true);
      throw error;
    } catch (ExecutionException error) {
      ResponseInfo received = head.get();
      // The headers of an error are enough: one whose body breaks off is read without it.
      if (received != null && !header(received.headers(), "X-Error-Code").isEmpty()) {
        return read(request, received.statusCode(), received.headers(), "");
      }
      throw new NoAnswerException("the connection failed", error);
    }
  }

  /** The body as text. The connection of one that is too long is closed. */
  private static final class LimitedText implements BodySubscriber<String> {
    private final BodySubscriber<String> text = BodySubscribers.ofString(StandardCharsets.UTF_8);
    private Flow.Subscription subscription;
    private long bytes = 0;

    @Override
    public CompletionStage<String> getBody() {
      return text.getBody();
    }

    @Override
    public void onSubscribe(Flow.Subscription started) {
      subscription = started;
      text.onSubscribe(started);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
      bytes += buffers.stream().mapToLong(ByteBuffer::remaining).sum();
      if (bytes <= BODY_BYTES_MAX) {
        text.onNext(buffers);
      } else {
        subscription.cancel();
        text.onError(new IOException("The answer is too long to be one of the service"));
      }
    }

    @Override
    public void onError(Throwable error) {
      text.onError(error);
    }

    @Override
    public void onComplete() {
      text.onComplete();
    }
  }

  private <T> Answer<T> read(Request<T> request, int status, HttpHeaders headers, String text)
      throws ServiceException, NoAnswerException {
    Long retryAfterSeconds = secondsIn(header(headers, "Retry-After"));
    String requestId = headers.firstValue("X-Request-Id").orElse(null);
    JsonNode body = parse(text);
    String code = header(headers, "X-Error-Code");
    if (!code.isEmpty()) {
      String named = header(headers, "X-Caller-Reference");
      String transaction = header(headers, "X-Transaction-Reference");
      boolean isNamed = !named.isEmpty() || !transaction.isEmpty();
      boolean isOwn = named.equals(request.reference) && (transaction.isEmpty() || isOfMode(transaction));
      if (request.reference != null && isNamed && !isOwn) {
        throw new NoAnswerException("the answer is about another order", status, true, retryAfterSeconds, requestId);
      }
      throw new ServiceException(
          code,
          status,
          body.path("message").asText(code),
          transaction.isEmpty() ? null : transaction,
          headers.firstValue("X-Duplicate-Of").orElse(null),
          fieldsOf(body.path("errors")),
          retryAfterSeconds,
          requestId);
    }
    if (status == 200 && body.path("status").booleanValue() && body.path("data") instanceof ObjectNode data) {
      try {
        boolean lacksResult = request.reference != null && data.path("result").isNull();
        boolean isPreliminary = lacksResult && isText(data.path("transaction"), "status", "processing");
        data.put("replayed", header(headers, "Idempotent-Replayed").equals("true"));
        String estimate = header(headers, "X-Estimated-Delivery");
        if (estimate.matches("\\d{1,9}")) data.put("estimated_delivery_s", Long.valueOf(estimate));
        if (request.isAnswer.test(data)) return new Answer<>(JSON.treeToValue(data, request.type), isPreliminary);
      } catch (JsonProcessingException error) {
        // It is no answer of the service.
      }
    }
    throw new NoAnswerException(status + " that is not an answer to this request", status, false, retryAfterSeconds, requestId);
  }

  /** The service sends seconds; a proxy may send a date. */
  private static Long secondsIn(String retryAfter) {
    if (retryAfter.matches("\\d{1,9}")) return Long.valueOf(retryAfter);
    // The format takes other zones too.
    if (!retryAfter.endsWith(" GMT")) return null;
    try {
      Instant until = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(retryAfter));
      return Math.max(0, until.getEpochSecond() - Instant.now().getEpochSecond());
    } catch (DateTimeException error) {
      return null;
    }
  }

  private static String header(HttpHeaders headers, String name) {
    return headers.firstValue(name).orElse("");
  }

  private static JsonNode parse(String text) {
    try {
      return JSON.readTree(text);
    } catch (IOException error) {
      return JSON.missingNode();
    }
  }

  private static Map<String, List<String>> fieldsOf(JsonNode errors) {
    Map<String, List<String>> fields = new HashMap<>();
    // Not properties(): Jackson 2.12, which older releases of Spring bring, lacks it.
    errors.fieldNames().forEachRemaining(name -> {
      List<String> messages = new ArrayList<>();
      errors.get(name).forEach(message -> messages.add(message.asText()));
      fields.put(name, messages);
    });
    return fields;
  }

  private long deadline() {
    return System.nanoTime() + timeout.toNanos();
  }

  private static long msUntil(long nanoTime) {
    return TimeUnit.NANOSECONDS.toMillis(nanoTime - System.nanoTime());
  }

  /** Half of a wait is random, so that clients do not retry together. */
  private static long jittered(long ms) {
    return ms / 2 + ThreadLocalRandom.current().nextLong(ms / 2 + 1);
  }
}
