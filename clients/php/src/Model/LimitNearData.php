<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class LimitNearData
{
    public function __construct(
        /** The account whose endpoint this is. */
        public readonly string $accountId,
        /** The key that has the limit; empty for a limit of the whole account. */
        public readonly string $keyId,
        /** Which limit: by amount (NGN) or number, of a day or a month. One of: `day_naira`, `month_naira`, `day_orders`, `month_orders`. */
        public readonly string $limit,
        /** The limit: NGN, or a number of orders. */
        public readonly float $max,
        /** The day (`2026-11-21`) or month (`2026-11`), in the service's time zone. */
        public readonly string $period,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            accountId: $fields->text('account_id'),
            keyId: $fields->text('key_id'),
            limit: $fields->text('limit'),
            max: $fields->number('max'),
            period: $fields->text('period'),
        );
    }
}
