<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class BvnAdvancedResult
{
    public function __construct(
        /** The bank verification number, 11 digits. */
        public readonly string $bvn,
        public readonly string $firstName,
        public readonly string $lastName,
        public readonly string $middleName,
        /** One of: `M`, `F`, ``. */
        public readonly string $gender,
        /** `YYYY-MM-DD`, or empty. */
        public readonly string $dateOfBirth,
        /** Base64, without a `data:` prefix, or empty. */
        public readonly string $photo,
        public readonly string|null $phoneNumber,
        public readonly string|null $email,
        public readonly string|null $title,
        public readonly string|null $maritalStatus,
        public readonly string|null $nationality,
        public readonly string|null $residentialAddress,
        public readonly string|null $stateOfOrigin,
        /** Local government area. */
        public readonly string|null $lgaOfOrigin,
        /** The bank where the BVN was registered. */
        public readonly string|null $enrollmentBank,
        /** `YYYY-MM-DD`. */
        public readonly string|null $registrationDate,
        public readonly bool|null $watchListed,
        /** @var array<mixed> What the service answered besides. */
        public readonly array $additional,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            bvn: $fields->text('bvn'),
            firstName: $fields->text('first_name'),
            lastName: $fields->text('last_name'),
            middleName: $fields->text('middle_name'),
            gender: $fields->text('gender'),
            dateOfBirth: $fields->text('date_of_birth'),
            photo: $fields->text('photo'),
            phoneNumber: $fields->has('phone_number') ? $fields->text('phone_number') : null,
            email: $fields->has('email') ? $fields->text('email') : null,
            title: $fields->has('title') ? $fields->text('title') : null,
            maritalStatus: $fields->has('marital_status') ? $fields->text('marital_status') : null,
            nationality: $fields->has('nationality') ? $fields->text('nationality') : null,
            residentialAddress: $fields->has('residential_address') ? $fields->text('residential_address') : null,
            stateOfOrigin: $fields->has('state_of_origin') ? $fields->text('state_of_origin') : null,
            lgaOfOrigin: $fields->has('lga_of_origin') ? $fields->text('lga_of_origin') : null,
            enrollmentBank: $fields->has('enrollment_bank') ? $fields->text('enrollment_bank') : null,
            registrationDate: $fields->has('registration_date') ? $fields->text('registration_date') : null,
            watchListed: $fields->has('watch_listed') ? $fields->boolean('watch_listed') : null,
            additional: $fields->without(['bvn', 'first_name', 'last_name', 'middle_name', 'gender', 'date_of_birth', 'photo', 'phone_number', 'email', 'title', 'marital_status', 'nationality', 'residential_address', 'state_of_origin', 'lga_of_origin', 'enrollment_bank', 'registration_date', 'watch_listed']),
        );
    }
}
