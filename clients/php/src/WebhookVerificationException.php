<?php

declare(strict_types=1);

namespace AirtimeService;

/** The request is not a webhook of the service: answer 400 and do nothing. */
final class WebhookVerificationException extends AirtimeException
{
}
