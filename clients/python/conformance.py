"""The adapter of docs/conformance.md: `npm run conformance -- --client "python clients/python/conformance.py"`."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "src"))

from airtime_service import AirtimeClient, OutcomeUnknownError, ServiceError
from airtime_service.models import AirtimePurchaseRequest, DataPurchaseRequest

client = AirtimeClient(
    os.environ["AIRTIME_BASE_URL"],
    os.environ["AIRTIME_API_KEY"],
    timeout=int(os.environ["AIRTIME_TIMEOUT_MS"]) / 1_000,
    attempt_timeout=int(os.environ["AIRTIME_ATTEMPT_TIMEOUT_MS"]) / 1_000,
)
lock = Lock()


def buy(command: dict[str, Any]) -> dict[str, str]:
    fields = {name: value for name, value in command.items() if name not in ("id", "do", "kind", "reference")}
    reference = command["reference"]
    try:
        if command["kind"] == "airtime":
            bought = client.buy_airtime(AirtimePurchaseRequest(**fields), reference=reference).transaction
        else:
            bought = client.buy_data(DataPurchaseRequest(**fields), reference=reference).transaction
        return {"result": bought.status, "reference": bought.reference}
    except OutcomeUnknownError as error:
        return {"result": "unknown", "error": str(error)}
    except ServiceError as error:
        return {"result": "failed", "error": error.code}


def answer(line: str) -> None:
    command = json.loads(line)
    result = json.dumps({"id": command["id"], **buy(command)})
    with lock:
        print(result, flush=True)


with ThreadPoolExecutor(40) as pool:
    for line in sys.stdin:
        pool.submit(answer, line)
