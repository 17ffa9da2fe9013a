<?php

declare(strict_types=1);

namespace AirtimeService;

/** Every exception of this package, except for an \InvalidArgumentException if a call cannot work (nothing was sent). */
abstract class AirtimeException extends \RuntimeException
{
    /**
     * @param ?string $reference the order's reference; null for a read
     * @param ?string $requestId `X-Request-Id` of the last answer, for the service's support
     */
    public function __construct(
        string $message,
        public readonly ?string $reference = null,
        public readonly ?string $requestId = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}
