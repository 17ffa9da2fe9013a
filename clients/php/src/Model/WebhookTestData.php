<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class WebhookTestData
{
    public function __construct(
        /** The account whose endpoint this is. */
        public readonly string $accountId,
        /** Time of creation, in UTC. */
        public readonly string $createdAt,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            accountId: $fields->text('account_id'),
            createdAt: $fields->text('created_at'),
        );
    }
}
