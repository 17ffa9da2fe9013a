<?php

declare(strict_types=1);

namespace AirtimeService\Laravel;

/** An order of PlaceOrder has ended. It can be fired more than once for an order, always with the same status. */
final class OrderDecided
{
    /**
     * @param string $status `success` or `failed`: it was refunded, or never placed
     * @param ?string $transactionReference the service's
     */
    public function __construct(
        public readonly string $reference,
        public readonly string $status,
        public readonly ?string $transactionReference,
        public readonly ?string $errorCode = null,
    ) {
    }
}
