"""What both kinds of client are made of: each lets the rule of _rule.py sleep, send and read in its own way."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR, socket
from threading import Timer
from time import monotonic, sleep
from typing import Any, TypeVar

import anyio
import httpx

from . import _rule, models
from ._rule import Reply, Request

T = TypeVar("T")
FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError)
"""Of a connection. Any other exception comes from outside, such as the time limit of a queue's worker, and ends the call."""


def run(call: Coroutine[Any, Any, T]) -> T:
    """The result of a blocking client's call. It never suspends, so it needs no event loop."""
    try:
        call.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("A blocking call suspended")


class BlockingClient(_rule.Client):
    _http_type = httpx.Client

    def wait(self, reference: str, *, timeout: float = 120.0) -> models.Transaction:
        """Looks a transaction up until it is `success` or `failed`, or raises a WaitEndedError."""
        return run(_rule.wait(self, reference, timeout))

    async def _sleep(self, seconds: float) -> None:
        sleep(seconds)

    async def _exchange(self, request: Request[Any], timeout: float) -> Reply:
        reply, started = Reply(), monotonic()
        try:
            with _time_limit(timeout) as trace:
                with self._http.stream(**_arguments(self, request, timeout), extensions={"trace": trace}) as response:
                    reply.status, reply.headers = response.status_code, response.headers
                    for chunk in response.iter_bytes():
                        reply.add(chunk)
        except FAILURES as failure:
            reply.failure, reply.is_late = failure, monotonic() - started >= timeout
        return reply


class AsyncClient(_rule.Client):
    _http_type = httpx.AsyncClient

    async def wait(self, reference: str, *, timeout: float = 120.0) -> models.Transaction:
        """Looks a transaction up until it is `success` or `failed`, or raises a WaitEndedError."""
        return await _rule.wait(self, reference, timeout)

    async def _sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def _exchange(self, request: Request[Any], timeout: float) -> Reply:
        reply, started = Reply(), monotonic()
        try:
            with anyio.fail_after(timeout):
                async with self._http.stream(**_arguments(self, request, timeout)) as response:
                    reply.status, reply.headers = response.status_code, response.headers
                    async for chunk in response.aiter_bytes():
                        reply.add(chunk)
        except Exception as failure:
            reply.failure, reply.is_late = failure, monotonic() - started >= timeout
        return reply


def _arguments(client: _rule.Client, request: Request[Any], timeout: float) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {client._api_key}", "accept": "application/json", "accept-encoding": "identity"}
    content = {} if request.body is None else {"content-type": "application/json"}
    return {
        "method": request.method,
        "url": client._base_url + request.path,
        "content": request.body,
        "headers": {**headers, **content, **request.headers},
        "timeout": timeout,
        # A redirect would send the key elsewhere, and may turn an order into a GET.
        "follow_redirects": False,
    }


@contextmanager
def _time_limit(seconds: float) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """httpx limits each read, and an answer can have any number of them. So the connection is cut when the time is over."""
    streams: list[Any] = []
    deadline = monotonic() + seconds

    def trace(event: str, info: dict[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            streams.append(info["return_value"])
            # A lookup of the name, a connection or a handshake that outlasts the timer leaves it nothing to cut.
            if monotonic() >= deadline:
                raise TimeoutError

    def cut() -> None:
        # The answer may have come at this moment.
        with suppress(OSError):
            for stream in streams[-1:]:
                # That of SSLSocket takes the encryption off first: a request that is sent just then would be plain text.
                socket.shutdown(stream.get_extra_info("socket"), SHUT_RDWR)

    timer = Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield trace
    finally:
        timer.cancel()
