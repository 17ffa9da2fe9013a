<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class CatalogUpdated
{
    public function __construct(
        /** One of: `catalog.updated`. */
        public readonly string $event,
        public readonly CatalogUpdatedData $data,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            event: $fields->text('event'),
            data: CatalogUpdatedData::fromFields($fields->object('data')),
        );
    }
}
