<?php

declare(strict_types=1);

namespace AirtimeService\Laravel;

use AirtimeService\Client;
use AirtimeService\Model\AirtimePurchaseRequest;
use AirtimeService\Model\DataPurchaseRequest;
use AirtimeService\OutcomeUnknownException;
use AirtimeService\ServiceException;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Events\Dispatcher;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Queue\InteractsWithQueue;

/**
 * Places an order, again and again until it is decided, and then fires an OrderDecided. Save the order with its reference
 * before you dispatch the job. Two workers that run it at once order once.
 */
final class PlaceOrder implements ShouldQueue
{
    use InteractsWithQueue;
    use Queueable;

    /** Without limit: an order that is given up by the queue stays undecided. */
    public int $tries = 0;

    /** @var list<int> seconds before the next tries; all later ones are as the last */
    public array $backoff = [15, 30, 60, 120, 300];

    /** Longer than a call takes; `retry_after` of the queue's connection must be longer still. */
    public int $timeout = 120;

    public function __construct(
        public readonly DataPurchaseRequest|AirtimePurchaseRequest $order,
        public readonly string $reference,
    ) {
    }

    public function handle(Client $client, Dispatcher $events): void
    {
        try {
            $bought = $this->order instanceof DataPurchaseRequest
                ? $client->buyData($this->order, $this->reference)->transaction
                : $client->buyAirtime($this->order, $this->reference)->transaction;
            $decided = new OrderDecided($this->reference, $bought->status, $bought->reference);
        } catch (OutcomeUnknownException $unknown) {
            $cause = $unknown->getPrevious();
            $this->again();
            $events->dispatch(new OrderUndecided($this->reference, $this->attempts(), $cause instanceof ServiceException ? $cause->errorCode : null));
            return;
        } catch (\InvalidArgumentException | \TypeError $unusable) {
            // Nothing was sent, and each try would end so.
            $this->fail($unusable);
            return;
        } catch (ServiceException $error) {
            $decided = new OrderDecided($this->reference, 'failed', $error->transactionReference, $error->errorCode);
        }
        // The same order is a replay, which has the present status.
        $decided->status === 'processing' ? $this->again() : $events->dispatch($decided);
    }

    private function again(): void
    {
        $this->release($this->backoff[min($this->attempts(), count($this->backoff)) - 1]);
    }
}
