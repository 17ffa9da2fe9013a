"""Goal: no layer below the client repeats a request, follows one elsewhere or outlasts a deadline. Method: a server whose
answers are bytes that each test writes."""

from __future__ import annotations

import itertools
import re
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from conftest import BUNDLE

from airtime_service import AirtimeClient, AsyncAirtimeClient, NoAnswerError, OutcomeUnknownError, ServiceError, _client, _rule

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


class Server:
    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"
        self.requests: list[bytes] = []
        self.answer: Callable[[socket.socket], None] = lambda connection: None
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def close(self) -> None:
        self.listener.close()

    def serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as received:
            while head := b"".join(itertools.takewhile(lambda line: line != b"\r\n", received)):
                [length] = re.findall(rb"content-length: (\d+)", head.lower()) or [0]
                self.requests.append(head + received.read(int(length)))
                try:
                    self.answer(connection)
                except OSError:
                    return


@pytest.fixture
def server() -> Iterator[Server]:
    with closing(Server()) as server:
        yield server


KINDS = ["sync", "asyncio", "trio"]


def purchase(server: Server, kind: str, timeout: float) -> Any:
    if kind == "sync":
        return AirtimeClient(server.base_url, "live_key", timeout=timeout).buy_data(BUNDLE, reference="order-1")

    async def call() -> Any:
        return await AsyncAirtimeClient(server.base_url, "live_key", timeout=timeout).buy_data(BUNDLE, reference="order-1")

    return anyio.run(call, backend=kind)


@pytest.fixture
def one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much time is left after it."""
    monkeypatch.setattr(_rule, "ATTEMPT_S_MIN", 100)


@pytest.fixture(params=KINDS)
def buy(request: pytest.FixtureRequest, server: Server, one_attempt: None) -> Callable[[], Any]:
    return lambda: purchase(server, request.param, 60)


@pytest.mark.usefixtures("one_attempt")
def test_an_answer_that_comes_byte_by_byte_ends_with_the_attempt() -> None:
    """In all cases at once: each takes as long as its attempt, in which a busy machine has to send the request."""

    def drip(connection: socket.socket, start: bytes, wholly_sent: list[bytes]) -> None:
        connection.sendall(start)
        for _ in range(1_200):
            time.sleep(0.05)
            connection.sendall(b" ")
        wholly_sent.append(start)

    def ends(case: tuple[str, bytes]) -> None:
        kind, start = case
        wholly_sent: list[bytes] = []
        with closing(Server()) as server:
            server.answer = lambda connection: drip(connection, start, wholly_sent)
            with pytest.raises(OutcomeUnknownError) as raised:
                purchase(server, kind, 3)
        assert isinstance(raised.value.__cause__, NoAnswerError) and raised.value.__cause__.reason == "timeout"
        assert (len(server.requests), wholly_sent) == (1, [])

    cases = list(itertools.product(KINDS, [b"HTTP/1.1 200 OK\r\nx: ", HEAD + b"content-length: 10000\r\n\r\n"]))
    with ThreadPoolExecutor(len(cases)) as threads:
        list(threads.map(ends, cases))


def test_a_connection_that_outlasts_the_attempt_sends_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    look_up = socket.getaddrinfo

    def look_up_slowly(*args: Any) -> Any:
        time.sleep(0.6)
        return look_up(*args)

    monkeypatch.setattr(socket, "getaddrinfo", look_up_slowly)
    with pytest.raises(OutcomeUnknownError) as raised:
        AirtimeClient(server.base_url, "live_key", timeout=0.3).buy_data(BUNDLE, reference="order-1")
    assert isinstance(raised.value.__cause__, NoAnswerError) and raised.value.__cause__.reason == "timeout"
    assert server.requests == []


class TimerByHand(threading.Timer):
    """One that is over when the test calls its function."""

    def start(self) -> None:
        pass


def test_a_connection_that_is_cut_stays_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    """SSLSocket.shutdown takes the encryption off first: what another thread then sends would be plain text."""
    timers: list[TimerByHand] = []

    def timer(seconds: float, cut: Callable[[], None]) -> TimerByHand:
        timers.append(TimerByHand(seconds, cut))
        return timers[-1]

    monkeypatch.setattr(_client, "Timer", timer)
    near, far = socket.socketpair()
    with far, ssl.create_default_context().wrap_socket(near, server_hostname="localhost", do_handshake_on_connect=False) as cut:
        with _client._time_limit(60) as trace:
            trace("connection.start_tls.complete", {"return_value": SimpleNamespace(get_extra_info=lambda name: cut)})
            timers[0].function()
            assert far.recv(1) == b""
        with pytest.raises(ssl.SSLError):
            cut.unwrap()


def test_an_answer_without_end_is_cut(server: Server, buy: Callable[..., Any]) -> None:
    sent = 0

    def pour(connection: socket.socket) -> None:
        nonlocal sent
        connection.sendall(HEAD + b"\r\n")
        while sent < 50_000_000:
            connection.sendall(b" " * 100_000)
            sent += 100_000

    server.answer = pour
    with pytest.raises(OutcomeUnknownError):
        buy()
    assert 8_000_000 <= sent < 30_000_000


def test_a_connection_that_ends_without_an_answer_is_one_attempt(server: Server, buy: Callable[..., Any]) -> None:
    server.answer = lambda connection: connection.shutdown(socket.SHUT_RDWR)
    with pytest.raises(OutcomeUnknownError):
        buy()
    assert len(server.requests) == 1


def test_the_exception_of_a_signal_ends_a_blocking_call(server: Server) -> None:
    class SoftTimeLimit(Exception):
        """As a queue's worker raises it."""

    def end(*_: Any) -> None:
        raise SoftTimeLimit

    def reach_the_limit(connection: socket.socket) -> None:
        time.sleep(0.1)  # The client waits for the answer then.
        signal.pthread_kill(caller, signal.SIGALRM)
        time.sleep(5)

    caller = threading.get_ident()
    server.answer = reach_the_limit
    before = signal.signal(signal.SIGALRM, end)
    try:
        with pytest.raises(SoftTimeLimit):
            AirtimeClient(server.base_url, "live_key", timeout=10).buy_data(BUNDLE, reference="order-1")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(server.requests) == 1


def test_a_base_url_is_taken_as_a_file_has_it(server: Server) -> None:
    refusal = b"HTTP/1.1 403 No\r\nx-error-code: permission_denied\r\ncontent-length: 0\r\n\r\n"
    server.answer = lambda connection: connection.sendall(refusal)
    with pytest.raises(ServiceError):
        AirtimeClient(f" {server.base_url}/\n", "live_key").get_wallet()
    assert server.requests[0].startswith(b"GET /v1/wallet ")


def test_a_redirect_is_not_followed(server: Server, buy: Callable[..., Any]) -> None:
    answer = f"HTTP/1.1 307 Elsewhere\r\nlocation: {server.base_url}\r\ncontent-length: 0\r\n\r\n".encode()
    server.answer = lambda connection: connection.sendall(answer)
    with pytest.raises(OutcomeUnknownError):
        buy()
    assert len(server.requests) == 1


def test_an_error_whose_body_is_cut_is_read_by_its_headers(server: Server, buy: Callable[..., Any]) -> None:
    def cut(connection: socket.socket) -> None:
        head = b"HTTP/1.1 502 Bad\r\nx-error-code: delivery_failed\r\nx-transaction-reference: DATA_1\r\n"
        connection.sendall(head + b"x-caller-reference: order-1\r\ncontent-length: 100\r\n\r\n{")
        connection.shutdown(socket.SHUT_RDWR)

    server.answer = cut
    with pytest.raises(ServiceError) as raised:
        buy()
    assert raised.value.transaction_reference == "DATA_1"


def test_no_connection_is_kept(server: Server) -> None:
    connections: list[socket.socket] = []

    def answer(connection: socket.socket) -> None:
        connections.append(connection)
        connection.sendall(b"HTTP/1.1 403 No\r\nx-error-code: permission_denied\r\ncontent-length: 2\r\n\r\n{}")

    server.answer = answer
    client = AirtimeClient(server.base_url, "live_key")
    for _ in range(3):
        with pytest.raises(ServiceError):
            client.get_wallet()
    assert len({id(connection) for connection in connections}) == 3
