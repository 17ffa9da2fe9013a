"""The operations of the service, each as a Call that both clients run."""

from __future__ import annotations

import json
import random
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any, Literal
from urllib.parse import quote, urlencode

from . import models
from ._call import Call, Request, Settings, send, whole_number
from ._decode import decode
from .errors import AirtimeError, NoAnswerError, OutcomeUnknownError, ServiceError, WaitEndedError

FIRST_POLL_S, POLL_S_MAX = 1.0, 10.0
LAST_STEP_S = 1.0
"""Time for a last lookup, and for the cancellation of an order that was refused at the deadline."""
ANSWERS: Mapping[models.TransactionType, Any] = {
    "data": models.Purchase,
    "airtime": models.Purchase,
    "nin_verification": models.NinVerification,
    "bvn_verification": models.BvnVerification,
    "nin_retrieval": models.NinRetrieval,
    "bvn_retrieval": models.BvnRetrieval,
}


@dataclass(frozen=True, kw_only=True)
class Order(models.PurchasedTransaction):
    """A purchase as the service knows it. `processing`: wait for it, and never order again."""

    replayed: bool
    """True if an earlier request with this reference made the transaction."""
    estimated_delivery_s: int | None
    """While the order waits: the estimated seconds until its delivery, if the service names them."""


@dataclass(frozen=True, kw_only=True)
class Check(models.IdentityTransaction):
    """An identity check."""

    replayed: bool
    """True if an earlier request with this reference made the transaction."""
    result: (
        models.NinAdvancedResult | models.NinBasicResult | models.NinRetrieveResult
        | models.BvnAdvancedResult | models.BvnBasicResult | models.BvnRetrieveResult | None
    )  # fmt: skip
    """None only while the status is `processing`."""


def new_reference() -> str:
    """128 random bits for an order. Save it with your order before you send that. It has no digits, so it cannot contain
    the order's phone number, which the service refuses."""
    return "".join(secrets.choice("abcdefghijklmnop") for _ in range(32))


def buy(
    settings: Settings, order: models.DataPurchaseRequest | models.AirtimePurchaseRequest, *,
    reference: str, confirm_duplicate: bool = False,
) -> Call[Order]:  # fmt: skip
    """Buys a data bundle or airtime. `confirm_duplicate`: it is meant, although it is like an order of shortly before."""
    type: models.TransactionType = "data" if isinstance(order, models.DataPurchaseRequest) else "airtime"
    headers = {"x-confirm-duplicate": "true"} if confirm_duplicate else {}
    return _place(settings, f"/vtu/{type}/purchase", type, order, reference, headers)


def verify(
    settings: Settings, check: models.NinVerifyRequest | models.BvnVerifyRequest, *,
    reference: str,
) -> Call[Check]:  # fmt: skip
    """Verifies a person by NIN or BVN. It is charged if a record is found."""
    is_nin = isinstance(check, models.NinVerifyRequest)
    type: models.TransactionType = "nin_verification" if is_nin else "bvn_verification"
    return _place(settings, f"/identity/{type[:3]}/verify", type, check, reference)


def retrieve(
    settings: Settings, number: Literal["nin", "bvn"], check: models.RetrieveRequest, *,
    reference: str,
) -> Call[Check]:  # fmt: skip
    """Finds a person's NIN or BVN by phone number. It needs a key with the permission `identity:retrieve`."""
    type: models.TransactionType = "nin_retrieval" if number == "nin" else "bvn_retrieval"
    return _place(settings, f"/identity/{number}/retrieve", type, check, reference)


def get_catalog(settings: Settings) -> Call[models.Catalog]:
    """Networks and data plans. Keep them for as long as your app needs, at most an hour."""
    return _read(settings, "/vtu/data", lambda headers, data: decode(models.Catalog, data))


def get_wallet(settings: Settings) -> Call[models.WalletWallet]:
    """The prepaid balance."""
    return _read(settings, "/wallet", lambda headers, data: decode(models.Wallet, data).wallet)


def get_transaction(settings: Settings, reference: str) -> Call[models.Transaction]:
    """One transaction, by the service's reference or yours. A ServiceError with the code `not_found` means that there is
    none so far: a request that is under way can still make one."""
    return _lookup(settings, reference, settings.timeout)


def list_transactions(settings: Settings, query: Mapping[str, str]) -> Call[models.TransactionPage]:
    """A page of your transactions, newest first. The query can have `status`, `type`, `from`, `to`, and as `cursor` the
    `next_cursor` of the page before."""

    def read(headers: Mapping[str, str], data: Any) -> models.TransactionPage | None:
        page = decode(models.TransactionPage, data)
        # The page of another list, or the one before: its cursor would be followed for ever.
        is_mine = page.next_cursor is None or page.next_cursor != query.get("cursor")
        for each in page.transactions:
            is_listed = all(query.get(name, value) == value for name, value in vars(each).items() if name in ("status", "type"))
            is_mine = is_mine and is_listed and _is_readable(settings, each)
        return page if is_mine else None

    return _read(settings, f"/transactions?{urlencode(query)}", read)


def wait(settings: Settings, reference: str, *, timeout: float = 120.0) -> Call[models.Transaction]:
    """Looks a transaction up until it is `success` or `failed`, or raises a WaitEndedError."""
    deadline, delay, poll = monotonic() + timeout, 0.0, FIRST_POLL_S
    transaction: models.Transaction | None = None
    while True:
        cause: ServiceError | NoAnswerError | None = None
        try:
            transaction = yield from _lookup(settings, reference, deadline - monotonic() - delay, delay)
            if transaction.status != "processing":
                return transaction
        except (ServiceError, NoAnswerError) as error:
            cause = error
        left = deadline - monotonic()
        if left < 2 * LAST_STEP_S or not _may_be_found(cause):
            seen = "is still processing: do not order again" if transaction else "was not found: send the same order again"
            message = f"The transaction {reference} {seen}, or wait again ({cause or 'the deadline passed'})"
            raise WaitEndedError(message, reference=reference, transaction=transaction) from cause
        delay = min(poll * random.uniform(0.75, 1.25), left - LAST_STEP_S)
        poll = min(poll * 1.5, POLL_S_MAX)


def cancel(settings: Settings, reference: str, type: models.TransactionType) -> Call[models.Transaction]:
    """Gives an order up: no request with this reference places it from now on, also none that is still on its way.
    `failed` if the order was not placed or failed before, else `success` or `processing` as it is."""
    return _cancel(settings, reference, type, settings.timeout)


def _read(settings: Settings, path: str, read: Any) -> Call[Any]:
    return send(settings, Request("GET", path, read), settings.timeout)


def _lookup(settings: Settings, reference: str, timeout: float, delay: float = 0.0) -> Call[models.Transaction]:
    path = f"/transactions/{quote(_checked(reference), safe='')}"
    return send(settings, Request("GET", path, _reader(settings, reference)), timeout, delay)


def _cancel(settings: Settings, reference: str, type: str, timeout: float) -> Call[models.Transaction]:
    body = json.dumps({"reference": _checked(reference), "type": type}).encode()
    return send(settings, Request("POST", "/transactions/cancel", _reader(settings, reference), body), timeout)


def _reader(settings: Settings, reference: str) -> Any:
    def read(headers: Mapping[str, str], data: Any) -> models.Transaction | None:
        transaction = decode(models.TransactionLookup, data).transaction
        is_named = reference in (transaction.reference, transaction.caller_reference)
        return transaction if is_named and _is_readable(settings, transaction) else None

    return read


def _may_be_found(error: ServiceError | NoAnswerError | None) -> bool:
    """The order's request may still be under way, and the service may answer the next lookup."""
    if not isinstance(error, ServiceError):
        return True
    return error.code == "not_found" or error.retry_after_s is not None or error.status >= 500


def _place(
    settings: Settings, path: str, type: models.TransactionType, order: Any, reference: str,
    headers: Mapping[str, str] = {},
) -> Call[Any]:  # fmt: skip
    def read(headers: Mapping[str, str], data: Any) -> Order | Check | None:
        answer = decode(ANSWERS[type], data)
        placed = answer.transaction
        # Of an old order only the last digits of the phone number are shown, after stars. The amount may not be the order's:
        # an account can have prices of its own.
        shown = (getattr(placed, "phone_number", None) or "").lstrip("*")
        if not _is_of(settings, type, reference, placed) or not getattr(order, "phone_number", "").endswith(shown):
            return None
        known = {**vars(placed), "replayed": headers.get("idempotent-replayed") == "true"}
        if isinstance(answer, models.Purchase):
            return Order(**known, estimated_delivery_s=whole_number(headers.get("x-estimated-delivery")))
        return Check(**known, result=answer.result)

    # Only the same request gets a check's result, for 10 minutes: a lookup does not show it. So it is sent again.
    def is_preliminary(placed: Order | Check) -> bool:
        return isinstance(placed, Check) and placed.status == "processing" and placed.result is None

    sent = asdict(order, dict_factory=lambda fields: {name: value for name, value in fields if value is not None})
    body = json.dumps({**sent, "reference": _checked(reference)}, default=float).encode()
    request: Request[Any] = Request("POST", path, read, body, headers, reference, is_preliminary)
    deadline = monotonic() + settings.timeout
    try:
        return (yield from send(settings, request, settings.timeout))
    except OutcomeUnknownError as unknown:
        refusal = unknown.__cause__
        if not isinstance(refusal, ServiceError) or not _is_lasting(refusal):
            raise
        left = max(deadline - monotonic(), LAST_STEP_S)
        try:
            found = yield from _cancel(settings, reference, type, left)
        except AirtimeError:
            raise unknown from refusal
        if found.error_code == "order_cancelled":
            refusal.transaction_reference = found.reference
            raise refusal from None
        # Another request than the refused one placed the order: a replay is its answer.
        return (yield from send(settings, request, max(deadline - monotonic(), LAST_STEP_S)))


def _is_lasting(refusal: ServiceError) -> bool:
    """A refusal that the same order meets again. It decides nothing by itself: a copy that something on the way sends
    later can still be carried out, for example once the wallet is funded. So the order is cancelled, and then has failed.
    One of the reference itself is left to the app: another order has it, or it holds the person's number."""
    return refusal.status in (400, 422) and refusal.code != "reference_reused" and "reference" not in refusal.fields


def _is_readable(settings: Settings, transaction: Any) -> bool:
    """A status that this release does not know is no answer: an app that compares with `success` would take it for
    `failed`. Nor is a transaction of the other mode: a simulated success delivers nothing."""
    is_known = transaction.status in ("processing", "success", "failed")
    return is_known and transaction.reference.startswith("TEST_") == settings.api_key.startswith("test_")


def _is_of(settings: Settings, type: str, reference: str, transaction: Any) -> bool:
    is_named = transaction.caller_reference == reference and transaction.type == type
    return is_named and _is_readable(settings, transaction)


def _checked(reference: str | None) -> str:
    # In the path of a lookup, a URL takes . and .. for folders.
    if not re.fullmatch(r"(?!\.{1,2}$)[\w.:-]{1,100}", reference or "", re.ASCII):
        raise ValueError("reference must be 1 to 100 of the characters A-Z a-z 0-9 . _ : - and not . or ..")
    return reference or ""
