<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class Wallet
{
    public function __construct(
        public readonly WalletWallet $wallet,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            wallet: WalletWallet::fromFields($fields->object('wallet')),
        );
    }
}
