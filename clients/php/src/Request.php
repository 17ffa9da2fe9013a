<?php

declare(strict_types=1);

namespace AirtimeService;

/**
 * @internal
 * @template T of object
 */
final class Request
{
    /**
     * @param \Closure(Fields): T $read throws an \UnexpectedValueException if the answer is none of the service
     * @param array<string, string> $asked what a transaction of the answer must have
     * @param array<string, string> $headers
     * @param ?string $order the order's reference; null for what places none
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly \Closure $read,
        public readonly array $asked,
        public readonly string $body = '',
        public readonly array $headers = [],
        public readonly ?string $order = null,
    ) {
    }
}
