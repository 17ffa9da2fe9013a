<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class WebhookTest
{
    public function __construct(
        /** One of: `webhook.test`. */
        public readonly string $event,
        public readonly WebhookTestData $data,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            event: $fields->text('event'),
            data: WebhookTestData::fromFields($fields->object('data')),
        );
    }
}
