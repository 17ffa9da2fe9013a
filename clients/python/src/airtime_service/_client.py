"""Two clients with the same methods: each runs the Calls of _operations.py by its own input and output."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from socket import SHUT_RDWR
from threading import Event, Timer
from time import monotonic, sleep
from typing import Any, Concatenate, ParamSpec, TypeVar

import anyio
import httpx

from . import _operations as operations
from ._call import Call, Exchange, Reply, Settings

P = ParamSpec("P")
T = TypeVar("T")
TIMEOUT_S = 90.0
"""A new minute of the rate limit (60 s) and one attempt (30 s)."""
ATTEMPT_TIMEOUT_S = 35.0
"""Longer than the service takes to answer: its functions end after 29 s."""
NO_KEPT_CONNECTIONS = httpx.Limits(max_keepalive_connections=0)
"""A process that forks would share them, and mix up answers."""


class _Client:
    """`timeout` is the deadline in seconds of a call with all its attempts, `attempt_timeout` that of one attempt. A
    `transport` of httpx must not repeat requests."""

    def __init__(
        self, base_url: str, api_key: str, *, timeout: float = TIMEOUT_S, attempt_timeout: float = ATTEMPT_TIMEOUT_S,
        transport: Any = None,
    ) -> None:  # fmt: skip
        self._settings = Settings(base_url.rstrip("/"), api_key, timeout, attempt_timeout)
        self._open(transport)

    def _open(self, transport: Any) -> None:
        raise NotImplementedError


def _blocking(call: Callable[Concatenate[Settings, P], Call[T]]) -> Callable[Concatenate[AirtimeClient, P], T]:
    @wraps(call)
    def method(client: AirtimeClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client._run(call(client._settings, *args, **kwargs))

    return method


def _awaitable(
    call: Callable[Concatenate[Settings, P], Call[T]],
) -> Callable[Concatenate[AsyncAirtimeClient, P], Awaitable[T]]:
    @wraps(call)
    async def method(client: AsyncAirtimeClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await client._run(call(client._settings, *args, **kwargs))

    return method


class AirtimeClient(_Client):
    """A client of the service. One for each API key is enough for a process; threads can share it."""

    buy = _blocking(operations.buy)
    verify = _blocking(operations.verify)
    retrieve = _blocking(operations.retrieve)
    get_catalog = _blocking(operations.get_catalog)
    get_wallet = _blocking(operations.get_wallet)
    get_transaction = _blocking(operations.get_transaction)
    list_transactions = _blocking(operations.list_transactions)
    wait = _blocking(operations.wait)
    cancel = _blocking(operations.cancel)

    def _open(self, transport: Any) -> None:
        self._http = httpx.Client(transport=transport, limits=NO_KEPT_CONNECTIONS)

    def _run(self, call: Call[T]) -> T:
        try:
            exchange = next(call)
            while True:
                sleep(exchange.delay)
                exchange = call.send(self._exchange(exchange))
        except StopIteration as end:
            result: T = end.value
            return result

    def _exchange(self, exchange: Exchange) -> Reply:
        reply, started = Reply(), monotonic()
        try:
            with _time_limit(exchange.timeout) as trace:
                with self._http.stream(**_arguments(self._settings, exchange), extensions={"trace": trace}) as response:
                    reply.status, reply.headers = response.status_code, response.headers
                    for chunk in response.iter_bytes():
                        reply.add(chunk)
        except Exception as failure:
            reply.failure, reply.is_late = failure, monotonic() - started >= exchange.timeout
        return reply


class AsyncAirtimeClient(_Client):
    """The same for asyncio and trio. If a call that places an order is cancelled, the order is not decided."""

    buy = _awaitable(operations.buy)
    verify = _awaitable(operations.verify)
    retrieve = _awaitable(operations.retrieve)
    get_catalog = _awaitable(operations.get_catalog)
    get_wallet = _awaitable(operations.get_wallet)
    get_transaction = _awaitable(operations.get_transaction)
    list_transactions = _awaitable(operations.list_transactions)
    wait = _awaitable(operations.wait)
    cancel = _awaitable(operations.cancel)

    def _open(self, transport: Any) -> None:
        self._http = httpx.AsyncClient(transport=transport, limits=NO_KEPT_CONNECTIONS)

    async def _run(self, call: Call[T]) -> T:
        try:
            exchange = next(call)
            while True:
                await anyio.sleep(exchange.delay)
                exchange = call.send(await self._exchange(exchange))
        except StopIteration as end:
            result: T = end.value
            return result

    async def _exchange(self, exchange: Exchange) -> Reply:
        reply, started = Reply(), monotonic()
        try:
            with anyio.fail_after(exchange.timeout):
                async with self._http.stream(**_arguments(self._settings, exchange)) as response:
                    reply.status, reply.headers = response.status_code, response.headers
                    async for chunk in response.aiter_bytes():
                        reply.add(chunk)
        except Exception as failure:
            reply.failure, reply.is_late = failure, monotonic() - started >= exchange.timeout
        return reply


def _arguments(settings: Settings, exchange: Exchange) -> dict[str, Any]:
    request = exchange.request
    headers = {"authorization": f"Bearer {settings.api_key}", "accept": "application/json", "accept-encoding": "identity"}
    content = {} if request.body is None else {"content-type": "application/json"}
    return {
        "method": request.method,
        "url": settings.base_url + request.path,
        "content": request.body,
        "headers": {**headers, **content, **request.headers},
        "timeout": exchange.timeout,
        # A redirect would send the key elsewhere, and may turn an order into a GET.
        "follow_redirects": False,
    }


@contextmanager
def _time_limit(seconds: float) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """httpx limits each read, and an answer can have any number of them. So the connection is cut when the time is over."""
    streams: list[Any] = []
    is_over = Event()

    def trace(event: str, info: dict[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            streams.append(info["return_value"])
            # A lookup of the name, a connection or a handshake that outlasts the timer leaves it nothing to cut.
            if is_over.is_set():
                raise TimeoutError

    def cut() -> None:
        is_over.set()
        # The answer may have come at this moment.
        with suppress(OSError):
            for stream in streams[-1:]:
                stream.get_extra_info("socket").shutdown(SHUT_RDWR)

    timer = Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield trace
    finally:
        timer.cancel()
