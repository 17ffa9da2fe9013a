"""Every error is an AirtimeError, except for a ValueError if a call cannot work (nothing was sent)."""

from __future__ import annotations

from typing import Any

from .models import Transaction


class AirtimeError(Exception):
    reference: str | None = None
    """The order's reference; None for a read."""
    request_id: str | None = None
    """`X-Request-Id` of the last answer, for the service's support."""

    def __init__(self, message: str, **known: Any) -> None:
        super().__init__(message)
        self.__dict__.update(known)


class ServiceError(AirtimeError):
    """The service refused the request. An order that raises it has failed for good: it was refunded, or cancelled before
    it was placed. Only a check with the code `reference_reused` was charged: its result is no longer kept. Every other
    refusal of an order is the `__cause__` of an OutcomeUnknownError."""

    code: str = ""
    """`X-Error-Code`. A later release of the service can add codes."""
    status: int = 0
    fields: dict[str, list[str]] = {}
    """Messages by request field, if single fields are wrong."""
    retry_after_s: int | None = None
    transaction_reference: str | None = None
    """The service's reference of the transaction, if one was made. The order's reference is then used up."""
    duplicate_of: str | None = None
    """The order that this one is like, if it was refused as a possible duplicate."""
    replayed: bool = False
    """True if an earlier request with this reference made the transaction."""


class NoAnswerError(AirtimeError):
    """A read got no readable answer. (For an order it is the `__cause__` of an OutcomeUnknownError.)"""

    reason: str = "network"
    """`network`, `timeout`, `unreadable` or `mismatch`."""
    status: int = 0
    """Of an answer that is not the service's; else 0."""
    retry_after_s: int | None = None


class OutcomeUnknownError(AirtimeError):
    """The order is not decided: it was placed, or still may be. Never order again with another reference: send the same
    order with this reference again, or cancel it. `__cause__` is how the last attempt ended."""

    reference: str


class WaitEndedError(AirtimeError):
    """`wait` ended without a final status: at its deadline, or because a lookup was refused. It says nothing about how
    the order ends: wait again, or for the webhook."""

    transaction: Transaction | None = None
    """As it was last seen; None if no transaction was found."""


class WebhookVerificationError(AirtimeError):
    """The request is not a webhook of the service: answer 400 and do nothing."""
