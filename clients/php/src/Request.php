<?php

declare(strict_types=1);

namespace AirtimeService;

use Psr\Http\Message\ResponseInterface;

/**
 * @internal
 * @template T of object
 */
final class Request
{
    /**
     * @param \Closure(Fields, ResponseInterface): ?T $read null, or an \UnexpectedValueException, if the answer is not one to this request
     * @param array<string, string> $headers
     * @param ?string $reference of the order; null for a read
     * @param ?\Closure(T): bool $isPreliminary true if the same request gets a better answer later
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly \Closure $read,
        public readonly string $body = '',
        public readonly array $headers = [],
        public readonly ?string $reference = null,
        public readonly ?\Closure $isPreliminary = null,
    ) {
    }
}
