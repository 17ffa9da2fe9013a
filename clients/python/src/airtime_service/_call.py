"""The rule: which answers decide a call, and what is sent again. It does no input or output: see _client.py."""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import urlsplit

from ._decode import parse_json
from .errors import NoAnswerError, OutcomeUnknownError, ServiceError

T = TypeVar("T")
logger = logging.getLogger("airtime_service")

BODY_BYTES_MAX = 8_000_000
"""No answer of the service is longer: Lambda sends at most 6 MB."""
FIRST_BACKOFF_S = 0.5
BACKOFF_S_MAX = 8.0
JITTER_S_MAX = 1.0
"""Added to `Retry-After`, so that callers do not return all at once."""
RETRY_S_MIN = 1.0
"""A retry with less time would hardly be answered, and could make a known outcome unknown."""
PASSING_CODES = {"rate_limited", "provider_unavailable", "internal_error"}
PASSING_STATUSES = {408, 425, 429}
"""Without `X-Error-Code`: what a proxy or API Gateway answers and what passes by itself."""


@dataclass(frozen=True)
class Settings:
    base_url: str
    api_key: str
    timeout: float
    attempt_timeout: float

    def __post_init__(self) -> None:
        url = urlsplit(self.base_url)
        if not url.path.endswith("/v1") or url.query or url.fragment:
            raise ValueError("base_url must be a URL that ends with /v1")
        # httpx would send it instead of the API key.
        if "@" in url.netloc:
            raise ValueError("base_url must not have a user: requests carry the API key instead")
        is_local = url.scheme == "http" and re.fullmatch(r"localhost|127\.[\d.]+|::1", url.hostname or "")
        if url.scheme != "https" and not is_local:
            raise ValueError("base_url must be https, because requests carry the API key")
        if not re.fullmatch(r"(live|test)_[\w-]+", self.api_key, re.ASCII):
            raise ValueError("api_key must be a key of the service: live_... or test_...")
        if min(self.timeout, self.attempt_timeout) <= 0:
            raise ValueError("timeout and attempt_timeout must be seconds above 0")


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


@dataclass(frozen=True)
class Request(Generic[T]):
    method: str
    path: str
    read: Callable[[Mapping[str, str], Any], T | None]
    """Raises a ValueError, or returns None, if the answer is not one to this request."""
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    reference: str | None = None
    """Of the order; None for a read."""
    is_preliminary: Callable[[T], bool] = lambda data: False
    """True if the same request gets a better answer later."""


@dataclass(frozen=True)
class Exchange:
    """Wait for `delay` seconds, then send the request once, for at most `timeout` seconds."""

    request: Request[Any]
    timeout: float
    delay: float


Call: TypeAlias = Generator[Exchange, Reply, T]


def send(settings: Settings, request: Request[T], timeout: float, delay: float = 0.0) -> Call[T]:
    """Sends the request until an answer decides the call, with the same bytes, and so the same reference, each time."""
    deadline = monotonic() + delay + timeout
    preliminary: T | None = None
    for number in count(1):
        left = max(deadline - monotonic() - delay, RETRY_S_MIN)
        reply = yield Exchange(request, min(settings.attempt_timeout, timeout, left), delay)
        result = read_result(request, reply)
        backoff = min(FIRST_BACKOFF_S * 2 ** (number - 1), BACKOFF_S_MAX) * random.uniform(0.5, 1)
        if isinstance(result, (ServiceError, NoAnswerError)):
            may_retry, retry_after = passes(result), result.retry_after_s
        else:
            may_retry, retry_after = request.is_preliminary(result), None
        delay = backoff if retry_after is None else retry_after + min(backoff, JITTER_S_MAX)
        is_last = not may_retry or delay > deadline - monotonic() - RETRY_S_MIN
        again = "" if is_last else f", again in {delay:.1f} s"
        seen = getattr(result, "code", None) or getattr(result, "reason", "answered")
        what = request.path if request.reference is None else f"{request.path} {request.reference}"
        # What a log's filter or handler raises must not hide that an order was placed.
        with suppress(Exception):
            logger.info("%s, attempt %d: %s%s", what, number, seen, again)
        if isinstance(result, (ServiceError, NoAnswerError)):
            if not is_last:
                continue
            if preliminary is not None and isinstance(result, NoAnswerError):
                return preliminary
            if request.reference is None or is_final(result):
                raise result
            raise OutcomeUnknownError(
                f"The order {request.reference} is not decided: it may have been placed, or may still be ({result}). Send "
                "the same order with the same reference again, or give it up with cancel",
                reference=request.reference,
                request_id=result.request_id,
            ) from result
        if is_last:
            return result
        preliminary = result
    raise AssertionError("count() has no end")


def is_final(error: ServiceError | NoAnswerError) -> bool:
    """A refusal speaks of its own request only: an earlier attempt may have placed the order, and a copy that something
    on the way sends later still may. So it decides the order only if it names its transaction."""
    return isinstance(error, ServiceError) and error.transaction_reference is not None


def passes(error: ServiceError | NoAnswerError) -> bool:
    """True if the same request may get another answer later."""
    if isinstance(error, ServiceError):
        return not is_final(error) and (error.retry_after_s is not None or error.code in PASSING_CODES)
    return error.reason == "mismatch" or not 300 <= error.status < 500 or error.status in PASSING_STATUSES


def read_result(request: Request[T], reply: Reply) -> T | ServiceError | NoAnswerError:
    headers, code = reply.headers, reply.headers.get("x-error-code")
    known = {
        "status": reply.status,
        "reference": request.reference,
        "request_id": headers.get("x-request-id"),
        "retry_after_s": whole_number(headers.get("retry-after")),
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
        if request.reference is not None and (named or transaction_reference) and named != request.reference:
            return NoAnswerError("the answer is about another order", reason="mismatch", **known)
        errors = envelope.get("errors")
        return ServiceError(
            str(envelope.get("message", code)),
            code=code,
            fields=errors if isinstance(errors, dict) else {},
            transaction_reference=transaction_reference,
            duplicate_of=headers.get("x-duplicate-of"),
            replayed=headers.get("idempotent-replayed") == "true",
            **known,
        )
    if reply.status == 200 and envelope.get("status") is True:
        try:
            data = request.read(headers, envelope.get("data"))
        except ValueError:
            data = None
        if data is not None:
            return data
    message = f"{reply.status} that is not an answer of the service to this request"
    return NoAnswerError(message, reason="unreadable", **known)


def whole_number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"[0-9]{1,9}", text) else None
