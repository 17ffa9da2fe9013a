<?php

declare(strict_types=1);

namespace AirtimeService;

/**
 * The service refused the request. An order that throws it has failed for good: it was refunded, or cancelled before it was
 * placed. Only a check with the code `reference_reused` was charged: its result is no longer kept. Every other refusal of an
 * order is the previous exception of an OutcomeUnknownException.
 */
final class ServiceException extends AirtimeException
{
    /**
     * @param string $errorCode `X-Error-Code`; a later release of the service can add codes
     * @param array<mixed> $fields messages by request field, if single fields are wrong
     * @param ?string $transactionReference of the transaction, if one was made; the order's reference is then used up
     * @param ?string $duplicateOf the order that this one is like, if it was refused as a possible duplicate
     * @param bool $replayed true if an earlier request with this reference made the transaction
     */
    public function __construct(
        string $message,
        public readonly string $errorCode,
        public readonly array $fields,
        public ?string $transactionReference,
        public readonly ?string $duplicateOf,
        public readonly bool $replayed,
        public readonly int $status,
        public readonly ?int $retryAfterS,
        ?string $reference,
        ?string $requestId,
    ) {
        parent::__construct($message, $reference, $requestId);
    }
}
