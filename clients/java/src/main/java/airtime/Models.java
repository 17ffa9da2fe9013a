// Written by npm run openapi from docs/openapi.json.
package airtime;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.List;

/** What the service is sent and answers. Amounts are NGN. A field that can be missing is null then. */
public final class Models {
  private Models() {}

  /**
   * @param network The {@code code} of a network in the catalog, not case-sensitive. {@code etisalat} and {@code t2} mean {@code 9mobile}, {@code globacom} means {@code glo}.
   * @param amount NGN, at most 2 decimals; floating-point noise of up to a millionth of a kobo is rounded away. The largest amount is a setting of the deployment.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record AirtimePurchaseRequest(
      @JsonProperty("network") String network,
      @JsonProperty("phone_number") String phoneNumber,
      @JsonProperty("amount") BigDecimal amount) {}

  /**
   * @param bvn The bank verification number, 11 digits.
   * @param dateOfBirth {@code YYYY-MM-DD}, or empty.
   * @param photo Base64, without a {@code data:} prefix, or empty.
   * @param lgaOfOrigin Local government area.
   * @param enrollmentBank The bank where the BVN was registered.
   * @param registrationDate {@code YYYY-MM-DD}.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnAdvancedResult(
      @JsonProperty("bvn") String bvn,
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      @JsonProperty("date_of_birth") String dateOfBirth,
      @JsonProperty("photo") String photo,
      @JsonProperty("phone_number") String phoneNumber,
      @JsonProperty("email") String email,
      @JsonProperty("title") String title,
      @JsonProperty("marital_status") String maritalStatus,
      @JsonProperty("nationality") String nationality,
      @JsonProperty("residential_address") String residentialAddress,
      @JsonProperty("state_of_origin") String stateOfOrigin,
      @JsonProperty("lga_of_origin") String lgaOfOrigin,
      @JsonProperty("enrollment_bank") String enrollmentBank,
      @JsonProperty("registration_date") String registrationDate,
      @JsonProperty("watch_listed") Boolean watchListed) {}

  /**
   * @param dateOfBirth {@code YYYY-MM-DD}, or empty.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnBasicResult(
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      @JsonProperty("date_of_birth") String dateOfBirth,
      @JsonProperty("phone_number") String phoneNumber) {}

  /**
   * @param title The operation, for example {@code NIN Verification}.
   * @param amount NGN, at most 2 decimals.
   * @param reference The service's reference: the kind of order, or {@code TEST}, then {@code _} and 26 characters.
   * @param callerReference The {@code reference} that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record IdentityTransaction(
      @JsonProperty("title") String title,
      @JsonProperty("amount") BigDecimal amount,
      @JsonProperty("reference") String reference,
      @JsonProperty("status") String status,
      @JsonProperty("type") String type,
      @JsonProperty("caller_reference") String callerReference) {}

  /**
   * @param bvn The bank verification number, 11 digits.
   * @param dateOfBirth {@code YYYY-MM-DD}, or empty.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnRetrieveResult(
      @JsonProperty("bvn") String bvn,
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      @JsonProperty("date_of_birth") String dateOfBirth,
      @JsonProperty("phone_number") String phoneNumber) {}

  /**
   * @param result Null only while the status is {@code processing}.
   * @param replayed True if an earlier request with this reference made the transaction.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnRetrieval(
      @JsonProperty("transaction") IdentityTransaction transaction,
      @JsonProperty("result") BvnRetrieveResult result,
      @JsonProperty("replayed") Boolean replayed) {}

  /**
   * @param result Null only while the status is {@code processing}.
   * @param replayed True if an earlier request with this reference made the transaction.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnVerification(
      @JsonProperty("transaction") IdentityTransaction transaction,
      @JsonProperty("result") JsonNode result,
      @JsonProperty("replayed") Boolean replayed) {
    public BvnVerification {
      if (result != null && result.isNull()) result = null;
    }
  }

  /**
   * @param method How the person consented.
   * @param id The id of the one-time password, authorisation or form. A UUID of a version of RFC 9562, or a text without a number of 10 or more digits.
   * @param obtainedAt When the person consented; not in the future.
   * @param textVersion The version of the text that the person consented to.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ConsentEvidence(
      @JsonProperty("method") String method,
      @JsonProperty("id") String id,
      @JsonProperty("obtained_at") String obtainedAt,
      @JsonProperty("text_version") String textVersion) {}

  /**
   * @param bvn The bank verification number, 11 digits.
   * @param mode {@code basic}: name, gender and date of birth. {@code advanced}: the whole profile, with a photo. Not case-sensitive.
   * @param isConsent The person has consented. Only JSON {@code true} is accepted.
   * @param purpose Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnVerifyRequest(
      @JsonProperty("bvn") String bvn,
      @JsonProperty("mode") String mode,
      @JsonProperty("is_consent") Boolean isConsent,
      @JsonProperty("purpose") String purpose,
      @JsonProperty("consent_evidence") ConsentEvidence consentEvidence) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CancelRequest(
      @JsonProperty("reference") String reference,
      @JsonProperty("type") String type) {}

  /**
   * @param id {@code network_id} of a data purchase.
   * @param code Lower-case network code: {@code network} of an airtime purchase.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Network(
      @JsonProperty("id") Long id,
      @JsonProperty("name") String name,
      @JsonProperty("code") String code) {}

  /**
   * @param id {@code plan_id} of a data purchase.
   * @param networkId The {@code id} of a network in the catalog.
   * @param price What a purchase debits from the wallet: NGN, at most 2 decimals.
   * @param validity How long the bundle lasts, as text for people.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record DataPlan(
      @JsonProperty("id") Long id,
      @JsonProperty("network_id") Long networkId,
      @JsonProperty("name") String name,
      @JsonProperty("price") BigDecimal price,
      @JsonProperty("validity") String validity) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Catalog(
      @JsonProperty("networks") List<Network> networks,
      @JsonProperty("data_plans") List<DataPlan> dataPlans) {}

  /**
   * @param id {@code plan_id} of a data purchase.
   * @param networkId The {@code id} of a network in the catalog.
   * @param price What a purchase debits from the wallet: NGN, at most 2 decimals.
   * @param network The network's display name.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ChangedPlan(
      @JsonProperty("id") Long id,
      @JsonProperty("network_id") Long networkId,
      @JsonProperty("name") String name,
      @JsonProperty("price") BigDecimal price,
      @JsonProperty("network") String network) {}

  /**
   * @param id {@code plan_id} of a data purchase.
   * @param networkId The {@code id} of a network in the catalog.
   * @param price What a purchase debits from the wallet: NGN, at most 2 decimals.
   * @param network The network's display name.
   * @param previousPrice The price before: NGN, at most 2 decimals.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record RepricedPlan(
      @JsonProperty("id") Long id,
      @JsonProperty("network_id") Long networkId,
      @JsonProperty("name") String name,
      @JsonProperty("price") BigDecimal price,
      @JsonProperty("network") String network,
      @JsonProperty("previous_price") BigDecimal previousPrice) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CatalogUpdatedDataCounts(
      @JsonProperty("plans_added") Long plansAdded,
      @JsonProperty("plans_removed") Long plansRemoved,
      @JsonProperty("plans_repriced") Long plansRepriced,
      @JsonProperty("networks_added") Long networksAdded,
      @JsonProperty("networks_removed") Long networksRemoved) {}

  /**
   * @param at Since when the service sells by this catalog, in UTC.
   * @param counts How many entries each list would have if it were not cut.
   * @param truncated The lists are cut: read the catalog.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CatalogUpdatedData(
      @JsonProperty("at") String at,
      @JsonProperty("plans_added") List<ChangedPlan> plansAdded,
      @JsonProperty("plans_removed") List<ChangedPlan> plansRemoved,
      @JsonProperty("plans_repriced") List<RepricedPlan> plansRepriced,
      @JsonProperty("networks_added") List<Network> networksAdded,
      @JsonProperty("networks_removed") List<Network> networksRemoved,
      @JsonProperty("counts") CatalogUpdatedDataCounts counts,
      @JsonProperty("truncated") Boolean truncated) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CatalogUpdated(
      @JsonProperty("event") String event,
      @JsonProperty("data") CatalogUpdatedData data) {}

  /**
   * @param networkId The {@code id} of a network in the catalog.
   * @param planId The {@code id} of a plan in the catalog. The plan must belong to the network.
   * @param expectedPrice The price that the caller knows, in NGN. If the plan has another one, the order is refused with {@code price_changed} and nothing is charged.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record DataPurchaseRequest(
      @JsonProperty("network_id") Long networkId,
      @JsonProperty("plan_id") Long planId,
      @JsonProperty("phone_number") String phoneNumber,
      @JsonProperty("expected_price") BigDecimal expectedPrice) {}

  /**
   * @param accountId The account whose endpoint this is.
   * @param keyId The key that has the limit; empty for a limit of the whole account.
   * @param limit Which limit: by amount (NGN) or number, of a day or a month.
   * @param max The limit: NGN, or a number of orders.
   * @param period The day ({@code 2026-11-21}) or month ({@code 2026-11}), in the service's time zone.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record LimitNearData(
      @JsonProperty("account_id") String accountId,
      @JsonProperty("key_id") String keyId,
      @JsonProperty("limit") String limit,
      @JsonProperty("max") BigDecimal max,
      @JsonProperty("period") String period) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record LimitNear(
      @JsonProperty("event") String event,
      @JsonProperty("data") LimitNearData data) {}

  /**
   * @param nin The national identification number, 11 digits.
   * @param dateOfBirth {@code YYYY-MM-DD}, or empty.
   * @param photo Base64, without a {@code data:} prefix, or empty.
   * @param lgaOfOrigin Local government area.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinAdvancedResult(
      @JsonProperty("nin") String nin,
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      @JsonProperty("date_of_birth") String dateOfBirth,
      @JsonProperty("photo") String photo,
      @JsonProperty("phone_number") String phoneNumber,
      @JsonProperty("email") String email,
      @JsonProperty("title") String title,
      @JsonProperty("marital_status") String maritalStatus,
      @JsonProperty("nationality") String nationality,
      @JsonProperty("residential_address") String residentialAddress,
      @JsonProperty("state_of_origin") String stateOfOrigin,
      @JsonProperty("lga_of_origin") String lgaOfOrigin) {}

  /**
   * @param dateOfBirth {@code YYYY-MM-DD}, or empty.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinBasicResult(
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      @JsonProperty("date_of_birth") String dateOfBirth) {}

  /**
   * @param nin The national identification number, 11 digits.
   * @param dateOfBirth {@code YYYY-MM-DD}, or empty.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinRetrieveResult(
      @JsonProperty("nin") String nin,
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      @JsonProperty("date_of_birth") String dateOfBirth,
      @JsonProperty("phone_number") String phoneNumber) {}

  /**
   * @param result Null only while the status is {@code processing}.
   * @param replayed True if an earlier request with this reference made the transaction.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinRetrieval(
      @JsonProperty("transaction") IdentityTransaction transaction,
      @JsonProperty("result") NinRetrieveResult result,
      @JsonProperty("replayed") Boolean replayed) {}

  /**
   * @param result Null only while the status is {@code processing}.
   * @param replayed True if an earlier request with this reference made the transaction.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinVerification(
      @JsonProperty("transaction") IdentityTransaction transaction,
      @JsonProperty("result") JsonNode result,
      @JsonProperty("replayed") Boolean replayed) {
    public NinVerification {
      if (result != null && result.isNull()) result = null;
    }
  }

  /**
   * @param nin The national identification number, 11 digits; or a virtual NIN of 16 letters and digits, if the service's upstream takes it.
   * @param mode {@code basic}: name, gender and date of birth. {@code advanced}: the whole profile, with a photo. Not case-sensitive.
   * @param isConsent The person has consented. Only JSON {@code true} is accepted.
   * @param purpose Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinVerifyRequest(
      @JsonProperty("nin") String nin,
      @JsonProperty("mode") String mode,
      @JsonProperty("is_consent") Boolean isConsent,
      @JsonProperty("purpose") String purpose,
      @JsonProperty("consent_evidence") ConsentEvidence consentEvidence) {}

  /**
   * @param reference The service's reference: the kind of order, or {@code TEST}, then {@code _} and 26 characters.
   * @param amount NGN, at most 2 decimals.
   * @param description The product and the recipient.
   * @param callerReference The {@code reference} that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours.
   * @param phoneNumber The recipient's number. After the retention of the deployment (400 days by default) all but the last two digits are {@code *}.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record PurchasedTransaction(
      @JsonProperty("reference") String reference,
      @JsonProperty("status") String status,
      @JsonProperty("amount") BigDecimal amount,
      @JsonProperty("description") String description,
      @JsonProperty("type") String type,
      @JsonProperty("caller_reference") String callerReference,
      @JsonProperty("phone_number") String phoneNumber) {}

  /**
   * @param replayed True if an earlier request with this reference made the transaction.
   * @param estimatedDeliveryS While the order waits: the estimated seconds until its delivery.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Purchase(
      @JsonProperty("transaction") PurchasedTransaction transaction,
      @JsonProperty("replayed") Boolean replayed,
      @JsonProperty("estimated_delivery_s") Long estimatedDeliveryS) {}

  /**
   * @param isConsent The person has consented. Only JSON {@code true} is accepted.
   * @param purpose Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record RetrieveRequest(
      @JsonProperty("phone_number") String phoneNumber,
      @JsonProperty("is_consent") Boolean isConsent,
      @JsonProperty("purpose") String purpose,
      @JsonProperty("consent_evidence") ConsentEvidence consentEvidence) {}

  /**
   * @param reference The service's reference: the kind of order, or {@code TEST}, then {@code _} and 26 characters.
   * @param amount NGN, at most 2 decimals.
   * @param description The product and the recipient.
   * @param callerReference The {@code reference} that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours.
   * @param phoneNumber The recipient's number; null for identity checks. After the retention of the deployment (400 days by default) all but the last two digits are {@code *}.
   * @param network The network's display name; null for identity checks.
   * @param errorCode Why the transaction failed: a code of {@code X-Error-Code}; null unless the status is {@code failed}.
   * @param createdAt Time of creation, in UTC.
   * @param updatedAt Time of the last change, in UTC.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Transaction(
      @JsonProperty("reference") String reference,
      @JsonProperty("status") String status,
      @JsonProperty("amount") BigDecimal amount,
      @JsonProperty("description") String description,
      @JsonProperty("type") String type,
      @JsonProperty("caller_reference") String callerReference,
      @JsonProperty("phone_number") String phoneNumber,
      @JsonProperty("network") String network,
      @JsonProperty("error_code") String errorCode,
      @JsonProperty("created_at") String createdAt,
      @JsonProperty("updated_at") String updatedAt) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TransactionLookup(
      @JsonProperty("transaction") Transaction transaction) {}

  /**
   * @param transactions Newest first.
   * @param nextCursor The {@code cursor} of the next page; null on the last page.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TransactionPage(
      @JsonProperty("transactions") List<Transaction> transactions,
      @JsonProperty("next_cursor") String nextCursor) {}

  /**
   * @param reference The service's reference: the kind of order, or {@code TEST}, then {@code _} and 26 characters.
   * @param amount NGN, at most 2 decimals.
   * @param network The network's display name; empty for identity checks.
   * @param phoneNumber The recipient's number; empty for identity checks. After the retention of the deployment (400 days by default) all but the last two digits are {@code *}.
   * @param createdAt Time of creation, in UTC.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TransactionUpdatedData(
      @JsonProperty("reference") String reference,
      @JsonProperty("status") String status,
      @JsonProperty("amount") BigDecimal amount,
      @JsonProperty("type") String type,
      @JsonProperty("network") String network,
      @JsonProperty("phone_number") String phoneNumber,
      @JsonProperty("created_at") String createdAt) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TransactionUpdated(
      @JsonProperty("event") String event,
      @JsonProperty("data") TransactionUpdatedData data) {}

  /**
   * @param balance NGN, at most 2 decimals.
   * @param lowBalanceThreshold NGN. Balances below this value count as low. Set for the account; null if it is not set.
   * @param updatedAt Time of the last change, in UTC.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WalletWallet(
      @JsonProperty("currency") String currency,
      @JsonProperty("balance") BigDecimal balance,
      @JsonProperty("low_balance_threshold") BigDecimal lowBalanceThreshold,
      @JsonProperty("updated_at") String updatedAt) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Wallet(
      @JsonProperty("wallet") WalletWallet wallet) {}

  /**
   * @param accountId The account whose endpoint this is.
   * @param balance NGN, at most 2 decimals.
   * @param threshold NGN. The balance is below it.
   * @param at When it was noticed, in UTC.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WalletLowData(
      @JsonProperty("account_id") String accountId,
      @JsonProperty("balance") BigDecimal balance,
      @JsonProperty("threshold") BigDecimal threshold,
      @JsonProperty("at") String at) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WalletLow(
      @JsonProperty("event") String event,
      @JsonProperty("data") WalletLowData data) {}

  /**
   * @param accountId The account whose endpoint this is.
   * @param createdAt Time of creation, in UTC.
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WebhookTestData(
      @JsonProperty("account_id") String accountId,
      @JsonProperty("created_at") String createdAt) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WebhookTest(
      @JsonProperty("event") String event,
      @JsonProperty("data") WebhookTestData data) {}
}
