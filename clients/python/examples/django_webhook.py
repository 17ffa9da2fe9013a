"""For Django: `path("hooks/airtime", airtime_webhook(secret, settle))`."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from airtime_service import WebhookVerificationError, verify_webhook
from airtime_service.models import TransactionUpdated


def airtime_webhook(secret: str, settle: Callable[[str, str], None]) -> Callable[[HttpRequest], HttpResponse]:
    """`settle` gets the service's reference and `success` or `failed`, perhaps more than once. What it raises becomes a
    500, which makes the service send the event again."""

    @csrf_exempt
    @require_POST
    def view(request: HttpRequest) -> HttpResponse:
        try:
            webhook = verify_webhook(request.headers, request.body, secret)
        except WebhookVerificationError:
            return HttpResponse(status=400)
        if isinstance(webhook.event, TransactionUpdated):
            settle(webhook.event.data.reference, webhook.event.data.status)
        return HttpResponse(status=204)

    return view
