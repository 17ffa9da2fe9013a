<?php

declare(strict_types=1);

namespace AirtimeService\Laravel;

/**
 * A try of PlaceOrder ended without a decision, and another follows. After many tries, or with a code such as
 * `invalid_api_key`, a person has to look: the order stays open until its cause is gone.
 */
final class OrderUndecided
{
    /** @param ?string $errorCode of the last refusal; null if there was no answer */
    public function __construct(
        public readonly string $reference,
        public readonly int $attempts,
        public readonly ?string $errorCode,
    ) {
    }
}
