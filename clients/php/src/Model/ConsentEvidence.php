<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

final class ConsentEvidence
{
    public function __construct(
        /** How the person consented. One of: `otp`, `igree`, `ninauth`, `form`, `app`. */
        public readonly string $method,
        /** The id of the one-time password, authorisation or form. A UUID of a version of RFC 9562, or a text without a number of 10 or more digits. */
        public readonly string $id,
        /** When the person consented; not in the future. */
        public readonly string $obtainedAt,
        /** The version of the text that the person consented to. */
        public readonly string|null $textVersion = null,
    ) {
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return array_filter([
            'method' => $this->method,
            'id' => $this->id,
            'obtained_at' => $this->obtainedAt,
            'text_version' => $this->textVersion,
        ], static fn (mixed $value): bool => $value !== null);
    }
}
