<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

final class AirtimePurchaseRequest
{
    public function __construct(
        /** The `code` of a network in the catalog, not case-sensitive. `etisalat` and `t2` mean `9mobile`, `globacom` means `glo`. */
        public readonly string $network,
        public readonly string $phoneNumber,
        /** NGN, at most 2 decimals; floating-point noise of up to a millionth of a kobo is rounded away. The largest amount is a setting of the deployment. */
        public readonly float $amount,
    ) {
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return array_filter([
            'network' => $this->network,
            'phone_number' => $this->phoneNumber,
            'amount' => $this->amount,
        ], static fn (mixed $value): bool => $value !== null);
    }
}
