<?php

declare(strict_types=1);

namespace AirtimeService;

use AirtimeService\Model\{BvnRetrieval, BvnVerification, NinRetrieval, NinVerification};
use GuzzleHttp\Client as Guzzle;
use GuzzleHttp\Exception\RequestException;
use GuzzleHttp\Psr7;
use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Log\LoggerInterface;

/**
 * The rule: which answers decide a call, and what is sent again.
 *
 * @internal
 */
final class Sender
{
    /** No answer of the service is longer: Lambda sends at most 6 MB. */
    private const BODY_BYTES_MAX = 8_000_000;
    private const FIRST_BACKOFF_S = 0.5;
    private const BACKOFF_S_MAX = 8.0;
    /** Added to `Retry-After`, so that callers do not return all at once. */
    private const JITTER_S_MAX = 1.0;
    /** A retry with less time would hardly be answered, and could make a known outcome unknown. */
    private const RETRY_S_MIN = 1.0;
    private const PASSING_CODES = ['rate_limited', 'provider_unavailable', 'internal_error'];
    /** Without `X-Error-Code`: what a proxy or API Gateway answers and what passes by itself. */
    private const PASSING_STATUSES = [408, 425, 429];

    public function __construct(
        private readonly string $baseUrl,
        /** Not as a text, which each dump of a client would show. */
        private readonly \SensitiveParameterValue $apiKey,
        private readonly float $attemptTimeout,
        private readonly ?ClientInterface $http,
        private readonly Clock $clock,
        private readonly LoggerInterface $logger,
    ) {
    }

    /**
     * Sends the request until an answer decides the call, with the same bytes, and so the same reference, each time.
     *
     * @template T of object
     * @param Request<T> $request
     * @return T
     */
    public function send(#[\SensitiveParameter] Request $request, float $timeout): object
    {
        $deadline = $this->clock->now() + $timeout;
        [$preliminary, $number] = [null, 0];
        while (true) {
            $number++;
            $left = max($deadline - $this->clock->now(), self::RETRY_S_MIN);
            $result = $this->attempt($request, min($this->attemptTimeout, $timeout, $left));
            $isError = $result instanceof ServiceException || $result instanceof NoAnswerException;
            $mayRetry = $isError ? self::passes($result) : self::isPreliminary($result);
            $backoff = min(self::FIRST_BACKOFF_S * 2 ** ($number - 1), self::BACKOFF_S_MAX) * (0.5 + random_int(0, 1_000_000) / 2e6);
            $retryAfter = $isError ? $result->retryAfterS : null;
            $wait = $retryAfter === null ? $backoff : $retryAfter + min($backoff, self::JITTER_S_MAX);
            $isLast = !$mayRetry || $wait > $deadline - $this->clock->now() - self::RETRY_S_MIN;
            $this->log('{path} {reference}, attempt {attempt}: {result}, again in {wait} s', [
                'path' => $request->path,
                'reference' => $request->order,
                'attempt' => $number,
                'result' => match (true) {
                    $result instanceof ServiceException => $result->errorCode,
                    $result instanceof NoAnswerException => $result->reason,
                    default => 'answered',
                },
                'wait' => $isLast ? null : round($wait, 1),
            ]);
            if (!$isLast) {
                $preliminary = $isError ? $preliminary : $result;
                $this->clock->sleep($wait);
            } elseif (!$isError) {
                return $result;
            } elseif ($preliminary !== null && $result instanceof NoAnswerException) {
                return $preliminary;
            } elseif ($request->order === null || self::isFinal($result)) {
                throw $result;
            } else {
                throw new OutcomeUnknownException(
                    "The order $request->order is not decided: it may have been placed, or may still be ({$result->getMessage()})."
                    . ' Send the same order with the same reference again, or give it up with cancelOrder',
                    $request->order,
                    $result->requestId,
                    $result,
                );
            }
        }
    }

    /**
     * What a logger throws must not hide that an order was placed.
     *
     * @param array<string, mixed> $context
     */
    private function log(string $message, array $context): void
    {
        try {
            $this->logger->info($message, $context);
        } catch (\Throwable) {
        }
    }

    /** Only the same request gets a check's result, for 10 minutes: a lookup does not show it. So it is sent again. */
    private static function isPreliminary(object $answer): bool
    {
        $isCheck = $answer instanceof NinVerification || $answer instanceof NinRetrieval || $answer instanceof BvnVerification || $answer instanceof BvnRetrieval;
        return $isCheck && $answer->result === null && $answer->transaction->status === 'processing';
    }

    /**
     * A refusal speaks of its own request only: an earlier attempt may have placed the order, and a copy that something on
     * the way sends later still may. So it decides the order only if it names its transaction.
     */
    private static function isFinal(ServiceException|NoAnswerException $error): bool
    {
        return $error instanceof ServiceException && $error->transactionReference !== null;
    }

    /** True if the same request may get another answer later. */
    private static function passes(ServiceException|NoAnswerException $error): bool
    {
        if ($error instanceof ServiceException) {
            return !self::isFinal($error) && ($error->retryAfterS !== null || in_array($error->errorCode, self::PASSING_CODES, true));
        }
        $isOthers = $error->status < 300 || $error->status >= 500 || in_array($error->status, self::PASSING_STATUSES, true);
        return $error->reason === 'mismatch' || $isOthers;
    }

    /**
     * @template T of object
     * @param Request<T> $request
     * @return T|ServiceException|NoAnswerException
     */
    private function attempt(#[\SensitiveParameter] Request $request, float $timeout): object
    {
        $headers = ['Authorization' => "Bearer {$this->apiKey()}", 'Accept' => 'application/json', 'Accept-Encoding' => 'identity'];
        $content = $request->body === '' ? [] : ['Content-Type' => 'application/json'];
        $sent = new Psr7\Request($request->method, $this->baseUrl . $request->path, $headers + $content + $request->headers, $request->body);
        try {
            $response = $this->http?->sendRequest($sent) ?? self::guzzle($sent, $timeout);
        } catch (ClientExceptionInterface|\Error|\LogicException|\JsonException $failure) {
            // Also what an app takes for a call that sent nothing. Any other exception comes from outside, such as that of a
            // signal's handler, and ends the call.
            return $this->cut($request, $failure instanceof RequestException ? $failure->getResponse() : null, $failure);
        }
        try {
            $body = Psr7\Utils::copyToString($response->getBody(), self::BODY_BYTES_MAX);
        } catch (\RuntimeException $failure) {
            return $this->cut($request, $response, $failure);
        }
        return $this->read($request, $response, $body);
    }

    /**
     * The headers of an error are enough: its code says what happened.
     *
     * @template T of object
     * @param Request<T> $request
     * @return T|ServiceException|NoAnswerException
     */
    private function cut(#[\SensitiveParameter] Request $request, ?ResponseInterface $response, #[\SensitiveParameter] \Throwable $failure): object
    {
        return $response !== null && $response->hasHeader('x-error-code')
            ? $this->read($request, $response, '')
            // Not with the failure itself, which has the request and so the key.
            : new NoAnswerException($failure::class . ': ' . $failure->getMessage(), 'network', reference: $request->order);
    }

    /** curl sends a request again by itself if a kept connection ends without an answer: so none is kept. */
    private static function guzzle(#[\SensitiveParameter] Psr7\Request $request, float $timeout): ResponseInterface
    {
        static $guzzle = new Guzzle();
        return $guzzle->send($request, [
            'timeout' => $timeout,
            'connect_timeout' => $timeout,
            // A redirect would send the key elsewhere, and may turn an order into a GET.
            'allow_redirects' => false,
            'http_errors' => false,
            'sink' => new Psr7\DroppingStream(Psr7\Utils::streamFor(), self::BODY_BYTES_MAX),
            'curl' => [CURLOPT_FORBID_REUSE => true, CURLOPT_FRESH_CONNECT => true],
        ]);
    }

    /**
     * @template T of object
     * @param Request<T> $request
     * @return T|ServiceException|NoAnswerException
     */
    private function read(#[\SensitiveParameter] Request $request, ResponseInterface $response, #[\SensitiveParameter] string $body): object
    {
        $header = static fn (string $name): ?string => $response->getHeaderLine($name) === '' ? null : $response->getHeaderLine($name);
        $status = $response->getStatusCode();
        $known = [
            'status' => $status,
            'retryAfterS' => self::retryAfter($header('retry-after')),
            'reference' => $request->order,
            'requestId' => $header('x-request-id'),
        ];
        $isReplay = $header('idempotent-replayed') === 'true';
        $envelope = json_decode($body, true);
        $envelope = is_array($envelope) ? $envelope : [];
        $code = $header('x-error-code');
        if ($code !== null) {
            [$named, $transaction] = [$header('x-caller-reference'), $header('x-transaction-reference')];
            // A mixed-up connection or a cache can bring the error of another order.
            $isOwn = $named === $request->order && ($transaction === null || $this->isOfMode($transaction));
            if ($request->order !== null && ($named ?? $transaction) !== null && !$isOwn) {
                return new NoAnswerException('the answer is about another order', 'mismatch', ...$known);
            }
            $fields = is_array($envelope['errors'] ?? null) ? $envelope['errors'] : [];
            $message = is_string($envelope['message'] ?? null) ? $envelope['message'] : $code;
            return new ServiceException($message, $code, $fields, $transaction, $header('x-duplicate-of'), $isReplay, ...$known);
        }
        if ($status === 200 && ($envelope['status'] ?? null) === true && is_array($envelope['data'] ?? null)) {
            try {
                $waits = self::wholeNumber($header('x-estimated-delivery'));
                $data = Fields::of(['replayed' => $isReplay, 'estimated_delivery_s' => $waits] + $envelope['data']);
                $answer = ($request->read)($data);
                if ($this->isAnswer($request, $data)) {
                    return $answer;
                }
            } catch (\UnexpectedValueException) {
            }
        }
        return new NoAnswerException("$status that is not an answer of the service to this request", 'unreadable', ...$known);
    }

    /**
     * Whether the answer is about what was asked. A page that names the same next one again would be followed for ever.
     *
     * @param Request<object> $request
     */
    private function isAnswer(Request $request, Fields $answer): bool
    {
        if (isset($request->asked['cursor']) && $answer->has('next_cursor') && $answer->text('next_cursor') === $request->asked['cursor']) {
            return false;
        }
        $listed = $answer->has('transactions') ? $answer->list('transactions') : [];
        foreach ($answer->has('transaction') ? [$answer->object('transaction')] : $listed as $transaction) {
            if (!$this->isAsked($request, $transaction)) {
                return false;
            }
        }
        return true;
    }

    /**
     * A status that this release does not know is no answer: an app that compares with `success` would take it for `failed`.
     * Nor is a transaction of the other mode: a simulated success delivers nothing. The amount may not be the order's: an
     * account can have prices of its own.
     *
     * @param Request<object> $request
     */
    private function isAsked(Request $request, Fields $transaction): bool
    {
        $asked = $request->asked;
        $text = static fn (string $name): string => $transaction->has($name) ? $transaction->text($name) : '';
        // A lookup takes the service's reference too.
        $names = [$text('caller_reference'), ...($request->method === 'GET' ? [$text('reference')] : [])];
        return in_array($text('status'), ['processing', 'success', 'failed'], true)
            && $text('reference') !== ''
            && $this->isOfMode($text('reference'))
            && in_array($asked['reference'] ?? $names[0], $names, true)
            && ($asked['type'] ?? $text('type')) === $text('type')
            && ($asked['status'] ?? $text('status')) === $text('status')
            // Of an old order only the last digits of the phone number are shown, after stars.
            && str_ends_with($asked['phone_number'] ?? $text('phone_number'), ltrim($text('phone_number'), '*'));
    }

    private function apiKey(): string
    {
        /** @var string $apiKey */
        $apiKey = $this->apiKey->getValue();
        return $apiKey;
    }

    private function isOfMode(string $reference): bool
    {
        return str_starts_with($reference, 'TEST_') === str_starts_with($this->apiKey(), 'test_');
    }

    /** The service sends seconds; a proxy may send a date, as RFC 9110 has it. */
    private static function retryAfter(?string $text): ?int
    {
        $until = \DateTimeImmutable::createFromFormat('!D, d M Y H:i:s \G\M\T', $text ?? '', new \DateTimeZone('UTC'));
        // PHP takes a 99th of a month for a day of a later one.
        if ($until === false || $until->format('D, d M Y H:i:s \G\M\T') !== $text) {
            return self::wholeNumber($text);
        }
        return max(0, $until->getTimestamp() - time());
    }

    private static function wholeNumber(?string $text): ?int
    {
        return $text !== null && preg_match('/^[0-9]{1,9}$/D', $text) === 1 ? (int) $text : null;
    }
}
