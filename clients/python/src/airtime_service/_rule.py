"""The rule: which answers decide a call, and what is sent again. It does no input or output: see _client.py."""

from __future__ import annotations

import json
import logging
import random
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from email.utils import parsedate_to_datetime
from itertools import count
from math import ceil
from time import monotonic, time
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode, urlsplit

import httpx

from . import models
from ._decode import decode, parse_json
from .errors import AirtimeError, NoAnswerError, OutcomeUnknownError, ServiceError, WaitEndedError

T = TypeVar("T")
logger = logging.getLogger("airtime_service")

NO_KEPT_CONNECTIONS = httpx.Limits(max_keepalive_connections=0)
"""A process that forks would share them, and mix up answers."""
BODY_BYTES_MAX = 8_000_000
"""No answer of the service is longer: Lambda sends at most 6 MB."""
TIMEOUT_S = 90.0
"""A new minute of the rate limit (60 s) and one attempt (30 s)."""
ATTEMPT_TIMEOUT_S = 35.0
"""Longer than the service takes to answer: its functions end after 29 s."""
FIRST_BACKOFF_S, BACKOFF_S_MAX = 0.5, 8.0
FIRST_POLL_S, POLL_S_MAX = 1.0, 10.0
JITTER_S_MAX = 1.0
"""Added to `Retry-After`, so that callers do not return all at once."""
ATTEMPT_S_MIN = 1.0
"""A retry with less time would hardly be answered, and could make a known outcome unknown. A last lookup, and the
cancellation of an order that was refused at the deadline, get this time."""
PASSING_CODES = {"rate_limited", "provider_unavailable", "internal_error"}
PASSING_STATUSES = {408, 425, 429}
"""Without `X-Error-Code`: what a proxy or API Gateway answers and what passes by itself."""


class Client:
    """`timeout` is the deadline in seconds of a call with all its attempts, `attempt_timeout` that of one attempt. A
    `transport` of httpx must not repeat requests."""

    _http_type: Any

    def __init__(
        self, base_url: str, api_key: str, *, timeout: float = TIMEOUT_S, attempt_timeout: float = ATTEMPT_TIMEOUT_S,
        transport: Any = None,
    ) -> None:  # fmt: skip
        # As an environment variable or a file has it.
        base_url = base_url.strip()
        url = urlsplit(base_url)
        is_url = url.netloc and not re.search(r"\s", base_url)
        if not is_url or not url.path.rstrip("/").endswith("/v1") or url.query or url.fragment:
            raise ValueError("base_url must be a URL that ends with /v1")
        # httpx would send it instead of the API key.
        if "@" in url.netloc:
            raise ValueError("base_url must not have a user: requests carry the API key instead")
        is_local = url.scheme == "http" and re.fullmatch(r"localhost|127\.[\d.]+|::1", url.hostname or "")
        if url.scheme != "https" and not is_local:
            raise ValueError("base_url must be https, because requests carry the API key")
        if not re.fullmatch(r"(live|test)_[\w-]+", api_key, re.ASCII):
            raise ValueError("api_key must be a key of the service: live_... or test_...")
        if not (timeout > 0 and attempt_timeout > 0):
            raise ValueError("timeout and attempt_timeout must be seconds above 0")
        self._base_url, self._api_key = base_url.rstrip("/"), api_key
        self._timeout, self._attempt_timeout = timeout, attempt_timeout
        self._http: Any = self._http_type(transport=transport, limits=NO_KEPT_CONNECTIONS)

    async def _sleep(self, seconds: float) -> None:
        raise NotImplementedError

    async def _exchange(self, request: Request[Any], timeout: float) -> Reply:
        """Sends the request once, for at most `timeout` seconds. It raises only what comes from outside."""
        raise NotImplementedError


@dataclass(frozen=True)
class Request(Generic[T]):
    method: str
    path: str
    answer: type[T]
    asked: Mapping[str, Any]
    """What a transaction of the answer must have."""
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    order: str | None = None
    """The order's reference; None for what places none."""


@dataclass
class Reply:
    """What an attempt received, all of it unless there was a failure."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    failure: Exception | None = None
    is_late: bool = False

    def add(self, chunk: bytes) -> None:
        self.body += chunk
        if len(self.body) > BODY_BYTES_MAX:
            raise ValueError("The answer is too long to be one of the service")


async def get(
    client: Client, path: str, answer: type[T], query: Mapping[str, str | None] = {}, *, reference: str | None = None,
    timeout: float | None = None,
) -> T:  # fmt: skip
    asked = {name: value for name, value in query.items() if value is not None}
    target = f"{path}?{urlencode(asked)}" if asked else path
    named = {} if reference is None else {"reference": reference}
    return await send(client, Request("GET", target, answer, {**asked, **named}), timeout)


async def cancel(
    client: Client, path: str, answer: type[T], body: models.CancelRequest, timeout: float | None = None
) -> T:
    """Another order can have the reference, of whatever type: the answer is how that one is."""
    asked = {"reference": checked(body.reference)}
    return await send(client, Request("POST", path, answer, asked, json.dumps(asdict(body)).encode()), timeout)


async def place(
    client: Client, path: str, answer: type[T], type: models.TransactionType, order: Any, reference: str,
    confirm_duplicate: bool = False,
) -> T:  # fmt: skip
    """Places an order. A refusal that it would meet again is made final by a cancellation."""
    known = asdict(order, dict_factory=lambda fields: {name: value for name, value in fields if value is not None})
    sent = {**known, "reference": checked(reference)}
    headers = {"x-confirm-duplicate": "true"} if confirm_duplicate else {}
    body = json.dumps(sent, default=float, allow_nan=False).encode()
    request = Request("POST", path, answer, {**sent, "type": type}, body, headers, reference)
    deadline = monotonic() + client._timeout
    try:
        return await send(client, request)
    except OutcomeUnknownError as unknown:
        refusal = unknown.__cause__
        if not isinstance(refusal, ServiceError) or not is_lasting(refusal):
            raise
        cancellation = models.CancelRequest(reference=reference, type=type)
        left = max(deadline - monotonic(), ATTEMPT_S_MIN)
        try:
            found = (await cancel(client, "/transactions/cancel", models.TransactionLookup, cancellation, left)).transaction
        except AirtimeError:
            raise unknown from refusal
        if found.error_code == "order_cancelled":
            refusal.transaction_reference = found.reference
            raise refusal from None
        # Another request than the refused one placed the order: a replay is its answer.
        return await send(client, request, max(deadline - monotonic(), ATTEMPT_S_MIN))


async def wait(client: Client, reference: str, timeout: float) -> models.Transaction:
    path = f"/transactions/{checked(reference)}"
    deadline, poll = monotonic() + timeout, FIRST_POLL_S
    transaction: models.Transaction | None = None
    while True:
        cause: ServiceError | NoAnswerError | None = None
        left = deadline - monotonic()
        try:
            found = await get(client, path, models.TransactionLookup, reference=reference, timeout=left)
            transaction = found.transaction
            if transaction.status != "processing":
                return transaction
        except (ServiceError, NoAnswerError) as error:
            cause = error
        left = deadline - monotonic()
        if left < 2 * ATTEMPT_S_MIN or not may_be_found(cause):
            seen = "is still processing: do not order again" if transaction else "was not found: send the same order again"
            message = f"The transaction {reference} {seen}, or wait again ({cause or 'the deadline passed'})"
            raise WaitEndedError(message, reference=reference, transaction=transaction) from cause
        await client._sleep(min(poll * random.uniform(0.75, 1.25), left - ATTEMPT_S_MIN))
        poll = min(poll * 1.5, POLL_S_MAX)


async def send(client: Client, request: Request[T], timeout: float | None = None) -> T:
    """Sends the request until an answer decides the call, with the same bytes, and so the same reference, each time."""
    timeout = client._timeout if timeout is None else timeout
    deadline = monotonic() + timeout
    preliminary: T | None = None
    for number in count(1):
        left = max(deadline - monotonic(), ATTEMPT_S_MIN)
        reply = await client._exchange(request, min(client._attempt_timeout, timeout, left))
        result = read_reply(client, request, reply)
        error = result if isinstance(result, (ServiceError, NoAnswerError)) else None
        delay = min(FIRST_BACKOFF_S * 2 ** (number - 1), BACKOFF_S_MAX) * random.uniform(0.5, 1)
        if error and error.retry_after_s is not None:
            delay = error.retry_after_s + min(delay, JITTER_S_MAX)
        may_retry = passes(error) if error else is_preliminary(result)
        is_last = not may_retry or delay > deadline - monotonic() - ATTEMPT_S_MIN
        what = request.path if request.order is None else f"{request.path} {request.order}"
        seen = getattr(error, "code", None) or getattr(error, "reason", "answered")
        # What a log's filter or handler raises must not hide that an order was placed.
        with suppress(Exception):
            logger.info("%s, attempt %d: %s%s", what, number, seen, "" if is_last else f", again in {delay:.1f} s")
        if not isinstance(result, (ServiceError, NoAnswerError)):
            if is_last:
                return result
            preliminary = result
        elif is_last:
            if preliminary is not None and isinstance(result, NoAnswerError):
                return preliminary
            if request.order is None or is_final(result):
                raise result
            raise OutcomeUnknownError(
                f"The order {request.order} is not decided: it may have been placed, or may still be ({result}). Send the same "
                "order with the same reference again, or give it up with cancel_order",
                reference=request.order,
                request_id=result.request_id,
            ) from result
        await client._sleep(delay)
    raise AssertionError("count() has no end")


def is_preliminary(answer: Any) -> bool:
    """Only the same request gets a check's result, for 10 minutes: a lookup does not show it. So it is sent again."""
    return hasattr(answer, "result") and answer.result is None and answer.transaction.status == "processing"


def is_final(error: ServiceError | NoAnswerError) -> bool:
    """A refusal speaks of its own request only: an earlier attempt may have placed the order, and a copy that something
    on the way sends later still may. So it decides the order only if it names its transaction."""
    return isinstance(error, ServiceError) and error.transaction_reference is not None


def passes(error: ServiceError | NoAnswerError) -> bool:
    """True if the same request may get another answer later."""
    if isinstance(error, ServiceError):
        return not is_final(error) and (error.retry_after_s is not None or error.code in PASSING_CODES)
    return error.reason == "mismatch" or not 300 <= error.status < 500 or error.status in PASSING_STATUSES


def is_lasting(refusal: ServiceError) -> bool:
    """A refusal that the same order meets again. It decides nothing by itself: a copy that something on the way sends
    later can still be carried out, for example once the wallet is funded. So the order is cancelled, and then has failed.
    One of the reference itself is left to the app: another order has it, or it holds the person's number."""
    return refusal.status in (400, 422) and refusal.code != "reference_reused" and "reference" not in refusal.fields


def may_be_found(error: ServiceError | NoAnswerError | None) -> bool:
    """The order's request may still be under way, and the service may answer the next lookup."""
    if not isinstance(error, ServiceError):
        return True
    return error.code == "not_found" or error.retry_after_s is not None or error.status >= 500


def read_reply(client: Client, request: Request[T], reply: Reply) -> T | ServiceError | NoAnswerError:
    headers, code = reply.headers, reply.headers.get("x-error-code")
    replayed = headers.get("idempotent-replayed") == "true"
    known = {
        "status": reply.status,
        "reference": request.order,
        "request_id": headers.get("x-request-id"),
        "retry_after_s": retry_after(headers.get("retry-after")),
    }
    # The headers of an error are enough: its code says what happened.
    if reply.failure is not None and not code:
        reason = "timeout" if reply.is_late else "network"
        return NoAnswerError(f"{reason}: {reply.failure!r}", reason=reason, **known)
    try:
        parsed = parse_json(reply.body)
    except ValueError:
        parsed = None
    envelope = parsed if isinstance(parsed, dict) else {}
    if code:
        named = headers.get("x-caller-reference")
        transaction_reference = headers.get("x-transaction-reference") or None
        # A mixed-up connection or a cache can bring the error of another order.
        is_own = named == request.order and (not transaction_reference or is_of_mode(client, transaction_reference))
        if request.order is not None and (named or transaction_reference) and not is_own:
            return NoAnswerError("the answer is about another order", reason="mismatch", **known)
        errors = envelope.get("errors")
        fields = errors if isinstance(errors, dict) else {}
        return ServiceError(
            str(envelope.get("message", code)),
            code=code,
            fields={name: [str(each) for each in texts] if isinstance(texts, list) else [] for name, texts in fields.items()},
            transaction_reference=transaction_reference,
            duplicate_of=headers.get("x-duplicate-of"),
            replayed=replayed,
            **known,
        )
    if reply.status == 200 and envelope.get("status") is True:
        from_headers = {"replayed": replayed, "estimated_delivery_s": whole_number(headers.get("x-estimated-delivery"))}
        with suppress(ValueError, TypeError, KeyError):
            answer = decode(request.answer, envelope["data"] | from_headers)
            if is_answer(client, request, answer):
                return answer
    message = f"{reply.status} that is not an answer of the service to this request"
    return NoAnswerError(message, reason="unreadable", **known)


def is_answer(client: Client, request: Request[Any], answer: Any) -> bool:
    """Whether the answer is about what was asked. A page that names the same next one again would be followed for ever."""
    asked = request.asked
    if "cursor" in asked and asked["cursor"] == answer.next_cursor:
        return False
    transactions = [answer.transaction] if hasattr(answer, "transaction") else getattr(answer, "transactions", [])
    return all(is_asked(client, request, transaction) for transaction in transactions)


def is_asked(client: Client, request: Request[Any], transaction: Any) -> bool:
    """A status that this release does not know is no answer: an app that compares with `success` would take it for
    `failed`. Nor is a transaction of the other mode: a simulated success delivers nothing. The amount may not be the
    order's: an account can have prices of its own."""
    asked = request.asked
    # A lookup takes the service's reference too.
    names = [transaction.caller_reference, *([transaction.reference] if request.method == "GET" else [])]
    # Of an old order only the last digits of the phone number are shown, after stars.
    shown = (getattr(transaction, "phone_number", None) or "").lstrip("*")
    return (
        transaction.status in ("processing", "success", "failed")
        and transaction.reference != ""
        and is_of_mode(client, transaction.reference)
        and asked.get("reference", names[0]) in names
        and all(getattr(transaction, name) == asked[name] for name in ("type", "status") if name in asked)
        and str(asked.get("phone_number", shown)).endswith(shown)
    )


def is_of_mode(client: Client, reference: str) -> bool:
    return reference.startswith("TEST_") == client._api_key.startswith("test_")


def checked(reference: str | None) -> str:
    # In the path of a lookup, a URL takes . and .. for folders.
    if not re.fullmatch(r"(?!\.{1,2}$)[\w.:-]{1,100}", reference or "", re.ASCII):
        raise ValueError("reference must be 1 to 100 of the characters A-Z a-z 0-9 . _ : - and not . or ..")
    return reference or ""


def whole_number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"[0-9]{1,9}", text) else None


HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")


def retry_after(text: str | None) -> int | None:
    """The service sends seconds; a proxy may send a date, as RFC 9110 has it. `parsedate_to_datetime` takes other
    texts too, and raises an `OverflowError` at a long number."""
    if not text or not HTTP_DATE.fullmatch(text):
        return whole_number(text)
    with suppress(ValueError):
        return max(0, ceil(parsedate_to_datetime(text).timestamp() - time()))
    return None


def new_reference() -> str:
    """128 random bits for an order. Save it with your order before you send that. It has no digits, so it cannot contain
    the order's phone number, which the service refuses."""
    return "".join(secrets.choice("abcdefghijklmnop") for _ in range(32))
