<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class Catalog
{
    public function __construct(
        /** @var list<Network> */
        public readonly array $networks,
        /** @var list<DataPlan> */
        public readonly array $dataPlans,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            networks: array_map(Network::fromFields(...), $fields->list('networks')),
            dataPlans: array_map(DataPlan::fromFields(...), $fields->list('data_plans')),
        );
    }
}
