<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class WalletWallet
{
    public function __construct(
        /** One of: `NGN`. */
        public readonly string $currency,
        /** NGN, at most 2 decimals. */
        public readonly float $balance,
        /** NGN. Balances below this value count as low. Set for the account; null if it is not set. */
        public readonly float|null $lowBalanceThreshold,
        /** Time of the last change, in UTC. */
        public readonly string $updatedAt,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            currency: $fields->text('currency'),
            balance: $fields->number('balance'),
            lowBalanceThreshold: $fields->has('low_balance_threshold') ? $fields->number('low_balance_threshold') : null,
            updatedAt: $fields->text('updated_at'),
        );
    }
}
