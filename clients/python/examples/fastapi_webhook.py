"""For FastAPI: `app.include_router(airtime_webhooks(secret, settle))`."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, HTTPException, Request

from airtime_service import WebhookVerificationError, verify_webhook
from airtime_service.models import TransactionUpdated


def airtime_webhooks(secret: str, settle: Callable[[str, str], Awaitable[None]]) -> APIRouter:
    """`settle` gets the service's reference and `success` or `failed`, perhaps more than once. What it raises becomes a
    500, which makes the service send the event again."""
    router = APIRouter()

    @router.post("/hooks/airtime", status_code=204)
    async def receive(request: Request) -> None:
        try:
            webhook = verify_webhook(request.headers, await request.body(), secret)
        except WebhookVerificationError:
            raise HTTPException(400) from None
        if isinstance(webhook.event, TransactionUpdated):
            await settle(webhook.event.data.reference, webhook.event.data.status)

    return router
