"""Buys airtime and data bundles, and verifies identities: whatever is lost on the way, an order is charged once."""

from ._operations import AirtimeClient, AsyncAirtimeClient
from ._rule import new_reference
from .errors import AirtimeError, NoAnswerError, OutcomeUnknownError, ServiceError, WaitEndedError, WebhookVerificationError
from .webhooks import Webhook, verify_webhook

__all__ = [
    "AirtimeClient", "AsyncAirtimeClient", "new_reference", "Webhook", "verify_webhook",
    "AirtimeError", "NoAnswerError", "OutcomeUnknownError", "ServiceError", "WaitEndedError", "WebhookVerificationError",
]  # fmt: skip
