# Written by npm run openapi from docs/openapi.json.
"""What the service is sent and answers. Amounts are NGN."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

PhoneNumber = str
"""A Nigerian mobile number, 11 digits."""

Reference = str
"""The caller's own id of an order, not `.` or `..`, nor the service's reference of another order. It is stored in clear text: a request whose reference contains its own NIN, BVN or phone number is refused."""

TransactionStatus = Literal["processing", "success", "failed"]
"""`success` and `failed` are final."""

TransactionType = Literal["data", "airtime", "nin_verification", "bvn_verification", "nin_retrieval", "bvn_retrieval"]


@dataclass(frozen=True, kw_only=True)
class AirtimePurchaseRequest:
    network: str
    """The `code` of a network in the catalog, not case-sensitive. `etisalat` and `t2` mean `9mobile`, `globacom` means `glo`."""
    phone_number: PhoneNumber
    amount: Decimal | float
    """NGN, at most 2 decimals; floating-point noise of up to a millionth of a kobo is rounded away. The largest amount is a setting of the deployment."""


@dataclass(frozen=True, kw_only=True)
class BvnAdvancedResult:
    bvn: str
    """The bank verification number, 11 digits."""
    first_name: str
    last_name: str
    middle_name: str
    gender: Literal["M", "F", ""]
    date_of_birth: str
    """`YYYY-MM-DD`, or empty."""
    photo: str
    """Base64, without a `data:` prefix, or empty."""
    phone_number: str | None
    email: str | None
    title: str | None
    marital_status: str | None
    nationality: str | None
    residential_address: str | None
    state_of_origin: str | None
    lga_of_origin: str | None
    """Local government area."""
    enrollment_bank: str | None
    """The bank where the BVN was registered."""
    registration_date: str | None
    """`YYYY-MM-DD`."""
    watch_listed: bool | None
    additional: dict[str, Any] = field(default_factory=dict)
    """What the service answered besides."""


@dataclass(frozen=True, kw_only=True)
class BvnBasicResult:
    first_name: str
    last_name: str
    middle_name: str
    gender: Literal["M", "F", ""]
    date_of_birth: str
    """`YYYY-MM-DD`, or empty."""
    phone_number: str | None


@dataclass(frozen=True, kw_only=True)
class IdentityTransaction:
    title: str
    """The operation, for example `NIN Verification`."""
    amount: Decimal
    """NGN, at most 2 decimals."""
    reference: str
    """The service's reference: the kind of order, or `TEST`, then `_` and 26 characters."""
    status: TransactionStatus
    type: TransactionType
    caller_reference: str | None
    """The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours."""


@dataclass(frozen=True, kw_only=True)
class BvnRetrieveResult:
    bvn: str | None
    """The bank verification number, 11 digits."""
    first_name: str
    last_name: str
    middle_name: str
    gender: Literal["M", "F", ""]
    date_of_birth: str
    """`YYYY-MM-DD`, or empty."""
    phone_number: str | None


@dataclass(frozen=True, kw_only=True)
class BvnRetrieval:
    transaction: IdentityTransaction
    result: BvnRetrieveResult | None
    """Null only while the status is `processing`."""
    replayed: bool
    """True if an earlier request with this reference made the transaction."""


@dataclass(frozen=True, kw_only=True)
class BvnVerification:
    transaction: IdentityTransaction
    result: BvnAdvancedResult | BvnBasicResult | None
    """Null only while the status is `processing`."""
    replayed: bool
    """True if an earlier request with this reference made the transaction."""


@dataclass(frozen=True, kw_only=True)
class ConsentEvidence:
    method: Literal["otp", "igree", "ninauth", "form", "app"]
    """How the person consented."""
    id: str
    """The id of the one-time password, authorisation or form. A UUID of a version of RFC 9562, or a text without a number of 10 or more digits."""
    obtained_at: str
    """When the person consented; not in the future."""
    text_version: str | None = None
    """The version of the text that the person consented to."""


@dataclass(frozen=True, kw_only=True)
class BvnVerifyRequest:
    bvn: str
    """The bank verification number, 11 digits."""
    mode: Literal["basic", "advanced"] | None = None
    """`basic`: name, gender and date of birth. `advanced`: the whole profile, with a photo. Not case-sensitive."""
    is_consent: Literal[True]
    """The person has consented. Only JSON `true` is accepted."""
    purpose: str | None = None
    """Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits."""
    consent_evidence: ConsentEvidence | None = None


@dataclass(frozen=True, kw_only=True)
class CancelRequest:
    reference: Reference
    type: TransactionType


@dataclass(frozen=True, kw_only=True)
class Network:
    id: int
    """`network_id` of a data purchase."""
    name: str
    code: str
    """Lower-case network code: `network` of an airtime purchase."""


@dataclass(frozen=True, kw_only=True)
class DataPlan:
    id: int
    """`plan_id` of a data purchase."""
    network_id: int
    """The `id` of a network in the catalog."""
    name: str
    price: Decimal
    """What a purchase debits from the wallet: NGN, at most 2 decimals."""
    validity: str
    """How long the bundle lasts, as text for people."""


@dataclass(frozen=True, kw_only=True)
class Catalog:
    networks: list[Network]
    data_plans: list[DataPlan]


@dataclass(frozen=True, kw_only=True)
class ChangedPlan:
    id: int
    """`plan_id` of a data purchase."""
    network_id: int
    """The `id` of a network in the catalog."""
    name: str
    price: Decimal
    """What a purchase debits from the wallet: NGN, at most 2 decimals."""
    network: str
    """The network's display name."""


@dataclass(frozen=True, kw_only=True)
class RepricedPlan:
    id: int
    """`plan_id` of a data purchase."""
    network_id: int
    """The `id` of a network in the catalog."""
    name: str
    price: Decimal
    """What a purchase debits from the wallet: NGN, at most 2 decimals."""
    network: str
    """The network's display name."""
    previous_price: Decimal
    """The price before: NGN, at most 2 decimals."""


@dataclass(frozen=True, kw_only=True)
class CatalogUpdatedDataCounts:
    plans_added: int
    plans_removed: int
    plans_repriced: int
    networks_added: int
    networks_removed: int


@dataclass(frozen=True, kw_only=True)
class CatalogUpdatedData:
    at: str
    """Since when the service sells by this catalog, in UTC."""
    plans_added: list[ChangedPlan]
    plans_removed: list[ChangedPlan]
    plans_repriced: list[RepricedPlan]
    networks_added: list[Network]
    networks_removed: list[Network]
    counts: CatalogUpdatedDataCounts
    """How many entries each list would have if it were not cut."""
    truncated: bool
    """The lists are cut: read the catalog."""


@dataclass(frozen=True, kw_only=True)
class CatalogUpdated:
    event: Literal["catalog.updated"]
    data: CatalogUpdatedData


@dataclass(frozen=True, kw_only=True)
class DataPurchaseRequest:
    network_id: int
    """The `id` of a network in the catalog."""
    plan_id: int
    """The `id` of a plan in the catalog. The plan must belong to the network."""
    phone_number: PhoneNumber
    expected_price: Decimal | float | None = None
    """The price that the caller knows, in NGN. If the plan has another one, the order is refused with `price_changed` and nothing is charged."""


@dataclass(frozen=True, kw_only=True)
class LimitNearData:
    account_id: str
    """The account whose endpoint this is."""
    key_id: str
    """The key that has the limit; empty for a limit of the whole account."""
    limit: Literal["day_naira", "month_naira", "day_orders", "month_orders"]
    """Which limit: by amount (NGN) or number, of a day or a month."""
    max: Decimal
    """The limit: NGN, or a number of orders."""
    period: str
    """The day (`2026-11-21`) or month (`2026-11`), in the service's time zone."""


@dataclass(frozen=True, kw_only=True)
class LimitNear:
    event: Literal["limit.near"]
    data: LimitNearData


@dataclass(frozen=True, kw_only=True)
class NinAdvancedResult:
    nin: str
    """The national identification number, 11 digits."""
    first_name: str
    last_name: str
    middle_name: str
    gender: Literal["M", "F", ""]
    date_of_birth: str
    """`YYYY-MM-DD`, or empty."""
    photo: str
    """Base64, without a `data:` prefix, or empty."""
    phone_number: str | None
    email: str | None
    title: str | None
    marital_status: str | None
    nationality: str | None
    residential_address: str | None
    state_of_origin: str | None
    lga_of_origin: str | None
    """Local government area."""
    additional: dict[str, Any] = field(default_factory=dict)
    """What the service answered besides."""


@dataclass(frozen=True, kw_only=True)
class NinBasicResult:
    first_name: str
    last_name: str
    middle_name: str
    gender: Literal["M", "F", ""]
    date_of_birth: str
    """`YYYY-MM-DD`, or empty."""


@dataclass(frozen=True, kw_only=True)
class NinRetrieveResult:
    nin: str | None
    """The national identification number, 11 digits."""
    first_name: str
    last_name: str
    middle_name: str
    gender: Literal["M", "F", ""]
    date_of_birth: str
    """`YYYY-MM-DD`, or empty."""
    phone_number: str | None


@dataclass(frozen=True, kw_only=True)
class NinRetrieval:
    transaction: IdentityTransaction
    result: NinRetrieveResult | None
    """Null only while the status is `processing`."""
    replayed: bool
    """True if an earlier request with this reference made the transaction."""


@dataclass(frozen=True, kw_only=True)
class NinVerification:
    transaction: IdentityTransaction
    result: NinAdvancedResult | NinBasicResult | None
    """Null only while the status is `processing`."""
    replayed: bool
    """True if an earlier request with this reference made the transaction."""


@dataclass(frozen=True, kw_only=True)
class NinVerifyRequest:
    nin: str
    """The national identification number, 11 digits; or a virtual NIN of 16 letters and digits, if the service's upstream takes it."""
    mode: Literal["basic", "advanced"] | None = None
    """`basic`: name, gender and date of birth. `advanced`: the whole profile, with a photo. Not case-sensitive."""
    is_consent: Literal[True]
    """The person has consented. Only JSON `true` is accepted."""
    purpose: str | None = None
    """Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits."""
    consent_evidence: ConsentEvidence | None = None


@dataclass(frozen=True, kw_only=True)
class PurchasedTransaction:
    reference: str
    """The service's reference: the kind of order, or `TEST`, then `_` and 26 characters."""
    status: TransactionStatus
    amount: Decimal
    """NGN, at most 2 decimals."""
    description: str
    """The product and the recipient."""
    type: TransactionType
    caller_reference: str | None
    """The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours."""
    phone_number: str | None
    """The recipient's number. After the retention of the deployment (400 days by default) all but the last two digits are `*`."""


@dataclass(frozen=True, kw_only=True)
class Purchase:
    transaction: PurchasedTransaction
    replayed: bool
    """True if an earlier request with this reference made the transaction."""
    estimated_delivery_s: int | None
    """While the order waits: the estimated seconds until its delivery."""


@dataclass(frozen=True, kw_only=True)
class RetrieveRequest:
    phone_number: PhoneNumber
    is_consent: Literal[True]
    """The person has consented. Only JSON `true` is accepted."""
    purpose: str | None = None
    """Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits."""
    consent_evidence: ConsentEvidence | None = None


@dataclass(frozen=True, kw_only=True)
class Transaction:
    reference: str
    """The service's reference: the kind of order, or `TEST`, then `_` and 26 characters."""
    status: TransactionStatus
    amount: Decimal
    """NGN, at most 2 decimals."""
    description: str
    """The product and the recipient."""
    type: TransactionType
    caller_reference: str | None
    """The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours."""
    phone_number: str | None
    """The recipient's number; null for identity checks. After the retention of the deployment (400 days by default) all but the last two digits are `*`."""
    network: str | None
    """The network's display name; null for identity checks."""
    error_code: Literal["invalid_json", "missing_parameter", "consent_required", "insufficient_balance", "missing_api_key", "invalid_api_key", "account_restricted", "permission_denied", "ip_not_whitelisted", "not_found", "record_not_found", "validation_failed", "reference_reused", "plan_unavailable", "price_changed", "possible_duplicate", "limit_reached", "order_cancelled", "rate_limited", "internal_error", "delivery_failed", "provider_unavailable", "provider_timeout"] | None
    """Why the transaction failed: a code of `X-Error-Code`; null unless the status is `failed`."""
    created_at: str
    """Time of creation, in UTC."""
    updated_at: str
    """Time of the last change, in UTC."""


@dataclass(frozen=True, kw_only=True)
class TransactionLookup:
    transaction: Transaction


@dataclass(frozen=True, kw_only=True)
class TransactionPage:
    transactions: list[Transaction]
    """Newest first."""
    next_cursor: str | None
    """The `cursor` of the next page; null on the last page."""


@dataclass(frozen=True, kw_only=True)
class TransactionUpdatedData:
    reference: str
    """The service's reference: the kind of order, or `TEST`, then `_` and 26 characters."""
    status: Literal["success", "failed"]
    amount: Decimal
    """NGN, at most 2 decimals."""
    type: TransactionType
    network: str
    """The network's display name; empty for identity checks."""
    phone_number: str
    """The recipient's number; empty for identity checks. After the retention of the deployment (400 days by default) all but the last two digits are `*`."""
    created_at: str
    """Time of creation, in UTC."""


@dataclass(frozen=True, kw_only=True)
class TransactionUpdated:
    event: Literal["transaction.updated"]
    data: TransactionUpdatedData


@dataclass(frozen=True, kw_only=True)
class WalletWallet:
    currency: Literal["NGN"]
    balance: Decimal
    """NGN, at most 2 decimals."""
    low_balance_threshold: Decimal | None
    """NGN. Balances below this value count as low. Set for the account; null if it is not set."""
    updated_at: str
    """Time of the last change, in UTC."""


@dataclass(frozen=True, kw_only=True)
class Wallet:
    wallet: WalletWallet


@dataclass(frozen=True, kw_only=True)
class WalletLowData:
    account_id: str
    """The account whose endpoint this is."""
    balance: Decimal
    """NGN, at most 2 decimals."""
    threshold: Decimal
    """NGN. The balance is below it."""
    at: str
    """When it was noticed, in UTC."""


@dataclass(frozen=True, kw_only=True)
class WalletLow:
    event: Literal["wallet.low"]
    data: WalletLowData


@dataclass(frozen=True, kw_only=True)
class WebhookTestData:
    account_id: str
    """The account whose endpoint this is."""
    created_at: str
    """Time of creation, in UTC."""


@dataclass(frozen=True, kw_only=True)
class WebhookTest:
    event: Literal["webhook.test"]
    data: WebhookTestData


WebhookEvent = TransactionUpdated | WalletLow | LimitNear | CatalogUpdated | WebhookTest
WEBHOOK_EVENTS: dict[str, type[WebhookEvent]] = {
    "transaction.updated": TransactionUpdated,
    "wallet.low": WalletLow,
    "limit.near": LimitNear,
    "catalog.updated": CatalogUpdated,
    "webhook.test": WebhookTest,
}
