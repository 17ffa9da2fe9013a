<?php

declare(strict_types=1);

namespace AirtimeService\Tests;

require_once __DIR__ . '/Scripted.php';

use AirtimeService\BaseClient;
use AirtimeService\Client;
use AirtimeService\Model\{AirtimePurchaseRequest, BvnVerifyRequest, ConsentEvidence, DataPurchaseRequest, NinAdvancedResult, NinBasicResult, NinVerifyRequest, RetrieveRequest};
use AirtimeService\{NoAnswerException, OutcomeUnknownException, Sender, ServiceException, WaitEndedException, Webhook};
use GuzzleHttp\Exception\ConnectException;
use GuzzleHttp\Psr7\Request;
use GuzzleHttp\Psr7\Response;
use PHPUnit\Framework\TestCase;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Log\AbstractLogger;

/** Goal: an order is decided only by an answer that decides it. Method: scripted answers. */
final class ClientTest extends TestCase
{
    private const CHECKED = [
        'title' => 'NIN Verification',
        'amount' => 150,
        'reference' => 'VERIFY_7QVG253GF2P74F8N3P1ZY9ZS1E',
        'status' => 'success',
        'type' => 'nin_verification',
        'caller_reference' => 'order-1',
    ];
    private const PERSON = ['first_name' => 'ADA', 'last_name' => 'OBI', 'middle_name' => '', 'gender' => 'F', 'date_of_birth' => '1971-04-27'];

    private static function bundle(): DataPurchaseRequest
    {
        return new DataPurchaseRequest(networkId: 1, planId: 101, phoneNumber: '08031234567');
    }

    /** @return array{?object, ?\Throwable} */
    private static function buy(Scripted $service): array
    {
        try {
            return [$service->client()->buyData(self::bundle(), 'order-1'), null];
        } catch (\Throwable $error) {
            return [null, $error];
        }
    }

    public function testASuccessIsAnOrder(): void
    {
        $service = new Scripted(Scripted::success(Scripted::bought(['new' => 1]), ['idempotent-replayed' => 'true', 'x-estimated-delivery' => '61']));
        $order = $service->client()->buyData(self::bundle(), 'order-1');
        self::assertSame(['success', 500.0], [$order->transaction->status, $order->transaction->amount]);
        self::assertSame([true, 61], [$order->replayed, $order->estimatedDeliveryS]);
        self::assertSame('Bearer live_key', $service->requests[0]->getHeaderLine('authorization'));
        self::assertSame(['/v1/vtu/data/purchase'], $service->targets());
    }

    public function testAirtimeCostsWhatTheAccountPaysForIt(): void
    {
        $service = new Scripted(Scripted::success(Scripted::bought(['type' => 'airtime', 'amount' => 97.5])));
        $order = $service->client()->buyAirtime(new AirtimePurchaseRequest('mtn', '08031234567', 100), 'order-1', confirmDuplicate: true);
        self::assertSame(97.5, $order->transaction->amount);
        self::assertSame('true', $service->requests[0]->getHeaderLine('x-confirm-duplicate'));
        self::assertEquals(['network' => 'mtn', 'phone_number' => '08031234567', 'amount' => 100, 'reference' => 'order-1'], $service->bodies()[0]);
    }

    public function testALostConnectionIsFollowedByTheSameBytes(): void
    {
        $cut = new ConnectException('Cut', new Request('POST', '/'));
        $odd = new \InvalidArgumentException('A header of the answer is not valid');
        $service = new Scripted($cut, $odd, new \TypeError('Of the HTTP client'), new Response(502), Scripted::success(Scripted::bought()));
        self::assertSame('success', self::buy($service)[0]?->transaction->status);
        self::assertCount(5, $service->requests);
        self::assertCount(1, array_unique(array_map(static fn ($request): string => (string) $request->getBody(), $service->requests)));
        self::assertStringContainsString('"attempt":4,"result":"unreadable"', $service->logged[3]);
        self::assertStringNotContainsString('0803', implode($service->logged));
    }

    public function testAnExceptionShowsNeitherTheKeyNorThePhoneNumber(): void
    {
        $ignored = ini_set('zend.exception_ignore_args', '0');
        $http = $this->createMock(ClientInterface::class);
        $http->method('sendRequest')->willReturnCallback(static fn (Request $sent) => throw new ConnectException('Cut', $sent));
        try {
            (new Client('http://localhost/v1', 'live_key', http: $http, clock: new Scripted()))->buyData(self::bundle(), 'order-1');
        } catch (OutcomeUnknownException $error) {
        } finally {
            ini_set('zend.exception_ignore_args', (string) $ignored);
        }
        for ($shown = ''; isset($error); $error = $error->getPrevious()) {
            // PHPUnit's own frames have the test.
            $ofClient = array_filter($error->getTrace(), static fn (array $frame): bool => is_a($frame['class'] ?? '', BaseClient::class, true) || ($frame['class'] ?? '') === Sender::class);
            $shown .= get_class($error) . print_r([get_object_vars($error), $ofClient], true);
        }
        self::assertStringContainsString('order-1', $shown);
        self::assertStringNotContainsString(ConnectException::class, $shown);
        self::assertStringNotContainsString('live_key', $shown);
        self::assertStringNotContainsString('08031234567', $shown);
    }

    public function testAnAnswerThatNamesTheOrderAsTheServicesReferenceIsAboutAnother(): void
    {
        $other = Scripted::success(Scripted::bought(['reference' => 'order-1', 'caller_reference' => 'order-2']));
        $service = new Scripted($other, Scripted::success(Scripted::bought()));
        self::assertSame('order-1', self::buy($service)[0]?->transaction->callerReference);
        self::assertCount(2, $service->requests);
    }

    public function testALoggerThatThrowsDoesNotChangeTheResult(): void
    {
        $service = new Scripted(Scripted::success(Scripted::bought()));
        $logger = new class () extends AbstractLogger {
            public function log($level, $message, array $context = []): void
            {
                throw new \RuntimeException('The disk is full');
            }
        };
        $client = new Client('http://localhost/v1', 'live_key', http: $service, clock: $service, logger: $logger);
        self::assertSame('success', $client->buyData(self::bundle(), 'order-1')->transaction->status);
    }

    public function testAtTheDeadlineTheOrderIsUnknown(): void
    {
        $service = new Scripted(new Response(502));
        [, $error] = self::buy($service);
        self::assertInstanceOf(OutcomeUnknownException::class, $error);
        self::assertSame('order-1', $error->reference);
        self::assertTrue(array_sum($service->waits) > 81 && array_sum($service->waits) <= 89 && max($service->waits) <= 8);
    }

    public function testARetryAfterBeyondTheDeadlineIsNotWaitedFor(): void
    {
        $service = new Scripted(Scripted::refusal(503, 'provider_unavailable', ['retry-after' => '90']));
        [, $error] = self::buy($service);
        self::assertInstanceOf(OutcomeUnknownException::class, $error);
        self::assertInstanceOf(ServiceException::class, $error->getPrevious());
        self::assertSame([], $service->waits);
    }

    public function testARefusalIsThrownWithItsFieldsAndTheCancellation(): void
    {
        $cancelled = Scripted::lookedUp(['reference' => 'DATA_C', 'status' => 'failed', 'error_code' => 'order_cancelled']);
        $refusal = Scripted::refusal(422, 'validation_failed', ['x-request-id' => 'req-1'], ['phone_number' => ['Is wrong']]);
        [, $error] = self::buy(new Scripted($refusal, Scripted::success($cancelled)));
        self::assertInstanceOf(ServiceException::class, $error);
        self::assertSame(['validation_failed', 'It is validation_failed', 'DATA_C'], [$error->errorCode, $error->getMessage(), $error->transactionReference]);
        self::assertSame([['phone_number' => ['Is wrong']], 'order-1', 'req-1', 422], [$error->fields, $error->reference, $error->requestId, $error->status]);
    }

    public function testAnOrderWhoseCancellationHasNoAnswerIsUnknown(): void
    {
        [, $error] = self::buy(new Scripted(Scripted::refusal(422, 'plan_unavailable'), new Response(502)));
        self::assertInstanceOf(OutcomeUnknownException::class, $error);
        self::assertSame('plan_unavailable', $error->getPrevious()->errorCode);
    }

    public function testACheckIsSentAgainUntilItHasItsResult(): void
    {
        $open = Scripted::success(['transaction' => ['status' => 'processing'] + self::CHECKED, 'result' => null]);
        $done = Scripted::success(['transaction' => self::CHECKED, 'result' => self::PERSON]);
        $service = new Scripted($open, new Response(502), $done);
        $request = new NinVerifyRequest('00000000000', true, consentEvidence: new ConsentEvidence('app', 'abc', '2026-11-21T09:30:00Z'));
        $check = $service->client()->verifyNin($request, 'order-1');
        self::assertInstanceOf(NinBasicResult::class, $check->result);
        self::assertSame(['method' => 'app', 'id' => 'abc', 'obtained_at' => '2026-11-21T09:30:00Z'], $service->bodies()[2]['consent_evidence']);
        self::assertNull((new Scripted($open, new Response(502)))->client()->verifyNin($request, 'order-1')->result);
    }

    public function testEachKindOfCheckHasItsResult(): void
    {
        $nulls = ['phone_number', 'email', 'title', 'marital_status', 'nationality', 'residential_address', 'state_of_origin'];
        $profile = self::PERSON + array_fill_keys($nulls, null) + ['nin' => '0', 'photo' => '', 'lga_of_origin' => 'Ikeja', 'height' => 170];
        $result = (new Scripted(Scripted::success(['transaction' => self::CHECKED, 'result' => $profile])))
            ->client()->verifyNin(new NinVerifyRequest('00000000000', true, 'advanced'), 'order-1')->result;
        self::assertInstanceOf(NinAdvancedResult::class, $result);
        self::assertSame(['Ikeja', ['height' => 170]], [$result->lgaOfOrigin, $result->additional]);
        $other = static fn (string $type, array $result): Scripted => new Scripted(Scripted::success([
            'transaction' => ['type' => $type] + self::CHECKED, 'result' => $result + self::PERSON + ['phone_number' => null],
        ]));
        $bvn = $other('bvn_verification', [])->client()->verifyBvn(new BvnVerifyRequest('00000000000', true), 'order-1');
        self::assertSame('OBI', $bvn->result?->lastName);
        $retrieval = new RetrieveRequest('08000000000', true);
        self::assertSame('1', $other('nin_retrieval', ['nin' => '1'])->client()->retrieveNin($retrieval, 'order-1')->result?->nin);
        self::assertSame('2', $other('bvn_retrieval', ['bvn' => '2'])->client()->retrieveBvn($retrieval, 'order-1')->result?->bvn);
    }

    public function testReadsAreRepeatedAndThrowTheirLastError(): void
    {
        $plan = ['id' => 101, 'network_id' => 1, 'name' => '1GB', 'price' => 500.5, 'validity' => ''];
        $catalog = Scripted::success(['networks' => [['id' => 1, 'name' => 'MTN', 'code' => 'mtn']], 'data_plans' => [$plan]]);
        self::assertSame(500.5, (new Scripted(new Response(502), $catalog))->client()->listCatalog()->dataPlans[0]->price);
        $wallet = ['currency' => 'NGN', 'balance' => 10, 'low_balance_threshold' => null, 'updated_at' => ''];
        self::assertSame(10.0, (new Scripted(Scripted::success(['wallet' => $wallet])))->client()->getWallet()->balance);
        try {
            (new Scripted(Scripted::refusal(404, 'not_found')))->client()->getTransaction('order-1');
            self::fail();
        } catch (ServiceException $error) {
            self::assertSame(['not_found', null], [$error->errorCode, $error->reference]);
        }
        $this->expectException(NoAnswerException::class);
        (new Scripted(new Response(502)))->client()->getWallet();
    }

    public function testALookupAndAPageAreThoseThatWereAskedFor(): void
    {
        $other = Scripted::success(Scripted::lookedUp(['reference' => 'DATA_2', 'caller_reference' => 'order-2']));
        $service = new Scripted($other, Scripted::success(Scripted::lookedUp()));
        self::assertSame('order-1', $service->client()->getTransaction('order-1')->callerReference);
        self::assertSame('order-2', (new Scripted($other))->client()->getTransaction('DATA_2')->callerReference);
        $page = static fn (string $cursor, string $status): ResponseInterface => Scripted::success(
            ['transactions' => Scripted::lookedUp(['status' => $status]) ? [Scripted::lookedUp(['status' => $status])['transaction']] : [], 'next_cursor' => $cursor],
        );
        $service = new Scripted($page('old', 'success'), $page('new', 'failed'), $page('new', 'success'));
        self::assertSame('new', $service->client()->listTransactions(status: 'success', cursor: 'old')->nextCursor);
        self::assertSame('/v1/transactions?status=success&cursor=old', $service->targets()[2]);
    }

    public function testWaitEndsWithAFinalStatusAtItsDeadlineOrWithARefusal(): void
    {
        $processing = Scripted::success(Scripted::lookedUp(['status' => 'processing']));
        $missing = Scripted::refusal(404, 'not_found');
        $service = new Scripted($missing, $processing, Scripted::success(Scripted::lookedUp(['status' => 'failed'])));
        self::assertSame('failed', $service->client()->wait('order-1')->status);
        foreach ([[$processing, 58.0], [Scripted::refusal(403, 'permission_denied'), 0.0]] as [$answer, $waited]) {
            $service = new Scripted($processing, $answer);
            try {
                $service->client()->wait('order-1', 60);
                self::fail();
            } catch (WaitEndedException $error) {
                self::assertSame('processing', $error->transaction?->status);
                self::assertTrue(array_sum($service->waits) >= $waited && array_sum($service->waits) <= 60);
            }
        }
    }

    public function testCancelAnswersTheTransaction(): void
    {
        $service = new Scripted(Scripted::success(Scripted::lookedUp(['caller_reference' => 'x'])), Scripted::success(Scripted::lookedUp()));
        self::assertSame('success', $service->client()->cancelOrder('order-1', 'data')->status);
        self::assertSame(['reference' => 'order-1', 'type' => 'data'], $service->bodies()[1]);
    }

    public function testWhatCannotWorkIsNotSent(): void
    {
        $service = new Scripted(new Response(502));
        $calls = array_map(
            static fn (string $reference) => static fn () => $service->client()->buyData(self::bundle(), $reference),
            ['', '.', '..', 'a/b', 'ä', "a\n", str_repeat('a', 101)],
        );
        $calls[] = static fn () => $service->client()->buyData(new DataPurchaseRequest(1, 101, "\xff"), 'order-1');
        $calls[] = static fn () => $service->client()->buyAirtime(new AirtimePurchaseRequest('mtn', '08031234567', NAN), 'order-1');
        $calls[] = static fn () => $service->client()->cancelOrder('order-1', "\xff");
        $calls[] = static fn () => Webhook::verify([], '', 'whsec_%');
        foreach ([0.0, -1.0, 0.0004, NAN] as $seconds) {
            $calls[] = static fn () => new Client('https://example.com/v1', 'live_key', timeout: $seconds);
            $calls[] = static fn () => new Client('https://example.com/v1', 'live_key', attemptTimeout: $seconds);
        }
        foreach ($calls as $call) {
            try {
                $call();
                self::fail();
            } catch (\InvalidArgumentException $error) {
                self::assertStringNotContainsString('secret"', $error->getMessage());
            }
        }
        self::assertSame([], $service->requests);
    }

    public function testAMadeReferenceIsRandomAndHasNoDigits(): void
    {
        $references = array_map(static fn (): string => Client::newReference(), range(1, 100));
        self::assertCount(100, array_unique($references));
        self::assertCount(100, preg_grep('/^[a-p]{32}$/', $references));
    }
}
