<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

final class NinVerifyRequest
{
    public function __construct(
        /** The national identification number, 11 digits; or a virtual NIN of 16 letters and digits, if the service's upstream takes it. */
        public readonly string $nin,
        /** The person has consented. Only JSON `true` is accepted. */
        public readonly bool $isConsent,
        /** `basic`: name, gender and date of birth. `advanced`: the whole profile, with a photo. Not case-sensitive. One of: `basic`, `advanced`. */
        public readonly string|null $mode = null,
        /** Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits. */
        public readonly string|null $purpose = null,
        public readonly ConsentEvidence|null $consentEvidence = null,
    ) {
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return array_filter([
            'nin' => $this->nin,
            'mode' => $this->mode,
            'is_consent' => $this->isConsent,
            'purpose' => $this->purpose,
            'consent_evidence' => $this->consentEvidence?->toArray(),
        ], static fn (mixed $value): bool => $value !== null);
    }
}
