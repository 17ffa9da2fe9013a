<?php

declare(strict_types=1);

namespace AirtimeService;

use AirtimeService\Model\PurchasedTransaction;

/** A purchase as the service knows it. `processing`: wait for it, and never order again. */
final class Order
{
    /**
     * @param bool $replayed true if an earlier request with this reference made the transaction
     * @param ?int $estimatedDeliveryS while the order waits: the estimated seconds until its delivery
     */
    public function __construct(
        public readonly PurchasedTransaction $transaction,
        public readonly bool $replayed,
        public readonly ?int $estimatedDeliveryS,
    ) {
    }
}
