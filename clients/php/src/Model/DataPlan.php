<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class DataPlan
{
    public function __construct(
        /** `plan_id` of a data purchase. */
        public readonly int $id,
        /** The `id` of a network in the catalog. */
        public readonly int $networkId,
        public readonly string $name,
        /** What a purchase debits from the wallet: NGN, at most 2 decimals. */
        public readonly float $price,
        /** How long the bundle lasts, as text for people. */
        public readonly string $validity,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            id: $fields->integer('id'),
            networkId: $fields->integer('network_id'),
            name: $fields->text('name'),
            price: $fields->number('price'),
            validity: $fields->text('validity'),
        );
    }
}
