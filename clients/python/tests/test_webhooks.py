from __future__ import annotations

import asyncio
import hmac
import json
import time
from base64 import b64encode
from hashlib import sha256

import django
import pytest
from django.conf import settings
from django.test import RequestFactory
from django_webhook import airtime_webhook
from fastapi import FastAPI
from fastapi_webhook import airtime_webhooks
from httpx import ASGITransport, AsyncClient

from airtime_service import WebhookVerificationError, verify_webhook
from airtime_service.models import TransactionUpdated

KEY = b"0123456789abcdef0123456789abcdef"
SECRET = "whsec_" + b64encode(KEY).decode()
DATA = {"reference": "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ", "status": "success", "amount": 500.5, "type": "data"}
PERSON = {"network": "MTN", "phone_number": "08031234567", "created_at": "2026-11-21T09:30:00.000Z"}
UPDATED = {"event": "transaction.updated", "data": {**DATA, **PERSON}}
NOW = 1_780_000_000


@pytest.fixture(autouse=True)
def fixed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)


def signed(event: object, *, key: bytes = KEY, age_s: int = 0) -> tuple[dict[str, str], bytes]:
    body, timestamp = json.dumps(event).encode(), str(NOW - age_s)
    signature = b64encode(hmac.new(key, f"evt_1.{timestamp}.".encode() + body, sha256).digest()).decode()
    return {"Webhook-Id": "evt_1", "Webhook-Timestamp": timestamp, "Webhook-Signature": f"v1,{signature}"}, body


def test_a_signed_event_is_returned() -> None:
    headers, body = signed(UPDATED)
    webhook = verify_webhook(headers, body, SECRET)
    assert isinstance(webhook.event, TransactionUpdated)
    assert (webhook.id, webhook.name, webhook.event.data.status) == ("evt_1", "transaction.updated", "success")
    assert str(webhook.event.data.amount) == "500.5"
    assert webhook.sent_at.timestamp() == NOW
    assert verify_webhook(headers, body.decode(), SECRET) == webhook


def test_one_of_several_signatures_is_enough() -> None:
    headers, body = signed(UPDATED)
    _, _, other = (value for value in signed(UPDATED, key=b"another")[0].values())
    headers["Webhook-Signature"] = f"{other} v2,abc ä {headers['Webhook-Signature']}"
    assert verify_webhook(headers, body, SECRET).id == "evt_1"


def test_an_event_of_a_later_release_has_a_name() -> None:
    headers, body = signed({"event": "of.later", "data": {}})
    webhook = verify_webhook(headers, body, SECRET)
    assert (webhook.name, webhook.event) == ("of.later", None)


@pytest.mark.parametrize("age_s", [301, -301])
def test_an_old_event_is_refused(age_s: int) -> None:
    headers, body = signed(UPDATED, age_s=age_s)
    with pytest.raises(WebhookVerificationError, match="timestamp"):
        verify_webhook(headers, body, SECRET)


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
def test_an_event_without_a_header_or_with_another_value_is_refused(name: str) -> None:
    headers, body = signed(UPDATED)
    for changed in ({k: v for k, v in headers.items() if k != name}, {**headers, name: headers[name] + "1"}):
        with pytest.raises(WebhookVerificationError):
            verify_webhook(changed, body, SECRET)


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
def test_a_header_whose_bytes_are_no_text_is_refused(name: str) -> None:
    headers, body = signed(UPDATED)
    with pytest.raises(WebhookVerificationError):
        verify_webhook({**headers, name: headers[name] + b"\xff".decode(errors="surrogateescape")}, body, SECRET)


@pytest.mark.parametrize("event", [[], "text", {"data": {}}, {"event": "transaction.updated", "data": {"status": "success"}}])
def test_what_is_signed_but_no_event_is_refused(event: object) -> None:
    headers, body = signed(event)
    with pytest.raises(WebhookVerificationError, match="not an event"):
        verify_webhook(headers, body, SECRET)


def test_a_body_that_was_changed_is_refused() -> None:
    headers, body = signed(UPDATED)
    with pytest.raises(WebhookVerificationError, match="No signature"):
        verify_webhook(headers, body.replace(b"500.5", b"900.5"), SECRET)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_%%%"])
def test_a_secret_that_is_none_is_a_mistake_of_the_app(secret: str) -> None:
    headers, body = signed(UPDATED)
    with pytest.raises(ValueError, match="secret"):
        verify_webhook(headers, body, secret)


def test_the_view_for_django_settles_a_signed_event_and_refuses_others() -> None:
    settings.configure(ALLOWED_HOSTS=["testserver"])
    django.setup()
    settled: list[tuple[str, str]] = []
    view = airtime_webhook(SECRET, lambda reference, status: settled.append((reference, status)))
    post = RequestFactory(enforce_csrf_checks=True).post
    for event, key, expected in [(UPDATED, KEY, 204), ({"event": "of.later", "data": {}}, KEY, 204), (UPDATED, b"x", 400)]:
        headers, body = signed(event, key=key)
        response = view(post("/hooks/airtime", body, content_type="application/json", headers=headers))
        assert response.status_code == expected
    assert settled == [(DATA["reference"], "success")]


def test_the_route_for_fastapi_settles_a_signed_event_and_refuses_others() -> None:
    settled: list[tuple[str, str]] = []

    async def settle(reference: str, status: str) -> None:
        settled.append((reference, status))

    async def post_all() -> None:
        app = FastAPI()
        app.include_router(airtime_webhooks(SECRET, settle))
        async with AsyncClient(transport=ASGITransport(app), base_url="http://app") as client:
            for event, key, expected in [(UPDATED, KEY, 204), ({"event": "of.later", "data": {}}, KEY, 204), (UPDATED, b"x", 400)]:
                headers, body = signed(event, key=key)
                assert (await client.post("/hooks/airtime", content=body, headers=headers)).status_code == expected

    asyncio.run(post_all())
    assert settled == [(DATA["reference"], "success")]
