<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class WalletLowData
{
    public function __construct(
        /** The account whose endpoint this is. */
        public readonly string $accountId,
        /** NGN, at most 2 decimals. */
        public readonly float $balance,
        /** NGN. The balance is below it. */
        public readonly float $threshold,
        /** When it was noticed, in UTC. */
        public readonly string $at,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            accountId: $fields->text('account_id'),
            balance: $fields->number('balance'),
            threshold: $fields->number('threshold'),
            at: $fields->text('at'),
        );
    }
}
