package airtime.conformance;

import airtime.AirtimeClient;
import airtime.Models.AirtimePurchaseRequest;
import airtime.Models.DataPurchaseRequest;
import airtime.Models.Purchase;
import airtime.OutcomeUnknownException;
import airtime.ServiceException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The adapter of the Java client for the conformance kit (docs/conformance.md). */
public final class Adapter {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final AirtimeClient CLIENT =
      new AirtimeClient(
          System.getenv("AIRTIME_BASE_URL"),
          System.getenv("AIRTIME_API_KEY"),
          milliseconds("AIRTIME_TIMEOUT_MS"),
          milliseconds("AIRTIME_ATTEMPT_TIMEOUT_MS"));

  public static void main(String[] args) throws Exception {
    ExecutorService workers = Executors.newCachedThreadPool();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode command = JSON.readTree(line);
      workers.submit(() -> answer(command));
    }
    workers.shutdown();
  }

  private static Duration milliseconds(String name) {
    return Duration.ofMillis(Long.parseLong(System.getenv(name)));
  }

  private static void answer(JsonNode command) {
    ObjectNode answer = JSON.createObjectNode().put("id", command.get("id").asText());
    try {
      Purchase bought = buy(command);
      answer.put("result", bought.transaction().status()).put("reference", bought.transaction().reference());
    } catch (OutcomeUnknownException error) {
      answer.put("result", "unknown").put("error", error.getMessage());
    } catch (ServiceException error) {
      answer.put("result", "failed").put("reference", error.transactionReference).put("error", error.code);
    } catch (InterruptedException | RuntimeException error) {
      error.printStackTrace();
      System.exit(1);
    }
    System.out.println(answer);
  }

  private static Purchase buy(JsonNode command)
      throws ServiceException, OutcomeUnknownException, InterruptedException {
    String reference = command.get("reference").asText();
    String phoneNumber = command.get("phone_number").asText();
    if (command.get("kind").asText().equals("data")) {
      long networkId = command.get("network_id").asLong();
      long planId = command.get("plan_id").asLong();
      return CLIENT.buy(new DataPurchaseRequest(networkId, planId, phoneNumber, null), reference);
    }
    String network = command.get("network").asText();
    return CLIENT.buy(new AirtimePurchaseRequest(network, phoneNumber, command.get("amount").decimalValue()), reference);
  }
}
