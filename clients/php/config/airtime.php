<?php

declare(strict_types=1);

return [
    // Of your stage: https://<host>/v1
    'base_url' => env('AIRTIME_BASE_URL', 'http://127.0.0.1:4010/v1'),
    // live_... or test_...
    'api_key' => env('AIRTIME_API_KEY', ''),
    // whsec_..., which an operator gives you with the endpoint
    'webhook_secret' => env('AIRTIME_WEBHOOK_SECRET', ''),
    // Seconds of a call with all its attempts. In a web request less than its server allows.
    'timeout' => (float) (env('AIRTIME_TIMEOUT') ?: 90),
];
