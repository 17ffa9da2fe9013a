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

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record AirtimePurchaseRequest(
      /* The `code` of a network in the catalog, not case-sensitive. `etisalat` and `t2` mean `9mobile`, `globacom` means `glo`. */
      @JsonProperty("network") String network,
      @JsonProperty("phone_number") String phoneNumber,
      /* NGN, at most 2 decimals; floating-point noise of up to a millionth of a kobo is rounded away. The largest amount is a setting of the deployment. */
      @JsonProperty("amount") BigDecimal amount) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnAdvancedResult(
      /* The bank verification number, 11 digits. */
      @JsonProperty("bvn") String bvn,
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      /* `YYYY-MM-DD`, or empty. */
      @JsonProperty("date_of_birth") String dateOfBirth,
      /* Base64, without a `data:` prefix, or empty. */
      @JsonProperty("photo") String photo,
      @JsonProperty("phone_number") String phoneNumber,
      @JsonProperty("email") String email,
      @JsonProperty("title") String title,
      @JsonProperty("marital_status") String maritalStatus,
      @JsonProperty("nationality") String nationality,
      @JsonProperty("residential_address") String residentialAddress,
      @JsonProperty("state_of_origin") String stateOfOrigin,
      /* Local government area. */
      @JsonProperty("lga_of_origin") String lgaOfOrigin,
      /* The bank where the BVN was registered. */
      @JsonProperty("enrollment_bank") String enrollmentBank,
      /* `YYYY-MM-DD`. */
      @JsonProperty("registration_date") String registrationDate,
      @JsonProperty("watch_listed") Boolean watchListed) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnBasicResult(
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      /* `YYYY-MM-DD`, or empty. */
      @JsonProperty("date_of_birth") String dateOfBirth,
      @JsonProperty("phone_number") String phoneNumber) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record IdentityTransaction(
      /* The operation, for example `NIN Verification`. */
      @JsonProperty("title") String title,
      /* NGN, at most 2 decimals. */
      @JsonProperty("amount") BigDecimal amount,
      /* The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
      @JsonProperty("reference") String reference,
      @JsonProperty("status") String status,
      @JsonProperty("type") String type,
      /* The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours. */
      @JsonProperty("caller_reference") String callerReference) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnRetrieveResult(
      /* The bank verification number, 11 digits. */
      @JsonProperty("bvn") String bvn,
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      /* `YYYY-MM-DD`, or empty. */
      @JsonProperty("date_of_birth") String dateOfBirth,
      @JsonProperty("phone_number") String phoneNumber) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnRetrieval(
      @JsonProperty("transaction") IdentityTransaction transaction,
      /* Null only while the status is `processing`. */
      @JsonProperty("result") BvnRetrieveResult result) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnVerification(
      @JsonProperty("transaction") IdentityTransaction transaction,
      /* Null only while the status is `processing`. */
      @JsonProperty("result") JsonNode result) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ConsentEvidence(
      /* How the person consented. */
      @JsonProperty("method") String method,
      /* The id of the one-time password, authorisation or form. A UUID of a version of RFC 9562, or a text without a number of 10 or more digits. */
      @JsonProperty("id") String id,
      /* When the person consented; not in the future. */
      @JsonProperty("obtained_at") String obtainedAt,
      /* The version of the text that the person consented to. */
      @JsonProperty("text_version") String textVersion) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record BvnVerifyRequest(
      /* The bank verification number, 11 digits. */
      @JsonProperty("bvn") String bvn,
      /* `basic`: name, gender and date of birth. `advanced`: the whole profile, with a photo. Not case-sensitive. */
      @JsonProperty("mode") String mode,
      /* The person has consented. Only JSON `true` is accepted. */
      @JsonProperty("is_consent") Boolean isConsent,
      /* Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits. */
      @JsonProperty("purpose") String purpose,
      @JsonProperty("consent_evidence") ConsentEvidence consentEvidence) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CancelRequest(
      @JsonProperty("reference") String reference,
      @JsonProperty("type") String type) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Network(
      /* `network_id` of a data purchase. */
      @JsonProperty("id") Long id,
      @JsonProperty("name") String name,
      /* Lower-case network code: `network` of an airtime purchase. */
      @JsonProperty("code") String code) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record DataPlan(
      /* `plan_id` of a data purchase. */
      @JsonProperty("id") Long id,
      /* The `id` of a network in the catalog. */
      @JsonProperty("network_id") Long networkId,
      @JsonProperty("name") String name,
      /* What a purchase debits from the wallet: NGN, at most 2 decimals. */
      @JsonProperty("price") BigDecimal price,
      /* How long the bundle lasts, as text for people. */
      @JsonProperty("validity") String validity) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Catalog(
      @JsonProperty("networks") List<Network> networks,
      @JsonProperty("data_plans") List<DataPlan> dataPlans) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ChangedPlan(
      /* `plan_id` of a data purchase. */
      @JsonProperty("id") Long id,
      /* The `id` of a network in the catalog. */
      @JsonProperty("network_id") Long networkId,
      @JsonProperty("name") String name,
      /* What a purchase debits from the wallet: NGN, at most 2 decimals. */
      @JsonProperty("price") BigDecimal price,
      /* The network's display name. */
      @JsonProperty("network") String network) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record RepricedPlan(
      /* `plan_id` of a data purchase. */
      @JsonProperty("id") Long id,
      /* The `id` of a network in the catalog. */
      @JsonProperty("network_id") Long networkId,
      @JsonProperty("name") String name,
      /* What a purchase debits from the wallet: NGN, at most 2 decimals. */
      @JsonProperty("price") BigDecimal price,
      /* The network's display name. */
      @JsonProperty("network") String network,
      /* The price before: NGN, at most 2 decimals. */
      @JsonProperty("previous_price") BigDecimal previousPrice) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CatalogUpdatedDataCounts(
      @JsonProperty("plans_added") Long plansAdded,
      @JsonProperty("plans_removed") Long plansRemoved,
      @JsonProperty("plans_repriced") Long plansRepriced,
      @JsonProperty("networks_added") Long networksAdded,
      @JsonProperty("networks_removed") Long networksRemoved) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CatalogUpdatedData(
      /* When it was noticed, in UTC. */
      @JsonProperty("at") String at,
      @JsonProperty("plans_added") List<ChangedPlan> plansAdded,
      @JsonProperty("plans_removed") List<ChangedPlan> plansRemoved,
      @JsonProperty("plans_repriced") List<RepricedPlan> plansRepriced,
      @JsonProperty("networks_added") List<Network> networksAdded,
      @JsonProperty("networks_removed") List<Network> networksRemoved,
      /* How many entries each list would have if it were not cut. */
      @JsonProperty("counts") CatalogUpdatedDataCounts counts,
      /* The lists are cut: read the catalog. */
      @JsonProperty("truncated") Boolean truncated) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record CatalogUpdated(
      @JsonProperty("event") String event,
      @JsonProperty("data") CatalogUpdatedData data) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record DataPurchaseRequest(
      /* The `id` of a network in the catalog. */
      @JsonProperty("network_id") Long networkId,
      /* The `id` of a plan in the catalog. The plan must belong to the network. */
      @JsonProperty("plan_id") Long planId,
      @JsonProperty("phone_number") String phoneNumber,
      /* The price that the caller knows, in NGN. If the plan has another one, the order is refused with `price_changed` and nothing is charged. */
      @JsonProperty("expected_price") BigDecimal expectedPrice) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record LimitNearData(
      /* The account whose endpoint this is. */
      @JsonProperty("account_id") String accountId,
      /* The key that has the limit; empty for a limit of the whole account. */
      @JsonProperty("key_id") String keyId,
      /* Which limit: by amount (NGN) or number, of a day or a month. */
      @JsonProperty("limit") String limit,
      /* The limit: NGN, or a number of orders. */
      @JsonProperty("max") BigDecimal max,
      /* The day (`2026-11-21`) or month (`2026-11`), in the service's time zone. */
      @JsonProperty("period") String period) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record LimitNear(
      @JsonProperty("event") String event,
      @JsonProperty("data") LimitNearData data) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinAdvancedResult(
      /* The national identification number, 11 digits. */
      @JsonProperty("nin") String nin,
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      /* `YYYY-MM-DD`, or empty. */
      @JsonProperty("date_of_birth") String dateOfBirth,
      /* Base64, without a `data:` prefix, or empty. */
      @JsonProperty("photo") String photo,
      @JsonProperty("phone_number") String phoneNumber,
      @JsonProperty("email") String email,
      @JsonProperty("title") String title,
      @JsonProperty("marital_status") String maritalStatus,
      @JsonProperty("nationality") String nationality,
      @JsonProperty("residential_address") String residentialAddress,
      @JsonProperty("state_of_origin") String stateOfOrigin,
      /* Local government area. */
      @JsonProperty("lga_of_origin") String lgaOfOrigin) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinBasicResult(
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      /* `YYYY-MM-DD`, or empty. */
      @JsonProperty("date_of_birth") String dateOfBirth) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinRetrieveResult(
      /* The national identification number, 11 digits. */
      @JsonProperty("nin") String nin,
      @JsonProperty("first_name") String firstName,
      @JsonProperty("last_name") String lastName,
      @JsonProperty("middle_name") String middleName,
      @JsonProperty("gender") String gender,
      /* `YYYY-MM-DD`, or empty. */
      @JsonProperty("date_of_birth") String dateOfBirth,
      @JsonProperty("phone_number") String phoneNumber) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinRetrieval(
      @JsonProperty("transaction") IdentityTransaction transaction,
      /* Null only while the status is `processing`. */
      @JsonProperty("result") NinRetrieveResult result) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinVerification(
      @JsonProperty("transaction") IdentityTransaction transaction,
      /* Null only while the status is `processing`. */
      @JsonProperty("result") JsonNode result) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record NinVerifyRequest(
      /* The national identification number, 11 digits; or a virtual NIN of 16 letters and digits, if the service's upstream takes it. */
      @JsonProperty("nin") String nin,
      /* `basic`: name, gender and date of birth. `advanced`: the whole profile, with a photo. Not case-sensitive. */
      @JsonProperty("mode") String mode,
      /* The person has consented. Only JSON `true` is accepted. */
      @JsonProperty("is_consent") Boolean isConsent,
      /* Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits. */
      @JsonProperty("purpose") String purpose,
      @JsonProperty("consent_evidence") ConsentEvidence consentEvidence) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record PurchasedTransaction(
      /* The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
      @JsonProperty("reference") String reference,
      @JsonProperty("status") String status,
      /* NGN, at most 2 decimals. */
      @JsonProperty("amount") BigDecimal amount,
      /* The product and the recipient. */
      @JsonProperty("description") String description,
      @JsonProperty("type") String type,
      /* The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours. */
      @JsonProperty("caller_reference") String callerReference,
      /* The recipient's number. After the retention of the deployment (400 days by default) all but the last two digits are `*`. */
      @JsonProperty("phone_number") String phoneNumber) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Purchase(
      @JsonProperty("transaction") PurchasedTransaction transaction) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record RetrieveRequest(
      @JsonProperty("phone_number") String phoneNumber,
      /* The person has consented. Only JSON `true` is accepted. */
      @JsonProperty("is_consent") Boolean isConsent,
      /* Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits. */
      @JsonProperty("purpose") String purpose,
      @JsonProperty("consent_evidence") ConsentEvidence consentEvidence) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Transaction(
      /* The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
      @JsonProperty("reference") String reference,
      @JsonProperty("status") String status,
      /* NGN, at most 2 decimals. */
      @JsonProperty("amount") BigDecimal amount,
      /* The product and the recipient. */
      @JsonProperty("description") String description,
      @JsonProperty("type") String type,
      /* The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours. */
      @JsonProperty("caller_reference") String callerReference,
      /* The recipient's number; null for identity checks. After the retention of the deployment (400 days by default) all but the last two digits are `*`. */
      @JsonProperty("phone_number") String phoneNumber,
      /* The network's display name; null for identity checks. */
      @JsonProperty("network") String network,
      /* Why the transaction failed: a code of `X-Error-Code`; null unless the status is `failed`. */
      @JsonProperty("error_code") String errorCode,
      /* Time of creation, in UTC. */
      @JsonProperty("created_at") String createdAt,
      /* Time of the last change, in UTC. */
      @JsonProperty("updated_at") String updatedAt) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TransactionLookup(
      @JsonProperty("transaction") Transaction transaction) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TransactionPage(
      /* Newest first. */
      @JsonProperty("transactions") List<Transaction> transactions,
      /* The `cursor` of the next page; null on the last page. */
      @JsonProperty("next_cursor") String nextCursor) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TransactionUpdatedData(
      /* The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
      @JsonProperty("reference") String reference,
      @JsonProperty("status") String status,
      /* NGN, at most 2 decimals. */
      @JsonProperty("amount") BigDecimal amount,
      @JsonProperty("type") String type,
      /* The network's display name; empty for identity checks. */
      @JsonProperty("network") String network,
      /* The recipient's number; empty for identity checks. After the retention of the deployment (400 days by default) all but the last two digits are `*`. */
      @JsonProperty("phone_number") String phoneNumber,
      /* Time of creation, in UTC. */
      @JsonProperty("created_at") String createdAt) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TransactionUpdated(
      @JsonProperty("event") String event,
      @JsonProperty("data") TransactionUpdatedData data) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WalletWallet(
      @JsonProperty("currency") String currency,
      /* NGN, at most 2 decimals. */
      @JsonProperty("balance") BigDecimal balance,
      /* NGN. Balances below this value count as low. Set by the operator; null if it is not set. */
      @JsonProperty("low_balance_threshold") BigDecimal lowBalanceThreshold,
      /* Time of the last change, in UTC. */
      @JsonProperty("updated_at") String updatedAt) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Wallet(
      @JsonProperty("wallet") WalletWallet wallet) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WalletLowData(
      /* The account whose endpoint this is. */
      @JsonProperty("account_id") String accountId,
      /* NGN, at most 2 decimals. */
      @JsonProperty("balance") BigDecimal balance,
      /* NGN. The balance is below it. */
      @JsonProperty("threshold") BigDecimal threshold,
      /* When it was noticed, in UTC. */
      @JsonProperty("at") String at) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WalletLow(
      @JsonProperty("event") String event,
      @JsonProperty("data") WalletLowData data) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WebhookTestData(
      /* The account whose endpoint this is. */
      @JsonProperty("account_id") String accountId,
      /* Time of creation, in UTC. */
      @JsonProperty("created_at") String createdAt) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record WebhookTest(
      @JsonProperty("event") String event,
      @JsonProperty("data") WebhookTestData data) {}
}
