"""Serves MiniStack with uvicorn, changed in two places."""

import json
import os
import threading
import time

import uvicorn
from ministack.core import lambda_runtime

kill_now = lambda_runtime.kill_workers
spawn = lambda_runtime.Worker._spawn
replaced_variables = json.loads(os.environ["REPLACED_VARIABLES"])


def kill_when_idle(worker):
    end = time.monotonic() + worker.config["Timeout"]
    while worker.in_use and time.monotonic() < end:
        time.sleep(0.02)
    kill_now([worker])


def kill_workers(workers):
    """Lets invocations end whose function is updated, as AWS does. They have left the pool, and get no others."""
    busy = [worker for worker in workers if worker.in_use]
    kill_now([worker for worker in workers if not worker.in_use])
    for worker in busy:
        threading.Thread(target=kill_when_idle, args=(worker,), daemon=True).start()


def spawn_with_replaced_variables(worker):
    """Starts a function with other values of its variables than the deployed ones."""
    variables = worker.config.get("Environment", {}).get("Variables", {})
    replaced = {name: replaced_variables.get(name, value) for name, value in variables.items()}
    worker.config = {**worker.config, "Environment": {"Variables": replaced}}
    spawn(worker)


lambda_runtime.kill_workers = kill_workers
lambda_runtime.Worker._spawn = spawn_with_replaced_variables
uvicorn.main()
