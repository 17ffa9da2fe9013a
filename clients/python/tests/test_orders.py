"""Goal: an order is decided only by an answer that decides it. Method: scripted answers, in each kind of client."""

import logging
from decimal import Decimal

import httpx
import pytest
from conftest import AIRTIME, BUNDLE, Answer, Service, bought, looked_up, refusal, success

from airtime_service import AirtimeClient, OutcomeUnknownError, ServiceError, new_reference
from airtime_service.models import AirtimePurchaseRequest, ConsentEvidence, NinAdvancedResult, NinBasicResult, NinVerifyRequest

CUT = httpx.RemoteProtocolError("The connection ended")
PAGE = httpx.Response(502, text="<html>Bad gateway</html>")
CANCELLED = looked_up(reference="DATA_CANCELLED", status="failed", error_code="order_cancelled")
CHECKED = {
    "title": "NIN Verification",
    "amount": 150,
    "reference": "VERIFY_7QVG253GF2P74F8N3P1ZY9ZS1E",
    "status": "success",
    "type": "nin_verification",
    "caller_reference": "order-1",
}
PERSON = {"first_name": "ADA", "last_name": "OBI", "middle_name": "", "gender": "F", "date_of_birth": "1971-04-27"}


def test_a_success_is_an_order_with_an_exact_amount(service: Service) -> None:
    answer = success(bought(amount=500.1, new_field=1), idempotent_replayed="true", x_estimated_delivery="61")
    order = service("buy_data", BUNDLE, reference="order-1", answers=[answer])
    assert (order.transaction.reference, order.transaction.status) == ("DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ", "success")
    assert (order.transaction.amount, order.replayed, order.estimated_delivery_s) == (Decimal("500.1"), True, 61)
    [request] = service.requests
    assert request.headers["authorization"] == "Bearer live_key"
    assert service.paths == ["/vtu/data/purchase"]
    expected = {"network_id": 1, "plan_id": 101, "phone_number": "08031234567", "reference": "order-1"}
    assert service.bodies == [expected]


def test_airtime_is_bought_with_an_amount_that_is_a_decimal(service: Service) -> None:
    order = type(AIRTIME)(network="mtn", phone_number="08031234567", amount=Decimal("100.50"))
    answer = success(bought(type="airtime", amount=100.5), idempotent_replayed="false")
    bought_airtime = service("buy_airtime", order, reference="order-1", confirm_duplicate=True, answers=[answer])
    assert bought_airtime.replayed is False
    assert service.paths == ["/vtu/airtime/purchase"]
    assert service.bodies[0]["amount"] == 100.5
    assert service.requests[0].headers["x-confirm-duplicate"] == "true"


def test_a_log_that_raises_does_not_change_the_result(service: Service) -> None:
    def refuse(record: logging.LogRecord) -> bool:
        raise OSError("The disk is full")

    logger = logging.getLogger("airtime_service")
    logger.setLevel(logging.INFO)
    logger.addFilter(refuse)
    try:
        assert service("buy_data", BUNDLE, reference="order-1", answers=[success(bought())]).transaction.status == "success"
    finally:
        logger.removeFilter(refuse)
        logger.setLevel(logging.NOTSET)


@pytest.mark.parametrize(
    "answer",
    [
        CUT,
        httpx.ReadTimeout("late"),
        PAGE,
        httpx.Response(200, content=b'{"status": true, "da'),
        httpx.Response(200, content=b"[" * 100_000),
        httpx.Response(200, json={"status": False, "message": ""}),
        httpx.Response(408),
        httpx.Response(429, json={"message": "Too Many Requests"}),
        success({"transaction": None}),
        success(bought(caller_reference="order-2")),
        success(bought(reference="order-1", caller_reference="order-2")),
        success(bought(phone_number="08039999999")),
        success(bought(type="airtime")),
        success(bought(status="reversed")),
        success(bought(reference="TEST_7Z9K3QX1V5B8M2N4C6D0F1G3HJ")),
        success(bought(amount="500")),
        refusal(502, "delivery_failed", x_transaction_reference="DATA_1", x_caller_reference="order-2"),
        refusal(502, "delivery_failed", x_transaction_reference="DATA_1"),
        refusal(403, "permission_denied", x_caller_reference="order-2"),
        refusal(429, "rate_limited", retry_after="2"),
        refusal(503, "provider_unavailable"),
        refusal(500, "internal_error"),
        refusal(418, "of_a_later_release", retry_after="1"),
    ],
    ids=repr,
)
def test_an_answer_that_decides_nothing_is_followed_by_the_same_request(service: Service, answer: Answer) -> None:
    order = service("buy_data", BUNDLE, reference="order-1", answers=[answer, answer, success(bought())])
    assert order.transaction.status == "success"
    assert len(service.requests) == 3
    assert len({request.content for request in service.requests}) == 1
    assert all(0.25 <= wait <= 3 for wait in service.clock.waits)


def test_airtime_costs_what_the_account_pays_for_it(service: Service) -> None:
    answer = success(bought(type="airtime", amount=97))
    assert service("buy_airtime", AIRTIME, reference="order-1", answers=[answer]).transaction.amount == 97


def test_an_old_order_whose_phone_number_is_masked_is_this_order(service: Service) -> None:
    answer = success(bought(phone_number="*********67"))
    assert service("buy_data", BUNDLE, reference="order-1", answers=[answer]).transaction.status == "success"


def test_an_error_that_names_its_transaction_is_final(service: Service) -> None:
    answer = refusal(502, "delivery_failed", x_transaction_reference="DATA_1", x_caller_reference="order-1")
    with pytest.raises(ServiceError, match="It is delivery_failed") as raised:
        service("buy_data", BUNDLE, reference="order-1", answers=[CUT, answer])
    assert (raised.value.code, raised.value.transaction_reference) == ("delivery_failed", "DATA_1")
    assert (raised.value.status, raised.value.reference) == (502, "order-1")
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    "answer",
    [
        refusal(401, "invalid_api_key"),
        refusal(403, "permission_denied"),
        refusal(404, "not_found"),
        refusal(422, "reference_reused", x_caller_reference="order-1"),
        refusal(422, "validation_failed", errors={"reference": ["Has the phone number"]}, x_caller_reference="order-1"),
        httpx.Response(404),
        httpx.Response(302, headers={"location": "https://elsewhere.example/"}),
    ],
    ids=repr,
)
def test_an_answer_that_neither_decides_nor_passes_leaves_the_order_unknown(service: Service, answer: Answer) -> None:
    with pytest.raises(OutcomeUnknownError, match="order-1 is not decided") as raised:
        service("buy_data", BUNDLE, reference="order-1", answers=[answer])
    assert raised.value.reference == "order-1"
    assert raised.value.__cause__ is not None
    assert len(service.requests) == 1


def test_at_the_deadline_the_order_is_unknown(service: Service) -> None:
    with pytest.raises(OutcomeUnknownError):
        service("buy_data", BUNDLE, reference="order-1", answers=[PAGE])
    assert 81 < sum(service.clock.waits) <= 89
    assert max(service.clock.waits) <= 8


def test_a_retry_after_beyond_the_deadline_is_not_waited_for(service: Service) -> None:
    with pytest.raises(OutcomeUnknownError) as raised:
        service("buy_data", BUNDLE, reference="order-1", answers=[refusal(503, "provider_unavailable", retry_after="90")])
    assert isinstance(raised.value.__cause__, ServiceError) and raised.value.__cause__.retry_after_s == 90
    assert service.clock.waits == []


def test_a_refusal_that_the_order_meets_again_is_made_final_by_a_cancellation(service: Service) -> None:
    answers: list[Answer] = [CUT, refusal(400, "insufficient_balance", x_caller_reference="order-1"), success(CANCELLED)]
    with pytest.raises(ServiceError) as raised:
        service("buy_data", BUNDLE, reference="order-1", answers=answers)
    assert (raised.value.code, raised.value.transaction_reference) == ("insufficient_balance", "DATA_CANCELLED")
    assert service.paths[-1] == "/transactions/cancel"
    assert service.bodies[-1] == {"reference": "order-1", "type": "data"}


def test_an_order_whose_cancellation_has_no_answer_is_unknown(service: Service) -> None:
    with pytest.raises(OutcomeUnknownError) as raised:
        service("buy_data", BUNDLE, reference="order-1", answers=[refusal(422, "plan_unavailable"), PAGE])
    assert isinstance(raised.value.__cause__, ServiceError) and raised.value.__cause__.code == "plan_unavailable"


def test_a_check_is_sent_again_until_it_has_its_result(service: Service) -> None:
    evidence = ConsentEvidence(method="app", id="abc", obtained_at="2026-11-21T09:30:00Z")
    check = NinVerifyRequest(nin="00000000000", is_consent=True, mode="basic", consent_evidence=evidence)
    open_check = success({"transaction": {**CHECKED, "status": "processing"}, "result": None})
    done = success({"transaction": CHECKED, "result": PERSON})
    checked = service("verify_nin", check, reference="order-1", answers=[open_check, CUT, done])
    assert isinstance(checked.result, NinBasicResult) and checked.result.first_name == "ADA"
    assert service.bodies[0]["consent_evidence"] == {"method": "app", "id": "abc", "obtained_at": "2026-11-21T09:30:00Z"}
    assert len({request.content for request in service.requests}) == 1


def test_a_check_that_has_no_result_at_the_deadline_is_processing(service: Service) -> None:
    check = NinVerifyRequest(nin="00000000000", is_consent=True)
    open_check = success({"transaction": {**CHECKED, "status": "processing"}, "result": None})
    checked = service("verify_nin", check, reference="order-1", answers=[open_check, PAGE])
    assert (checked.transaction.status, checked.result) == ("processing", None)


def test_an_advanced_check_has_the_whole_profile_and_what_else_the_service_answered(service: Service) -> None:
    nulls = dict.fromkeys(
        ["phone_number", "email", "title", "marital_status", "nationality", "residential_address", "state_of_origin"]
    )
    profile = {**PERSON, **nulls, "nin": "00000000000", "photo": "", "lga_of_origin": "Ikeja", "height": 170}
    check = NinVerifyRequest(nin="00000000000", is_consent=True, mode="advanced")
    answers: list[Answer] = [success({"transaction": CHECKED, "result": profile})]
    result = service("verify_nin", check, reference="order-1", answers=answers).result
    assert isinstance(result, NinAdvancedResult)
    assert (result.lga_of_origin, result.additional) == ("Ikeja", {"height": 170})


@pytest.mark.parametrize("reference", ["", ".", "..", "a/b", "ä", "a" * 101, "a\n", None])
def test_an_order_with_an_impossible_reference_is_not_sent(service: Service, reference: str) -> None:
    with pytest.raises(ValueError, match="reference must be"):
        service("buy_data", BUNDLE, reference=reference, answers=[success(bought())])
    assert service.requests == []


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
@pytest.mark.parametrize("name", ["timeout", "attempt_timeout"])
def test_a_time_that_is_no_time_is_refused(name: str, seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds above 0"):
        AirtimeClient("https://example.com/v1", "live_key", **{name: seconds})


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), Decimal("NaN"), Decimal("1e999")])
def test_an_order_whose_amount_is_no_number_is_not_sent(service: Service, amount: float | Decimal) -> None:
    order = AirtimePurchaseRequest(network="mtn", phone_number="08031234567", amount=amount)
    with pytest.raises(ValueError):
        service("buy_airtime", order, reference="order-1", answers=[success(bought(type="airtime"))])
    assert service.requests == []


def test_a_made_reference_is_random_and_has_no_digits() -> None:
    references = {new_reference() for _ in range(100)}
    assert len(references) == 100
    assert all(len(reference) == 32 and reference.isalpha() for reference in references)
