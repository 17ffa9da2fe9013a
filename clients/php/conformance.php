<?php

// The adapter of docs/conformance.md: `npm run conformance -- --processes 40 --client "php clients/php/conformance.php"`.

declare(strict_types=1);

require __DIR__ . '/tests/bootstrap.php';

use AirtimeService\Client;
use AirtimeService\Fields;
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
    $command = Fields::parse($line);
    [$phone, $reference] = [$command->text('phone_number'), $command->text('reference')];
    try {
        $bought = $command->text('kind') === 'airtime'
            ? $client->buyAirtime(new AirtimePurchaseRequest($command->text('network'), $phone, $command->number('amount')), $reference)->transaction
            : $client->buyData(new DataPurchaseRequest($command->integer('network_id'), $command->integer('plan_id'), $phone), $reference)->transaction;
        $answer = ['result' => $bought->status, 'reference' => $bought->reference];
    } catch (OutcomeUnknownException $error) {
        $answer = ['result' => 'unknown', 'error' => $error->getMessage()];
    } catch (ServiceException $error) {
        $answer = ['result' => 'failed', 'error' => $error->errorCode];
    }
    fwrite(STDOUT, json_encode(['id' => $command->text('id'), ...$answer], JSON_THROW_ON_ERROR) . "\n");
}
