import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import bought, looked_up, success

SNIPPETS = re.findall(r"```python\n(.*?)```", (Path(__file__).parent.parent / "README.md").read_text(), re.DOTALL)


@pytest.mark.parametrize(("snippet", "output"), [(0, "DATA_1 success 500\nfailed\n"), (1, "success\n")])
def test_the_first_snippets_of_the_readme_buy(
    snippet: int, output: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        kind = "airtime" if "airtime" in request.url.path else "data"
        reference = "topup-7" if kind == "airtime" else "order-1042"
        shown = {"reference": "DATA_1", "type": kind, "caller_reference": reference, "amount": 100 if kind == "airtime" else 500}
        return success(bought(**shown) if request.method == "POST" else looked_up(**{**shown, "status": "failed"}))

    with_answer: Callable[..., Any] = lambda *args, **options: httpx.MockTransport(answer)  # noqa: E731
    monkeypatch.setattr("httpx._client.HTTPTransport", with_answer)
    monkeypatch.setattr("httpx._client.AsyncHTTPTransport", with_answer)
    monkeypatch.setenv("AIRTIME_API_KEY", "live_key")
    exec(compile(SNIPPETS[snippet], "README.md", "exec"), {})
    assert capsys.readouterr().out == output
