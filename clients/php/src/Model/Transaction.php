<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class Transaction
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
        /** The recipient's number; null for identity checks. After the retention of the deployment (400 days by default) all but the last two digits are `*`. */
        public readonly string|null $phoneNumber,
        /** The network's display name; null for identity checks. */
        public readonly string|null $network,
        /** Why the transaction failed: a code of `X-Error-Code`; null unless the status is `failed`. One of: `invalid_json`, `missing_parameter`, `consent_required`, `insufficient_balance`, `missing_api_key`, `invalid_api_key`, `account_restricted`, `permission_denied`, `ip_not_whitelisted`, `not_found`, `record_not_found`, `validation_failed`, `reference_reused`, `plan_unavailable`, `price_changed`, `possible_duplicate`, `limit_reached`, `order_cancelled`, `rate_limited`, `internal_error`, `delivery_failed`, `provider_unavailable`, `provider_timeout`. */
        public readonly string|null $errorCode,
        /** Time of creation, in UTC. */
        public readonly string $createdAt,
        /** Time of the last change, in UTC. */
        public readonly string $updatedAt,
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
            network: $fields->has('network') ? $fields->text('network') : null,
            errorCode: $fields->has('error_code') ? $fields->text('error_code') : null,
            createdAt: $fields->text('created_at'),
            updatedAt: $fields->text('updated_at'),
        );
    }
}
