<?php

// The adapter of docs/conformance.md: `npm run conformance -- --processes 40 --client "php clients/php/conformance.php"`.

declare(strict_types=1);

require __DIR__ . '/tests/bootstrap.php';

use AirtimeService\Client;
use AirtimeService\Model\AirtimePurchaseRequest;
use AirtimeService\Model\DataPurchaseRequest;
use AirtimeService\OutcomeUnknownException;
use AirtimeService\ServiceException;

$client = new Client(
    (string) getenv('AIRTIME_BASE_URL'),
    (string) getenv('AIRTIME_API_KEY'),
    (float) getenv('AIRTIME_TIMEOUT_MS') / 1_000,
    (float) getenv('AIRTIME_ATTEMPT_TIMEOUT_MS') / 1_000,
);

while (!feof(STDIN)) {
    $line = fgets(STDIN);
    if ($line === false) {
        continue;
    }
    $command = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    $order = $command['kind'] === 'airtime'
        ? new AirtimePurchaseRequest($command['network'], $command['phone_number'], $command['amount'])
        : new DataPurchaseRequest($command['network_id'], $command['plan_id'], $command['phone_number']);
    try {
        $bought = $client->buy($order, $command['reference'])->transaction;
        $answer = ['result' => $bought->status, 'reference' => $bought->reference];
    } catch (OutcomeUnknownException $error) {
        $answer = ['result' => 'unknown', 'error' => $error->getMessage()];
    } catch (ServiceException $error) {
        $answer = ['result' => 'failed', 'error' => $error->errorCode];
    }
    fwrite(STDOUT, json_encode(['id' => $command['id'], ...$answer], JSON_THROW_ON_ERROR) . "\n");
}
