<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class WalletLow
{
    public function __construct(
        /** One of: `wallet.low`. */
        public readonly string $event,
        public readonly WalletLowData $data,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            event: $fields->text('event'),
            data: WalletLowData::fromFields($fields->object('data')),
        );
    }
}
