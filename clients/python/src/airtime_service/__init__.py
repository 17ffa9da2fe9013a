"""Buys airtime and data bundles, and verifies identities: whatever is lost on the way, an order is charged once."""

from ._client import AirtimeClient as AirtimeClient
from ._client import AsyncAirtimeClient as AsyncAirtimeClient
from ._operations import Check as Check
from ._operations import Order as Order
from ._operations import new_reference as new_reference
from .errors import AirtimeError as AirtimeError
from .errors import NoAnswerError as NoAnswerError
from .errors import OutcomeUnknownError as OutcomeUnknownError
from .errors import ServiceError as ServiceError
from .errors import WaitEndedError as WaitEndedError
from .errors import WebhookVerificationError as WebhookVerificationError
from .webhooks import Webhook as Webhook
from .webhooks import verify_webhook as verify_webhook
