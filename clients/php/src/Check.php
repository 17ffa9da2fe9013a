<?php

declare(strict_types=1);

namespace AirtimeService;

use AirtimeService\Model\{BvnAdvancedResult, BvnBasicResult, BvnRetrieveResult, IdentityTransaction, NinAdvancedResult, NinBasicResult, NinRetrieveResult};

/** An identity check. `result` is null only while the status is `processing`. */
final class Check
{
    /** @param bool $replayed true if an earlier request with this reference made the transaction */
    public function __construct(
        public readonly IdentityTransaction $transaction,
        public readonly bool $replayed,
        public readonly NinAdvancedResult|NinBasicResult|NinRetrieveResult|BvnAdvancedResult|BvnBasicResult|BvnRetrieveResult|null $result,
    ) {
    }
}
