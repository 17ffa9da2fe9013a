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
        // A signal ends usleep early.
        for ($end = $this->now() + $seconds; ($left = $end - $this->now()) > 0;) {
            usleep((int) ceil($left * 1e6));
        }
    }
}
