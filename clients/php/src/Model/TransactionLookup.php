<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class TransactionLookup
{
    public function __construct(
        public readonly Transaction $transaction,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            transaction: Transaction::fromFields($fields->object('transaction')),
        );
    }
}
