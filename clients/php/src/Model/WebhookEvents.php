<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

/** The events that this release knows. */
final class WebhookEvents
{
    public static function read(string $name, Fields $fields): TransactionUpdated|WalletLow|LimitNear|CatalogUpdated|WebhookTest|null
    {
        return match ($name) {
            'transaction.updated' => TransactionUpdated::fromFields($fields),
            'wallet.low' => WalletLow::fromFields($fields),
            'limit.near' => LimitNear::fromFields($fields),
            'catalog.updated' => CatalogUpdated::fromFields($fields),
            'webhook.test' => WebhookTest::fromFields($fields),
            default => null,
        };
    }
}
