<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class PurchasedTransaction
{
    public function __construct(
        /** The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
        public readonly string $reference,
        /** One of: `processing`, `success`, `failed`. */
        public readonly string $status,
        /** NGN, at most 2 decimals. */
        public readonly float $amount,
        /** The product and the recipient. */
        public readonly string $description,
        /** One of: `data`, `airtime`, `nin_verification`, `bvn_verification`, `nin_retrieval`, `bvn_retrieval`. */
        public readonly string $type,
        /** The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours. */
        public readonly string|null $callerReference,
        /** The recipient's number. After the retention of the deployment (400 days by default) all but the last two digits are `*`. */
        public readonly string|null $phoneNumber,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            reference: $fields->text('reference'),
            status: $fields->text('status'),
            amount: $fields->number('amount'),
            description: $fields->text('description'),
            type: $fields->text('type'),
            callerReference: $fields->has('caller_reference') ? $fields->text('caller_reference') : null,
            phoneNumber: $fields->has('phone_number') ? $fields->text('phone_number') : null,
        );
    }
}
