<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class TransactionUpdatedData
{
    public function __construct(
        /** The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
        public readonly string $reference,
        /** One of: `success`, `failed`. */
        public readonly string $status,
        /** NGN, at most 2 decimals. */
        public readonly float $amount,
        /** One of: `data`, `airtime`, `nin_verification`, `bvn_verification`, `nin_retrieval`, `bvn_retrieval`. */
        public readonly string $type,
        /** The network's display name; empty for identity checks. */
        public readonly string $network,
        /** The recipient's number; empty for identity checks. After the retention of the deployment (400 days by default) all but the last two digits are `*`. */
        public readonly string $phoneNumber,
        /** Time of creation, in UTC. */
        public readonly string $createdAt,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            reference: $fields->text('reference'),
            status: $fields->text('status'),
            amount: $fields->number('amount'),
            type: $fields->text('type'),
            network: $fields->text('network'),
            phoneNumber: $fields->text('phone_number'),
            createdAt: $fields->text('created_at'),
        );
    }
}
