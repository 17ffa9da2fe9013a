<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class TransactionPage
{
    public function __construct(
        /** @var list<Transaction> Newest first. */
        public readonly array $transactions,
        /** The `cursor` of the next page; null on the last page. */
        public readonly string|null $nextCursor,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            transactions: array_map(Transaction::fromFields(...), $fields->list('transactions')),
            nextCursor: $fields->has('next_cursor') ? $fields->text('next_cursor') : null,
        );
    }
}
