<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class TransactionUpdated
{
    public function __construct(
        /** One of: `transaction.updated`. */
        public readonly string $event,
        public readonly TransactionUpdatedData $data,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            event: $fields->text('event'),
            data: TransactionUpdatedData::fromFields($fields->object('data')),
        );
    }
}
