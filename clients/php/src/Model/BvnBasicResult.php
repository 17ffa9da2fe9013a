<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class BvnBasicResult
{
    public function __construct(
        public readonly string $firstName,
        public readonly string $lastName,
        public readonly string $middleName,
        /** One of: `M`, `F`, ``. */
        public readonly string $gender,
        /** `YYYY-MM-DD`, or empty. */
        public readonly string $dateOfBirth,
        public readonly string|null $phoneNumber,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            firstName: $fields->text('first_name'),
            lastName: $fields->text('last_name'),
            middleName: $fields->text('middle_name'),
            gender: $fields->text('gender'),
            dateOfBirth: $fields->text('date_of_birth'),
            phoneNumber: $fields->has('phone_number') ? $fields->text('phone_number') : null,
        );
    }
}
