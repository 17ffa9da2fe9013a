<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

final class DataPurchaseRequest
{
    public function __construct(
        /** The `id` of a network in the catalog. */
        public readonly int $networkId,
        /** The `id` of a plan in the catalog. The plan must belong to the network. */
        public readonly int $planId,
        public readonly string $phoneNumber,
        /** The price that the caller knows, in NGN. If the plan has another one, the order is refused with `price_changed` and nothing is charged. */
        public readonly float|null $expectedPrice = null,
    ) {
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return array_filter([
            'network_id' => $this->networkId,
            'plan_id' => $this->planId,
            'phone_number' => $this->phoneNumber,
            'expected_price' => $this->expectedPrice,
        ], static fn (mixed $value): bool => $value !== null);
    }
}
