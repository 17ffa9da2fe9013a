<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class CatalogUpdatedData
{
    public function __construct(
        /** Since when the service sells by this catalog, in UTC. */
        public readonly string $at,
        /** @var list<ChangedPlan> */
        public readonly array $plansAdded,
        /** @var list<ChangedPlan> */
        public readonly array $plansRemoved,
        /** @var list<RepricedPlan> */
        public readonly array $plansRepriced,
        /** @var list<Network> */
        public readonly array $networksAdded,
        /** @var list<Network> */
        public readonly array $networksRemoved,
        /** How many entries each list would have if it were not cut. */
        public readonly CatalogUpdatedDataCounts $counts,
        /** The lists are cut: read the catalog. */
        public readonly bool $truncated,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            at: $fields->text('at'),
            plansAdded: array_map(ChangedPlan::fromFields(...), $fields->list('plans_added')),
            plansRemoved: array_map(ChangedPlan::fromFields(...), $fields->list('plans_removed')),
            plansRepriced: array_map(RepricedPlan::fromFields(...), $fields->list('plans_repriced')),
            networksAdded: array_map(Network::fromFields(...), $fields->list('networks_added')),
            networksRemoved: array_map(Network::fromFields(...), $fields->list('networks_removed')),
            counts: CatalogUpdatedDataCounts::fromFields($fields->object('counts')),
            truncated: $fields->boolean('truncated'),
        );
    }
}
