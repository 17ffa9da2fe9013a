<?php

declare(strict_types=1);

namespace AirtimeService\Laravel;

use AirtimeService\Webhook;
use AirtimeService\WebhookVerificationException;
use Closure;
use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\Response;

/** Answers 400 to what the service did not send. The route gets the Webhook as `$request->attributes->get('webhook')`. */
final class VerifyWebhook
{
    public function __construct(private readonly string $secret)
    {
    }

    /** @param Closure(Request): Response $next */
    public function handle(Request $request, Closure $next): Response
    {
        try {
            $webhook = Webhook::verify($request->headers->all(), (string) $request->getContent(), $this->secret);
        } catch (WebhookVerificationException) {
            return new Response('', 400);
        }
        $request->attributes->set('webhook', $webhook);
        return $next($request);
    }
}
