<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class LimitNear
{
    public function __construct(
        /** One of: `limit.near`. */
        public readonly string $event,
        public readonly LimitNearData $data,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            event: $fields->text('event'),
            data: LimitNearData::fromFields($fields->object('data')),
        );
    }
}
