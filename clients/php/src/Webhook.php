<?php

declare(strict_types=1);

namespace AirtimeService;

use AirtimeService\Model\{CatalogUpdated, LimitNear, TransactionUpdated, WalletLow, WebhookEvents, WebhookTest};

/** A verified webhook. */
final class Webhook
{
    /** How far a timestamp may be from now, as Standard Webhooks recommends. */
    private const TOLERANCE_S = 300;

    /**
     * @param string $id the same for every copy of an event: remember it to process each event once
     * @param string $name such as `transaction.updated`
     * @param TransactionUpdated|WalletLow|LimitNear|CatalogUpdated|WebhookTest|null $event null if this release does not know
     *     it: answer 2xx
     */
    private function __construct(
        public readonly string $id,
        public readonly \DateTimeImmutable $sentAt,
        public readonly string $name,
        public readonly TransactionUpdated|WalletLow|LimitNear|CatalogUpdated|WebhookTest|null $event,
    ) {
    }

    /**
     * Throws a WebhookVerificationException if the service did not send it, or sent it more than 5 minutes ago. While a secret
     * is rotated, the old one and the new one both verify.
     *
     * @param array<array<int, string|null>|string|null> $headers
     * @param string $body as it was received, and not parsed JSON
     * @param string $secret `whsec_...`
     */
    public static function verify(array $headers, #[\SensitiveParameter] string $body, #[\SensitiveParameter] string $secret, ?int $now = null): self
    {
        $key = base64_decode(preg_replace('/^whsec_/', '', trim($secret)) ?? '', true);
        if ($key === false || $key === '') {
            throw new \InvalidArgumentException("secret must be the endpoint's whsec_... secret");
        }
        $named = array_change_key_case($headers);
        $values = array_map(static fn (string $name): string => (string) current((array) ($named["webhook-$name"] ?? '')), ['id', 'timestamp', 'signature']);
        [$id, $timestamp, $signatures] = $values;
        if (in_array('', $values, true)) {
            throw new WebhookVerificationException('A header of the webhook is missing');
        }
        if (preg_match('/^[0-9]{1,12}$/D', $timestamp) !== 1 || abs(($now ?? time()) - (int) $timestamp) > self::TOLERANCE_S) {
            throw new WebhookVerificationException('The timestamp is not within 5 minutes of now');
        }
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        $matches = array_filter(explode(' ', $signatures), static fn (string $signature): bool => hash_equals($expected, $signature));
        if ($matches === []) {
            throw new WebhookVerificationException('No signature matches');
        }
        try {
            $fields = Fields::parse($body);
            $fields->object('data');
            $event = WebhookEvents::read($fields->text('event'), $fields);
            // An app that compares a status of a later release with `success` would take it for `failed`.
            if ($event instanceof TransactionUpdated && !in_array($event->data->status, ['success', 'failed'], true)) {
                $event = null;
            }
        } catch (\UnexpectedValueException) {
            throw new WebhookVerificationException('The body is not an event');
        }
        return new self($id, new \DateTimeImmutable("@$timestamp"), $fields->text('event'), $event);
    }
}
