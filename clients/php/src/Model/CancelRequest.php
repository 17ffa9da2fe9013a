<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

final class CancelRequest
{
    public function __construct(
        public readonly string $reference,
        /** One of: `data`, `airtime`, `nin_verification`, `bvn_verification`, `nin_retrieval`, `bvn_retrieval`. */
        public readonly string $type,
    ) {
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return array_filter([
            'reference' => $this->reference,
            'type' => $this->type,
        ], static fn (mixed $value): bool => $value !== null);
    }
}
