<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\Model;

use AirtimeService\Fields;

final class Network
{
    public function __construct(
        /** `network_id` of a data purchase. */
        public readonly int $id,
        public readonly string $name,
        /** Lower-case network code: `network` of an airtime purchase. */
        public readonly string $code,
    ) {
    }

    public static function fromFields(Fields $fields): self
    {
        return new self(
            id: $fields->integer('id'),
            name: $fields->text('name'),
            code: $fields->text('code'),
        );
    }
}
