<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class IdentityTransaction
{
    public function __construct(
        /** The operation, for example `NIN Verification`. */
        public readonly string $title,
        /** NGN, at most 2 decimals. */
        public readonly float $amount,
        /** The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
        public readonly string $reference,
        /** One of: `processing`, `success`, `failed`. */
        public readonly string $status,
        /** One of: `data`, `airtime`, `nin_verification`, `bvn_verification`, `nin_retrieval`, `bvn_retrieval`. */
        public readonly string $type,
        /** The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours. */
        public readonly string|null $callerReference,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            title: $fields->text('title'),
            amount: $fields->number('amount'),
            reference: $fields->text('reference'),
            status: $fields->text('status'),
            type: $fields->text('type'),
            callerReference: $fields->has('caller_reference') ? $fields->text('caller_reference') : null,
        );
    }
}
