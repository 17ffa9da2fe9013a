import httpx
import pytest
from conftest import BUNDLE, Answer, Service, bought, looked_up, refusal, success

from airtime_service import AirtimeClient, NoAnswerError, ServiceError, WaitEndedError

PROCESSING = success(looked_up(status="processing"))
NOT_FOUND = refusal(404, "not_found")


def test_a_read_is_repeated_and_its_last_error_is_raised(service: Service) -> None:
    with pytest.raises(NoAnswerError) as raised:
        service("get_wallet", answers=[httpx.Response(502)])
    assert (raised.value.reason, raised.value.status, raised.value.reference) == ("unreadable", 502, None)
    assert len(service.requests) > 3


def test_a_refused_read_raises_the_refusal(service: Service) -> None:
    with pytest.raises(ServiceError) as raised:
        service("get_transaction", "order-1", answers=[refusal(404, "not_found", x_request_id="req-1")])
    assert (raised.value.code, raised.value.request_id) == ("not_found", "req-1")


def test_catalog_and_wallet_are_read(service: Service) -> None:
    plan = {"id": 101, "network_id": 1, "name": "1GB", "price": 500.5, "validity": "30 days"}
    catalog = success({"networks": [{"id": 1, "name": "MTN", "code": "mtn"}], "data_plans": [plan]})
    assert str(service("list_catalog", answers=[catalog]).data_plans[0].price) == "500.5"
    wallet = {"currency": "NGN", "balance": 10, "low_balance_threshold": None, "updated_at": "2026-11-21T09:30:00.000Z"}
    assert service("get_wallet", answers=[success({"wallet": wallet})]).balance == 10
    assert service.paths == ["/vtu/data", "/wallet"]


def test_a_lookup_takes_either_reference_and_no_other_transaction(service: Service) -> None:
    other = success(looked_up(reference="DATA_2", caller_reference="order-2"))
    assert service("get_transaction", "order-1", answers=[other, success(looked_up())]).status == "success"
    assert service("get_transaction", "DATA_2", answers=[other]).caller_reference == "order-2"
    assert service.paths[0] == "/transactions/order-1"


def test_a_page_of_the_list_is_the_one_that_was_asked_for(service: Service) -> None:
    def page(cursor: str | None, **changed: str) -> httpx.Response:
        return success({"transactions": [looked_up(**changed)["transaction"]], "next_cursor": cursor})

    answers: list[Answer] = [page("old"), page("new", status="failed"), page("new")]
    found = service("list_transactions", status="success", from_="2026-11-21", cursor="old", answers=answers)
    assert found.next_cursor == "new"
    assert str(service.requests[-1].url.query, "ascii") == "status=success&from=2026-11-21&cursor=old"
    assert len(service.requests) == 3


def test_wait_looks_a_transaction_up_until_it_is_final(service: Service) -> None:
    answers: list[Answer] = [NOT_FOUND, PROCESSING, PROCESSING, success(looked_up(status="failed"))]
    assert service("wait", "order-1", answers=answers).status == "failed"
    assert [round(wait) for wait in service.clock.waits] == sorted(round(wait) for wait in service.clock.waits)
    assert len(service.requests) == 4


@pytest.mark.parametrize(("answer", "status"), [(PROCESSING, "processing"), (NOT_FOUND, None), (httpx.Response(502), None)])
def test_wait_ends_at_its_deadline(service: Service, answer: httpx.Response, status: str | None) -> None:
    with pytest.raises(WaitEndedError) as raised:
        service("wait", "order-1", answers=[answer], timeout=60)
    assert getattr(raised.value.transaction, "status", None) == status
    assert 58 <= sum(service.clock.waits) <= 60


def test_wait_ends_if_a_lookup_is_refused(service: Service) -> None:
    with pytest.raises(WaitEndedError) as raised:
        service("wait", "order-1", answers=[PROCESSING, refusal(403, "permission_denied")])
    assert isinstance(raised.value.__cause__, ServiceError)
    assert raised.value.transaction is not None
    assert len(service.requests) == 2


def test_cancel_answers_the_transaction(service: Service) -> None:
    answers: list[Answer] = [success(looked_up(caller_reference="order-2")), success(looked_up(status="failed"))]
    assert service("cancel_order", "order-1", "data", answers=answers).status == "failed"
    assert service.bodies == [{"reference": "order-1", "type": "data"}] * 2


def test_attempts_are_logged_without_personal_data(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "airtime_service")
    answers: list[Answer] = [httpx.Response(502), success(bought())]
    service("buy_data", BUNDLE, reference="order-1", answers=answers)
    lines = [record.getMessage() for record in caplog.records if record.name == "airtime_service"]
    assert lines[0].startswith("/vtu/data/purchase order-1, attempt 1: unreadable, again in 0.")
    assert lines[1:] == ["/vtu/data/purchase order-1, attempt 2: answered"]
