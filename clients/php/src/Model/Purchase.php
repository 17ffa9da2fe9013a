<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class Purchase
{
    public function __construct(
        public readonly PurchasedTransaction $transaction,
        /** True if an earlier request with this reference made the transaction. */
        public readonly bool $replayed,
        /** While the order waits: the estimated seconds until its delivery. */
        public readonly int|null $estimatedDeliveryS,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            transaction: PurchasedTransaction::fromFields($fields->object('transaction')),
            replayed: $fields->boolean('replayed'),
            estimatedDeliveryS: $fields->has('estimated_delivery_s') ? $fields->integer('estimated_delivery_s') : null,
        );
    }
}
