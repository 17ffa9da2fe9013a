<?php

declare(strict_types=1);

namespace AirtimeService\Tests;

require_once __DIR__ . '/Scripted.php';
require_once 'Illuminate/Support/autoload.php';
require_once 'Illuminate/Http/autoload.php';
require_once 'Illuminate/Queue/autoload.php';
require_once 'Illuminate/Bus/autoload.php';
require_once 'Illuminate/Config/autoload.php';
require_once 'Illuminate/Events/autoload.php';
require_once 'Dotenv/autoload.php';

use AirtimeService\Client;
use AirtimeService\Laravel\{AirtimeServiceProvider, OrderDecided, OrderUndecided, PlaceOrder, VerifyWebhook};
use AirtimeService\Model\{DataPurchaseRequest, TransactionUpdated};
use AirtimeService\Webhook;
use GuzzleHttp\Psr7\Response;
use Illuminate\Config\Repository;
use Illuminate\Container\Container;
use Illuminate\Contracts\Queue\Job;
use Illuminate\Contracts\Config\Repository as Config;
use Illuminate\Events\Dispatcher;
use Illuminate\Http\Request;
use Illuminate\Queue\Jobs\SyncJob;
use PHPUnit\Framework\TestCase;
use Psr\Log\{LoggerInterface, NullLogger};
use Symfony\Component\HttpFoundation\Response as HttpResponse;

final class LaravelTest extends TestCase
{
    private const KEY = '0123456789abcdef';
    private const EVENT = '{"event":"transaction.updated","data":{"reference":"DATA_1","status":"success","amount":500,"type":"data",'
        . '"network":"MTN","phone_number":"08031234567","created_at":"2026-11-21T09:30:00.000Z"}}';

    private static function app(): Container
    {
        // As a line of .env without a value.
        putenv('AIRTIME_TIMEOUT=');
        $app = new Container();
        Container::setInstance($app);
        $secret = 'whsec_' . base64_encode(self::KEY);
        $app->instance('config', new Repository(['airtime' => ['api_key' => 'test_key', 'webhook_secret' => $secret]]));
        $app->alias('config', Config::class);
        $app->instance('path.config', '/app/config');
        $app->instance(LoggerInterface::class, new NullLogger());
        $provider = new AirtimeServiceProvider($app);
        $provider->register();
        $provider->boot();
        return $app;
    }

    public function testTheProviderMakesOneClientFromTheConfiguration(): void
    {
        $app = self::app();
        self::assertInstanceOf(Client::class, $app->make(Client::class));
        self::assertSame($app->make(Client::class), $app->make(Client::class));
        self::assertSame('http://127.0.0.1:4010/v1', $app->make(Config::class)->get('airtime.base_url'));
        self::assertSame('test_key', $app->make(Config::class)->get('airtime.api_key'));
        [$config] = array_keys(AirtimeServiceProvider::pathsToPublish(AirtimeServiceProvider::class, 'airtime-config'));
        self::assertFileExists($config);
    }

    public function testTheMiddlewareGivesASignedEventToTheRouteAndRefusesOthers(): void
    {
        $handle = static function (string $body): array {
            $timestamp = (string) time();
            $signed = "evt_1.$timestamp." . self::EVENT;
            $signature = 'v1,' . base64_encode(hash_hmac('sha256', $signed, self::KEY, true));
            $headers = ['HTTP_WEBHOOK_ID' => 'evt_1', 'HTTP_WEBHOOK_TIMESTAMP' => $timestamp, 'HTTP_WEBHOOK_SIGNATURE' => $signature];
            $request = Request::create('/hooks/airtime', 'POST', server: $headers, content: $body);
            $response = self::app()->make(VerifyWebhook::class)->handle($request, static fn (): HttpResponse => new HttpResponse('', 204));
            return [$response->getStatusCode(), $request->attributes->get('webhook')];
        };
        [$status, $webhook] = $handle(self::EVENT);
        self::assertSame(204, $status);
        self::assertInstanceOf(Webhook::class, $webhook);
        self::assertInstanceOf(TransactionUpdated::class, $webhook->event);
        self::assertSame([400, null], $handle(str_replace('500', '900', self::EVENT)));
    }

    /** @return array{list<OrderDecided>, bool} the events, and whether the job waits for its next try */
    private static function handle(Scripted $service): array
    {
        $job = new PlaceOrder(new DataPurchaseRequest(1, 101, '08031234567'), 'order-1');
        // As a queue stores it.
        $job = unserialize(serialize($job));
        $app = self::app();
        $job->setJob(new SyncJob($app, '{}', 'sync', 'default'));
        $events = new Dispatcher($app);
        $fired = [];
        $events->listen(OrderDecided::class, static function (OrderDecided $event) use (&$fired): void {
            $fired[] = $event;
        });
        $job->handle($service->client(), $events);
        return [$fired, $job->job->isReleased()];
    }

    public function testTheJobFiresHowItsOrderEnded(): void
    {
        $delivered = new OrderDecided('order-1', 'success', 'DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ');
        self::assertEquals([[$delivered], false], self::handle(new Scripted(Scripted::success(Scripted::bought()))));
        $headers = ['x-transaction-reference' => 'DATA_1', 'x-caller-reference' => 'order-1'];
        $failed = new OrderDecided('order-1', 'failed', 'DATA_1', 'delivery_failed');
        self::assertEquals([[$failed], false], self::handle(new Scripted(Scripted::refusal(502, 'delivery_failed', $headers))));
    }

    public function testTheJobRunsAgainWhileItsOrderIsOpenOrUndecided(): void
    {
        self::assertSame([[], true], self::handle(new Scripted(Scripted::success(Scripted::bought(['status' => 'processing'])))));
        self::assertSame([[], true], self::handle(new Scripted(new Response(502))));
    }

    public function testAnUndecidedOrderIsReportedAndTriedEverMoreRarely(): void
    {
        $events = new Dispatcher(self::app());
        $fired = [];
        $events->listen(OrderUndecided::class, static function (OrderUndecided $event) use (&$fired): void {
            $fired[] = $event;
        });
        $waits = [];
        foreach ([1, 2, 99] as $attempts) {
            $queued = $this->createMock(Job::class);
            $queued->method('attempts')->willReturn($attempts);
            $queued->method('release')->willReturnCallback(static function (int $wait) use (&$waits): void {
                $waits[] = $wait;
            });
            $job = new PlaceOrder(new DataPurchaseRequest(1, 101, '08031234567'), 'order-1');
            $job->setJob($queued);
            $job->handle((new Scripted(Scripted::refusal(401, 'invalid_api_key')))->client(), $events);
        }
        self::assertSame([15, 30, 300], $waits);
        self::assertEquals(new OrderUndecided('order-1', 99, 'invalid_api_key'), $fired[2]);
    }

    public function testAnOrderThatCannotBeSentFailsInTheQueue(): void
    {
        foreach (["\xff" => 'order-1', '08031234567' => 'not a reference'] as $phone => $reference) {
            $queued = $this->createMock(Job::class);
            $queued->expects(self::once())->method('fail');
            $queued->expects(self::never())->method('release');
            $service = new Scripted(new Response(502));
            $job = new PlaceOrder(new DataPurchaseRequest(1, 101, (string) $phone), $reference);
            $job->setJob($queued);
            $job->handle($service->client(), new Dispatcher(self::app()));
            self::assertSame([], $service->requests);
        }
    }
}
