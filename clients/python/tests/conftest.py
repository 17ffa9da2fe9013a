from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest

from airtime_service import AirtimeClient, AsyncAirtimeClient, _client, _rule
from airtime_service.models import AirtimePurchaseRequest, DataPurchaseRequest

Answer = httpx.Response | Exception | Callable[[], httpx.Response]

BUNDLE = DataPurchaseRequest(network_id=1, plan_id=101, phone_number="08031234567")
AIRTIME = AirtimePurchaseRequest(network="mtn", phone_number="08031234567", amount=100)


def bought(**changed: Any) -> dict[str, Any]:
    transaction = {
        "reference": "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
        "status": "success",
        "amount": 500,
        "description": "MTN 1GB data for 08031234567",
        "type": "data",
        "caller_reference": "order-1",
        "phone_number": "08031234567",
    }
    return {"transaction": {**transaction, **changed}}


def looked_up(**changed: Any) -> dict[str, Any]:
    times = {"created_at": "2026-11-21T09:30:00.000Z", "updated_at": "2026-11-21T09:30:00.000Z"}
    return bought(**{"network": "MTN", "error_code": None, **times, **changed})


def success(data: dict[str, Any], **headers: str) -> httpx.Response:
    return httpx.Response(200, json={"status": True, "message": "", "data": data}, headers=_named(headers))


def refusal(status: int, code: str, errors: dict[str, list[str]] | None = None, **headers: str) -> httpx.Response:
    body = {"status": False, "message": f"It is {code}", **({"errors": errors} if errors else {})}
    return httpx.Response(status, json=body, headers={"x-error-code": code, **_named(headers)})


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


class Clock:
    """Time passes only while something waits."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.waits: list[float] = []

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.waits += [seconds] if seconds else []


class Service:
    """A client of one kind, and the answers that it gets in turn; the last one again and again."""

    def __init__(self, kind: str, clock: Clock) -> None:
        self.kind = kind
        self.clock = clock
        self.requests: list[httpx.Request] = []
        self.api_key = "live_key"

    def __call__(self, name: str, *args: Any, answers: list[Answer], **options: Any) -> Any:
        waiting = list(answers)

        def answer(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            given = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            if isinstance(given, Exception):
                raise given
            if callable(given):
                return given()
            return httpx.Response(given.status_code, headers=given.headers, content=given.content)

        transport = httpx.MockTransport(answer)
        if self.kind == "sync":
            client = AirtimeClient("http://localhost/v1/", self.api_key, transport=transport)
            return getattr(client, name)(*args, **options)

        async def call() -> Any:
            client = AsyncAirtimeClient("http://localhost/v1/", self.api_key, transport=transport)
            return await getattr(client, name)(*args, **options)

        return anyio.run(call, backend=self.kind)

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.content or b"null") for request in self.requests]

    @property
    def paths(self) -> list[str]:
        return [request.url.path.removeprefix("/v1") for request in self.requests]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()

    async def wait(seconds: float) -> None:
        clock.wait(seconds)

    monkeypatch.setattr(_client, "sleep", clock.wait)
    monkeypatch.setattr(anyio, "sleep", wait)
    for module in (_rule, _client):
        monkeypatch.setattr(module, "monotonic", lambda: clock.now)
    return clock


@pytest.fixture(params=["sync", "asyncio", "trio"])
def service(request: pytest.FixtureRequest, clock: Clock) -> Service:
    return Service(request.param, clock)
