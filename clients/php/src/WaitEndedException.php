<?php

declare(strict_types=1);

namespace AirtimeService;

use AirtimeService\Model\Transaction;

/**
 * `wait` ended without a final status: at its deadline, or because a lookup was refused. It says nothing about how the order
 * ends: wait again, or for the webhook.
 */
final class WaitEndedException extends AirtimeException
{
    /** @param ?Transaction $transaction as it was last seen; null if none was found */
    public function __construct(string $message, string $reference, public readonly ?Transaction $transaction, ?AirtimeException $previous)
    {
        parent::__construct($message, $reference, $previous?->requestId, $previous);
    }
}
