<?php

declare(strict_types=1);

namespace AirtimeService;

use AirtimeService\Model\{CancelRequest, Transaction, TransactionLookup};
use Psr\Http\Client\ClientInterface;
use Psr\Log\{LoggerInterface, NullLogger};

/** What the methods of a Client call. */
abstract class BaseClient
{
    private const FIRST_POLL_S = 1.0;
    private const POLL_S_MAX = 10.0;
    /** Time for a last lookup, and for the cancellation of an order that was refused at the deadline. */
    private const LAST_STEP_S = 1.0;

    private readonly Sender $sender;

    /**
     * @param string $baseUrl ends with `/v1`; it is https, except on this machine
     * @param string $apiKey `live_...` or `test_...`
     * @param float $timeout seconds of a call with all its attempts: a new minute of the rate limit (60 s) and an attempt
     * @param float $attemptTimeout seconds of one attempt; the service answers within 30 s
     * @param ?ClientInterface $http used instead of Guzzle. It must not retry or follow redirects, and ends an attempt by itself
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] string $apiKey,
        private readonly float $timeout = 90.0,
        float $attemptTimeout = 35.0,
        ?ClientInterface $http = null,
        LoggerInterface $logger = new NullLogger(),
        private readonly Clock $clock = new Clock(),
    ) {
        // As an environment variable or a file has it.
        $baseUrl = trim($baseUrl);
        $url = preg_match('/\s/', $baseUrl) === 0 ? parse_url($baseUrl) ?: [] : [];
        if (!isset($url['host']) || !str_ends_with(rtrim($url['path'] ?? '', '/'), '/v1') || isset($url['query']) || isset($url['fragment'])) {
            throw new \InvalidArgumentException('baseUrl must be a URL that ends with /v1');
        }
        if (isset($url['user'])) {
            throw new \InvalidArgumentException('baseUrl must not have a user: requests carry the API key instead');
        }
        $isLocal = ($url['scheme'] ?? '') === 'http' && preg_match('/^(localhost|127\.[\d.]+|\[::1])$/D', $url['host'] ?? '') === 1;
        if (($url['scheme'] ?? '') !== 'https' && !$isLocal) {
            throw new \InvalidArgumentException('baseUrl must be https, because requests carry the API key');
        }
        if (preg_match('/^(live|test)_[\w-]+$/D', $apiKey) !== 1) {
            throw new \InvalidArgumentException('apiKey must be a key of the service: live_... or test_...');
        }
        // Guzzle takes 0 for no limit, and curl a part of a millisecond for 0.
        if (!($timeout >= 0.001 && $attemptTimeout >= 0.001)) {
            throw new \InvalidArgumentException('timeout and attemptTimeout must be seconds above 0');
        }
        $this->sender = new Sender(rtrim($baseUrl, '/'), new \SensitiveParameterValue($apiKey), $attemptTimeout, $http, $clock, $logger);
    }

    /**
     * 128 random bits for an order. Save it with your order before you send that. It has no digits, so it cannot contain the
     * order's phone number, which the service refuses.
     */
    public static function newReference(): string
    {
        return strtr(bin2hex(random_bytes(16)), '0123456789abcdef', 'abcdefghijklmnop');
    }

    /**
     * Looks a transaction up until it is `success` or `failed`.
     *
     * @throws WaitEndedException
     */
    public function wait(string $reference, float $timeout = 120.0): Transaction
    {
        $path = '/transactions/' . self::checked($reference);
        [$deadline, $poll, $transaction] = [$this->clock->now() + $timeout, self::FIRST_POLL_S, null];
        while (true) {
            $cause = null;
            try {
                $left = max($deadline - $this->clock->now(), self::LAST_STEP_S);
                $transaction = $this->get($path, TransactionLookup::fromFields(...), reference: $reference, timeout: $left)->transaction;
                if ($transaction->status !== 'processing') {
                    return $transaction;
                }
            } catch (ServiceException|NoAnswerException $cause) {
            }
            // The order's request may still be under way, and the service may answer the next lookup.
            $mayBeFound = !$cause instanceof ServiceException || $cause->errorCode === 'not_found' || $cause->retryAfterS !== null || $cause->status >= 500;
            $left = $deadline - $this->clock->now();
            if ($left < 2 * self::LAST_STEP_S || !$mayBeFound) {
                $seen = $transaction ? 'is still processing: do not order again' : 'was not found: send the same order again';
                throw new WaitEndedException("The transaction $reference $seen, or wait again", $reference, $transaction, $cause);
            }
            $this->clock->sleep(min($poll * (0.75 + random_int(0, 1_000_000) / 2e6), $left - self::LAST_STEP_S));
            $poll = min($poll * 1.5, self::POLL_S_MAX);
        }
    }

    /**
     * @template T of object
     * @param \Closure(Fields): T $read
     * @param array<string, ?string> $query
     * @param ?string $reference that the answer's transaction must have
     * @return T
     */
    protected function get(string $path, \Closure $read, array $query = [], ?string $reference = null, ?float $timeout = null): object
    {
        $asked = array_filter($query, static fn (?string $value): bool => $value !== null);
        $target = $asked === [] ? $path : $path . '?' . http_build_query($asked);
        $named = $reference === null ? [] : ['reference' => $reference];
        return $this->sender->send(new Request('GET', $target, $read, $asked + $named), $timeout ?? $this->timeout);
    }

    /**
     * Another order can have the reference, of whatever type: the answer is how that one is.
     *
     * @template T of object
     * @param \Closure(Fields): T $read
     * @return T
     */
    protected function cancel(string $path, \Closure $read, CancelRequest $request, ?float $timeout = null): object
    {
        $body = self::json($request->toArray());
        $asked = ['reference' => self::checked($request->reference)];
        return $this->sender->send(new Request('POST', $path, $read, $asked, $body), $timeout ?? $this->timeout);
    }

    /**
     * Places an order. A refusal that it would meet again is made final by a cancellation.
     *
     * @template T of object
     * @param \Closure(Fields): T $read
     * @param array<string, mixed> $fields
     * @return T
     */
    protected function place(string $path, \Closure $read, string $type, #[\SensitiveParameter] array $fields, string $reference, bool $confirmDuplicate = false): object
    {
        $sent = [...$fields, 'reference' => self::checked($reference)];
        $headers = $confirmDuplicate ? ['X-Confirm-Duplicate' => 'true'] : [];
        $phone = $fields['phone_number'] ?? null;
        $asked = ['type' => $type, 'reference' => $reference] + (is_string($phone) ? ['phone_number' => $phone] : []);
        $request = new Request('POST', $path, $read, $asked, self::json($sent), $headers, $reference);
        $deadline = $this->clock->now() + $this->timeout;
        $left = fn (): float => max($deadline - $this->clock->now(), self::LAST_STEP_S);
        try {
            return $this->sender->send($request, $this->timeout);
        } catch (OutcomeUnknownException $unknown) {
            $refusal = $unknown->getPrevious();
            if (!$refusal instanceof ServiceException || !self::isLasting($refusal)) {
                throw $unknown;
            }
        }
        try {
            $cancellation = new CancelRequest($reference, $type);
            $found = $this->cancel('/transactions/cancel', TransactionLookup::fromFields(...), $cancellation, $left())->transaction;
        } catch (AirtimeException) {
            throw $unknown;
        }
        if ($found->errorCode === 'order_cancelled') {
            $refusal->transactionReference = $found->reference;
            throw $refusal;
        }
        // Another request than the refused one placed the order: a replay is its answer.
        return $this->sender->send($request, $left());
    }

    /**
     * A refusal that the same order meets again. It decides nothing by itself: a copy that something on the way sends later can
     * still be carried out, for example once the wallet is funded. So the order is cancelled, and then has failed. One of the
     * reference itself is left to the app: another order has it, or it holds the person's number.
     */
    private static function isLasting(ServiceException $refusal): bool
    {
        return in_array($refusal->status, [400, 422], true) && $refusal->errorCode !== 'reference_reused' && !array_key_exists('reference', $refusal->fields);
    }

    /** @param array<string, mixed> $fields */
    private static function json(#[\SensitiveParameter] array $fields): string
    {
        $json = json_encode($fields);
        return $json !== false ? $json : throw new \InvalidArgumentException('A field cannot be sent: ' . json_last_error_msg());
    }

    protected static function checked(string $reference): string
    {
        // In the path of a lookup, a URL takes . and .. for folders.
        return preg_match('/^(?!\.{1,2}$)[\w.:-]{1,100}$/D', $reference) === 1 ? $reference
            : throw new \InvalidArgumentException('reference must be 1 to 100 of the characters A-Z a-z 0-9 . _ : - and not . or ..');
    }
}
