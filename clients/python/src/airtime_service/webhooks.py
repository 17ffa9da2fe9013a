from __future__ import annotations

import hmac
import re
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from hashlib import sha256
from typing import Any

from ._decode import decode, parse_json
from .errors import WebhookVerificationError
from .models import WEBHOOK_EVENTS, TransactionUpdated, WebhookEvent

TOLERANCE_S = 300
"""How far a timestamp may be from now, as Standard Webhooks recommends."""


@dataclass(frozen=True)
class Webhook:
    id: str
    """The same for every copy of an event: remember it to process each event once."""
    sent_at: datetime
    """When this copy was sent."""
    name: str
    """Such as `transaction.updated`."""
    event: WebhookEvent | None
    """None if this release does not know it: answer 2xx."""


def verify_webhook(headers: Mapping[str, str], body: bytes | str, secret: str) -> Webhook:
    """Verifies a webhook and returns it. Raises a WebhookVerificationError if the service did not send it, or sent it
    more than 5 minutes ago. `body` is the body as it was received, and not parsed JSON; `secret` is `whsec_...`. While a
    secret is rotated, the old one and the new one both verify."""
    key = _key(secret)
    named = {name.lower(): value for name, value in headers.items()}
    id, timestamp, signatures = (named.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not id or not timestamp or not signatures:
        raise WebhookVerificationError("A header of the webhook is missing")
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > TOLERANCE_S:
        raise WebhookVerificationError("The timestamp is not within 5 minutes of now")
    sent = _encoded(body) if isinstance(body, str) else body
    digest = hmac.new(key, _encoded(f"{id}.{timestamp}.") + sent, sha256).digest()
    expected = b"v1," + b64encode(digest)
    if not any(hmac.compare_digest(expected, _encoded(signature)) for signature in signatures.split(" ")):
        raise WebhookVerificationError("No signature matches")
    try:
        parsed: Any = parse_json(sent)
        name, _ = decode(str, parsed["event"]), dict(parsed["data"])
        event = decode(WEBHOOK_EVENTS[name], parsed) if name in WEBHOOK_EVENTS else None
        # An app that compares a status of a later release with `success` would take it for `failed`.
        if isinstance(event, TransactionUpdated) and event.data.status not in ("success", "failed"):
            event = None
    except (ValueError, KeyError, TypeError):
        raise WebhookVerificationError("The body is not an event") from None
    return Webhook(id, datetime.fromtimestamp(int(timestamp), timezone.utc), name, event)


def _encoded(text: str) -> bytes:
    """Some servers give bytes that are no UTF-8 as surrogates."""
    return text.encode(errors="surrogatepass")


def _key(secret: str) -> bytes:
    with suppress(ValueError):
        # Without `validate` it leaves out what is no Base64, and any text is a secret, by which no webhook verifies.
        if key := b64decode(secret.strip().removeprefix("whsec_"), validate=True):
            return key
    raise ValueError("secret must be the endpoint's whsec_... secret")
