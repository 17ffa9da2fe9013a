<?php

declare(strict_types=1);

namespace AirtimeService\Tests;

use AirtimeService\Client;
use AirtimeService\Clock;
use AirtimeService\Model\DataPurchaseRequest;
use AirtimeService\OutcomeUnknownException;
use AirtimeService\ServiceException;
use PHPUnit\Framework\TestCase;
use Psr\Log\AbstractLogger;

/** Goal: Guzzle and curl repeat no request, follow none elsewhere and outlast no deadline. Method: a server of bytes. */
final class ConnectionsTest extends TestCase
{
    /** @var resource */
    private $server;
    /** @var resource */
    private $output;
    /** Attempts that the client has logged. */
    private int $attempts = 0;

    private function client(string $case, float $timeout): Client
    {
        $this->server = proc_open([PHP_BINARY, __DIR__ . '/server.php', $case], [1 => ['pipe', 'w']], $pipes);
        $this->output = $pipes[1];
        $logger = new class (function (): void {
            $this->attempts++;
        }) extends AbstractLogger {
            public function __construct(private readonly \Closure $onLine)
            {
            }

            public function log($level, $message, array $context = []): void
            {
                ($this->onLine)();
            }
        };
        return new Client('http://' . trim((string) fgets($this->output)) . '/v1', 'live_key', $timeout, logger: $logger);
    }

    /** How the purchase ended, and the lines that the server printed; the first `$awaited` are waited for. */
    private function buy(string $case, float $timeout, int $times = 1, int $awaited = 1): array
    {
        $client = $this->client($case, $timeout);
        for ($i = 0; $i < $times; $i++) {
            try {
                $client->buyData(new DataPurchaseRequest(1, 101, '08031234567'), 'order-1');
            } catch (OutcomeUnknownException|ServiceException $error) {
                $end = $error;
            }
        }
        $lines = array_map(fn () => trim((string) fgets($this->output), "\n"), range(1, $awaited));
        proc_terminate($this->server, SIGKILL);
        $further = array_filter(explode("\n", (string) stream_get_contents($this->output)));
        proc_close($this->server);
        return [$end ?? null, [...$lines, ...$further]];
    }

    public function testAnAnswerThatComesByteByByteEndsWithTheAttempt(): void
    {
        [$end, $lines] = $this->buy('drip', 3);
        self::assertInstanceOf(OutcomeUnknownException::class, $end);
        // A further line says that the whole answer was sent.
        self::assertCount(1, $lines);
    }

    public function testAnAnswerWithoutEndIsCut(): void
    {
        [$end, $lines] = $this->buy('pour', 3, awaited: 2);
        self::assertInstanceOf(OutcomeUnknownException::class, $end);
        // Of 100 KB each; the system's buffers take some beyond the limit.
        self::assertLessThan(300, (int) $lines[1]);
    }

    public function testAConnectionThatEndsWithoutAnAnswerIsOneAttempt(): void
    {
        [$end, $lines] = $this->buy('end', 3);
        self::assertInstanceOf(OutcomeUnknownException::class, $end);
        // The server of a busy machine may read one too late.
        self::assertLessThanOrEqual($this->attempts, count($lines));
    }

    public function testARedirectIsNotFollowed(): void
    {
        [$end, $lines] = $this->buy('redirect', 5);
        self::assertInstanceOf(OutcomeUnknownException::class, $end);
        self::assertCount(1, $lines);
    }

    public function testAnErrorWhoseBodyIsCutIsReadByItsHeaders(): void
    {
        [$end] = $this->buy('half', 5);
        self::assertInstanceOf(ServiceException::class, $end);
        self::assertSame('DATA_1', $end->transactionReference);
    }

    public function testTheExceptionOfASignalEndsACall(): void
    {
        $client = $this->client('drip', 1.5);
        $this->inOneSecond(static fn () => throw new \OverflowException('The time is over'));
        try {
            $client->buyData(new DataPurchaseRequest(1, 101, '08031234567'), 'order-1');
            self::fail('The signal was ignored');
        } catch (\OverflowException $end) {
            self::assertSame('The time is over', $end->getMessage());
        } finally {
            proc_terminate($this->server, SIGKILL);
            proc_close($this->server);
        }
    }

    public function testASignalDoesNotShortenAWait(): void
    {
        [$clock, $isHandled] = [new Clock(), false];
        $this->inOneSecond(static function () use (&$isHandled): void {
            $isHandled = true;
        });
        $started = $clock->now();
        $clock->sleep(1.5);
        self::assertTrue($isHandled);
        self::assertGreaterThanOrEqual(1.5, $clock->now() - $started);
    }

    private function inOneSecond(\Closure $handler): void
    {
        if (!extension_loaded('pcntl')) {
            self::markTestSkipped('PHP without signals');
        }
        pcntl_async_signals(true);
        pcntl_signal(SIGALRM, $handler);
        pcntl_alarm(1);
    }

    protected function tearDown(): void
    {
        if (extension_loaded('pcntl')) {
            pcntl_signal(SIGALRM, SIG_DFL);
        }
    }

    public function testNoConnectionIsKept(): void
    {
        [, $lines] = $this->buy('end of a kept connection', 5, times: 3);
        self::assertSame(array_fill(0, 3, "POST /v1/vtu/data/purchase HTTP/1.1\r"), $lines);
    }
}
