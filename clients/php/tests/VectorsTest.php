<?php

declare(strict_types=1);

namespace AirtimeService\Tests;

require_once __DIR__ . '/Scripted.php';

use AirtimeService\Client;
use AirtimeService\Model\DataPurchaseRequest;
use AirtimeService\Model\NinVerifyRequest;
use AirtimeService\OutcomeUnknownException;
use AirtimeService\ServiceException;
use AirtimeService\Webhook;
use AirtimeService\WebhookVerificationException;
use GuzzleHttp\Psr7\Response;
use PHPUnit\Framework\TestCase;
use Psr\Http\Message\ResponseInterface;

/** Goal: what the clients of all languages share holds for this one. Method: the tables of client/vectors. */
final class VectorsTest extends TestCase
{
    private static function table(string $name): array
    {
        return json_decode(file_get_contents(__DIR__ . "/../../../client/vectors/$name.json"), true, flags: JSON_THROW_ON_ERROR);
    }

    public static function answers(): iterable
    {
        foreach (self::table('answers')['answers'] as $answer) {
            yield $answer['name'] => [$answer];
        }
    }

    private static function named(string $name): array
    {
        $table = self::table('answers');
        return array_column([...$table['answers'], ...$table['cancellations']], null, 'name')[$name];
    }

    /** @return array{string, Scripted} how the order ends */
    private static function order(array ...$answers): array
    {
        $response = static fn (array $answer): ResponseInterface => new Response($answer['status'], $answer['headers'], $answer['body']);
        $service = new Scripted(...array_map($response, $answers));
        try {
            return [$service->client()->buyData(new DataPurchaseRequest(1, 101, '08031234567'), 'order-1')->transaction->status, $service];
        } catch (ServiceException) {
            return ['failed', $service];
        } catch (OutcomeUnknownException) {
            return ['unknown', $service];
        }
    }

    /** @dataProvider answers */
    public function testAfterAnAnswerTheClientDoesWhatTheTableSays(array $answer): void
    {
        $table = self::table('answers');
        [$end, $service] = self::order($answer, $answer['next'] === 'cancel' ? self::named('cancelled') : $table['replay']);
        self::assertSame(['retry' => 'success', 'cancel' => 'failed'][$answer['next']] ?? $answer['next'], $end);
        $next = ['retry' => [$table['order']], 'cancel' => [$table['cancellation']]][$answer['next']] ?? [];
        self::assertEquals([$table['order'], ...$next], $service->bodies());
        if ($answer['next'] === 'retry') {
            self::assertGreaterThanOrEqual($answer['wait_s'] ?? 0, $service->waits[0]);
        }
    }

    public static function checks(): iterable
    {
        foreach (self::table('checks')['sequences'] as $sequence) {
            yield $sequence['name'] => [$sequence];
        }
    }

    /** @dataProvider checks */
    public function testACheckEndsAsTheTableSays(array $sequence): void
    {
        $table = self::table('checks');
        $named = array_column($table['answers'], null, 'name');
        $service = new Scripted(...array_map(
            static fn (string $name): ResponseInterface => new Response($named[$name]['status'], $named[$name]['headers'], $named[$name]['body']),
            $sequence['answers'],
        ));
        try {
            $check = $service->client()->verifyNin(new NinVerifyRequest($table['order']['nin'], true), 'check-1');
            self::assertSame('ADAEZE', $check->result->firstName);
            $end = $check->transaction->status === 'success' ? 'found' : $check->transaction->status;
        } catch (ServiceException) {
            $end = 'failed';
        } catch (OutcomeUnknownException) {
            $end = 'unknown';
        }
        self::assertSame($sequence['end'], $end);
        self::assertEquals(array_map(static fn (string $sent): array => $table[$sent], $sequence['sent']), $service->bodies());
    }

    public static function sequences(): iterable
    {
        foreach (self::table('answers')['sequences'] as $sequence) {
            yield $sequence['name'] => [$sequence];
        }
    }

    /** @dataProvider sequences */
    public function testAfterFurtherAnswersTheClientDoesWhatTheTableSays(array $sequence): void
    {
        [$end, $service] = self::order(...array_map(self::named(...), $sequence['answers']));
        self::assertSame($sequence['end'], $end);
        $table = self::table('answers');
        self::assertEquals(array_map(static fn (string $sent): array => $table[$sent], $sequence['sent']), $service->bodies());
    }

    public static function webhooks(): iterable
    {
        foreach (self::table('webhooks')['cases'] as $case) {
            yield $case['name'] => [$case];
        }
    }

    /** @dataProvider webhooks */
    public function testAWebhookIsTakenOrRefused(array $case): void
    {
        $headers = ['Webhook-Id' => $case['id'], 'webhook-timestamp' => [$case['timestamp']], 'WEBHOOK-SIGNATURE' => $case['signature']];
        if (!$case['valid']) {
            $this->expectException($case['reason'] === 'secret' ? \InvalidArgumentException::class : WebhookVerificationException::class);
        }
        $webhook = Webhook::verify(array_filter($headers), $case['body'], $case['secret'], $case['now']);
        self::assertSame([$case['event'], $case['id'], $case['known']], [$webhook->name, $webhook->id, $webhook->event !== null]);
        self::assertSame((int) $case['timestamp'], $webhook->sentAt->getTimestamp());
    }

    public static function settings(): iterable
    {
        foreach (self::table('settings')['cases'] as $case) {
            yield "$case[base_url] $case[api_key]" => [$case];
        }
    }

    /** @dataProvider settings */
    public function testSettingsAreTakenOrRefusedWithoutShowingTheKey(array $case): void
    {
        if ($case['refused'] !== null) {
            $this->expectException(\InvalidArgumentException::class);
            $this->expectExceptionMessageMatches($case['refused'] === 'base_url' ? '/^baseUrl [^@]+$/' : '/^apiKey must be a key .* test_\.\.\.$/');
        }
        self::assertStringNotContainsString($case['api_key'], print_r(new Client($case['base_url'], $case['api_key']), true));
    }
}
