<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

final class RetrieveRequest
{
    public function __construct(
        public readonly string $phoneNumber,
        /** The person has consented. Only JSON `true` is accepted. */
        public readonly bool $isConsent,
        /** Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits. */
        public readonly string|null $purpose = null,
        public readonly ConsentEvidence|null $consentEvidence = null,
    ) {
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return array_filter([
            'phone_number' => $this->phoneNumber,
            'is_consent' => $this->isConsent,
            'purpose' => $this->purpose,
            'consent_evidence' => $this->consentEvidence?->toArray(),
        ], static fn (mixed $value): bool => $value !== null);
    }
}
