<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class CatalogUpdatedDataCounts
{
    public function __construct(
        public readonly int $plansAdded,
        public readonly int $plansRemoved,
        public readonly int $plansRepriced,
        public readonly int $networksAdded,
        public readonly int $networksRemoved,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            plansAdded: $fields->integer('plans_added'),
            plansRemoved: $fields->integer('plans_removed'),
            plansRepriced: $fields->integer('plans_repriced'),
            networksAdded: $fields->integer('networks_added'),
            networksRemoved: $fields->integer('networks_removed'),
        );
    }
}
