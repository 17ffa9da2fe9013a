<?php

declare(strict_types=1);

namespace AirtimeService\Tests;

use AirtimeService\Client;
use AirtimeService\Clock;
use GuzzleHttp\Psr7\Response;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Log\AbstractLogger;

/** Answers in turn, the last one again and again; and a clock whose time passes only while something waits. */
final class Scripted extends Clock implements ClientInterface
{
    public float $time = 1_000.0;
    /** @var list<float> */
    public array $waits = [];
    /** @var list<RequestInterface> */
    public array $requests = [];
    /** @var list<string> */
    public array $logged = [];
    /** @var list<ResponseInterface|\Throwable> */
    private array $answers;

    public function __construct(ResponseInterface|\Throwable ...$answers)
    {
        $this->answers = $answers;
    }

    public function client(string $apiKey = 'live_key'): Client
    {
        $logger = new class ($this) extends AbstractLogger {
            public function __construct(private readonly Scripted $scripted)
            {
            }

            public function log($level, $message, array $context = []): void
            {
                $this->scripted->logged[] = json_encode($context, JSON_THROW_ON_ERROR);
            }
        };
        return new Client('http://localhost/v1/', $apiKey, http: $this, clock: $this, logger: $logger);
    }

    public function sendRequest(RequestInterface $request): ResponseInterface
    {
        $this->requests[] = $request;
        $answer = count($this->answers) > 1 ? array_shift($this->answers) : $this->answers[0];
        if ($answer instanceof \Throwable) {
            throw $answer;
        }
        $answer->getBody()->rewind();
        return $answer;
    }

    public function now(): float
    {
        return $this->time;
    }

    public function sleep(float $seconds): void
    {
        $this->time += $seconds;
        $this->waits[] = $seconds;
    }

    /** @return list<mixed> */
    public function bodies(): array
    {
        return array_map(static fn (RequestInterface $request): mixed => json_decode((string) $request->getBody(), true), $this->requests);
    }

    /** @return list<string> */
    public function targets(): array
    {
        return array_map(static fn (RequestInterface $request): string => $request->getRequestTarget(), $this->requests);
    }

    /** @param array<mixed> $changed */
    public static function bought(array $changed = []): array
    {
        return ['transaction' => $changed + [
            'reference' => 'DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ',
            'status' => 'success',
            'amount' => 500,
            'description' => 'MTN 1GB data for 08031234567',
            'type' => 'data',
            'caller_reference' => 'order-1',
            'phone_number' => '08031234567',
        ]];
    }

    /** @param array<mixed> $changed */
    public static function lookedUp(array $changed = []): array
    {
        $times = ['created_at' => '2026-11-21T09:30:00.000Z', 'updated_at' => '2026-11-21T09:30:00.000Z'];
        return self::bought($changed + ['network' => 'MTN', 'error_code' => null] + $times);
    }

    /**
     * @param array<mixed> $data
     * @param array<string, string> $headers
     */
    public static function success(array $data, array $headers = []): ResponseInterface
    {
        return new Response(200, $headers, json_encode(['status' => true, 'message' => '', 'data' => $data], JSON_THROW_ON_ERROR));
    }

    /**
     * @param array<string, string> $headers
     * @param array<string, list<string>> $errors
     */
    public static function refusal(int $status, string $code, array $headers = [], array $errors = []): ResponseInterface
    {
        $body = json_encode(['status' => false, 'message' => "It is $code", 'errors' => $errors], JSON_THROW_ON_ERROR);
        return new Response($status, ['x-error-code' => $code] + $headers, $body);
    }
}
