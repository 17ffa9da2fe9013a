<?php

declare(strict_types=1);

namespace AirtimeService;

/** @internal */
class Clock
{
    /** Seconds, from any moment on. */
    public function now(): float
    {
        return hrtime(true) / 1e9;
    }

    public function sleep(float $seconds): void
    {
        usleep((int) ($seconds * 1e6));
    }
}
