"""Goal: what the clients of all languages share holds for this one. Method: the tables of client/vectors."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import BUNDLE, Answer, Service

from airtime_service import AirtimeClient, OutcomeUnknownError, ServiceError, WebhookVerificationError, verify_webhook
from airtime_service.models import NinVerifyRequest

VECTORS = Path(__file__).parents[3] / "client" / "vectors"
ANSWERS = json.loads((VECTORS / "answers.json").read_text())
CHECKS = json.loads((VECTORS / "checks.json").read_text())
WEBHOOKS = json.loads((VECTORS / "webhooks.json").read_text())["cases"]
NAMED = {answer["name"]: answer for answer in ANSWERS["answers"] + ANSWERS["cancellations"]}
SETTINGS = json.loads((VECTORS / "settings.json").read_text())["cases"]


def response(answer: dict[str, Any]) -> httpx.Response:
    return httpx.Response(answer["status"], headers=answer["headers"], content=answer["body"].encode())


def end_of_order(service: Service, *answers: dict[str, Any]) -> str:
    responses: list[Answer] = [response(answer) for answer in answers]
    try:
        return str(service("buy_data", BUNDLE, reference="order-1", answers=responses).transaction.status)
    except ServiceError:
        return "failed"
    except OutcomeUnknownError:
        return "unknown"


@pytest.mark.parametrize("answer", ANSWERS["answers"], ids=lambda answer: answer["name"])
def test_after_an_answer_the_client_does_what_the_table_says(service: Service, answer: dict[str, Any]) -> None:
    after = NAMED["cancelled"] if answer["next"] == "cancel" else ANSWERS["replay"]
    end = end_of_order(service, answer, after)
    expected = {"retry": "success", "cancel": "failed"}.get(answer["next"], answer["next"])
    assert end == expected
    sent = [ANSWERS["order"]]
    if answer["next"] == "retry":
        sent.append(ANSWERS["order"])
        assert service.clock.waits[0] >= answer.get("wait_s", 0)
    if answer["next"] == "cancel":
        sent.append(ANSWERS["cancellation"])
    assert service.bodies == sent


@pytest.mark.parametrize("sequence", ANSWERS["sequences"], ids=lambda sequence: sequence["name"])
def test_after_further_answers_the_client_does_what_the_table_says(service: Service, sequence: dict[str, Any]) -> None:
    assert end_of_order(service, *(NAMED[name] for name in sequence["answers"])) == sequence["end"]
    assert service.bodies == [ANSWERS[sent] for sent in sequence["sent"]]


@pytest.mark.parametrize("sequence", CHECKS["sequences"], ids=lambda sequence: sequence["name"])
def test_a_check_ends_as_the_table_says(service: Service, sequence: dict[str, Any]) -> None:
    named = {answer["name"]: response(answer) for answer in CHECKS["answers"]}
    answers: list[Answer] = [named[name] for name in sequence["answers"]]
    check = NinVerifyRequest(nin=CHECKS["order"]["nin"], is_consent=True)
    try:
        verified = service("verify_nin", check, reference="check-1", answers=answers)
        assert verified.result.first_name == "ADAEZE"
        end = "found" if verified.transaction.status == "success" else verified.transaction.status
    except ServiceError:
        end = "failed"
    except OutcomeUnknownError:
        end = "unknown"
    assert end == sequence["end"]
    assert service.bodies == [CHECKS[sent] for sent in sequence["sent"]]


@pytest.mark.parametrize("case", WEBHOOKS, ids=lambda case: case["name"])
def test_a_webhook_is_taken_or_refused(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: case["now"])
    headers = {f"webhook-{name}": case[name] for name in ("id", "timestamp", "signature") if case[name] is not None}
    if case["valid"]:
        webhook = verify_webhook(headers, case["body"].encode(), case["secret"])
        assert (webhook.name, webhook.event is not None) == (case["event"], case["known"])
    else:
        error = ValueError if case["reason"] == "secret" else WebhookVerificationError
        with pytest.raises(error):
            verify_webhook(headers, case["body"].encode(), case["secret"])


@pytest.mark.parametrize("case", SETTINGS, ids=lambda case: f"{case['base_url']} {case['api_key']}")
def test_settings_are_taken_or_refused_without_showing_the_key(case: dict[str, Any]) -> None:
    if case["refused"] is None:
        AirtimeClient(case["base_url"], case["api_key"])
    else:
        with pytest.raises(ValueError, match=f"^{case['refused']} [^@]+$") as raised:
            AirtimeClient(case["base_url"], case["api_key"])
        assert not case["api_key"] or case["api_key"] not in str(raised.value)
