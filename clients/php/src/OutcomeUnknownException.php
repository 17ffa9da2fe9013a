<?php

declare(strict_types=1);

namespace AirtimeService;

/**
 * The order is not decided: it was placed, or still may be. Never order again with another reference: send the same order
 * with this reference again, or cancel it. The previous exception says how the last attempt ended.
 */
final class OutcomeUnknownException extends AirtimeException
{
}
