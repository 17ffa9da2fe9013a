<?php

declare(strict_types=1);

namespace AirtimeService;

/** A read got no readable answer. (For an order it is the previous exception of an OutcomeUnknownException.) */
final class NoAnswerException extends AirtimeException
{
    /**
     * @param string $reason `network`, `unreadable` or `mismatch`
     * @param int $status of an answer that is not the service's; else 0
     */
    public function __construct(
        string $message,
        public readonly string $reason,
        public readonly int $status = 0,
        public readonly ?int $retryAfterS = null,
        ?string $reference = null,
        ?string $requestId = null,
    ) {
        parent::__construct($message, $reference, $requestId);
    }
}
