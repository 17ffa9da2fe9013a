<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class NinRetrieval
{
    public function __construct(
        public readonly IdentityTransaction $transaction,
        /** Null only while the status is `processing`. */
        public readonly NinRetrieveResult|null $result,
        /** True if an earlier request with this reference made the transaction. */
        public readonly bool $replayed,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            transaction: IdentityTransaction::fromFields($fields->object('transaction')),
            result: $fields->has('result') ? NinRetrieveResult::fromFields($fields->object('result')) : null,
            replayed: $fields->boolean('replayed'),
        );
    }
}
