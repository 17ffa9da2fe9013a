<?php

declare(strict_types=1);

namespace AirtimeService;

use AirtimeService\Model\{AirtimePurchaseRequest, BvnRetrieval, BvnVerification, BvnVerifyRequest, CancelRequest, Catalog, DataPurchaseRequest, IdentityTransaction, NinRetrieval, NinVerification, NinVerifyRequest, Purchase, PurchasedTransaction, RetrieveRequest, Transaction, TransactionLookup, TransactionPage, Wallet, WalletWallet};
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Log\{LoggerInterface, NullLogger};

/** A client of the service. Every order has a reference, and is charged and delivered once, however often it is sent. */
final class Client
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
        #[\SensitiveParameter] private readonly string $apiKey,
        private readonly float $timeout = 90.0,
        float $attemptTimeout = 35.0,
        ?ClientInterface $http = null,
        LoggerInterface $logger = new NullLogger(),
        private readonly Clock $clock = new Clock(),
    ) {
        $url = parse_url($baseUrl) ?: [];
        if (!str_ends_with(rtrim($url['path'] ?? '', '/'), '/v1') || isset($url['query']) || isset($url['fragment'])) {
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
        $this->sender = new Sender(rtrim($baseUrl, '/'), $apiKey, $attemptTimeout, $http, $clock, $logger);
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
     * Buys a data bundle or airtime.
     *
     * @param bool $confirmDuplicate the order is meant, although it is like one of shortly before
     */
    public function buy(DataPurchaseRequest|AirtimePurchaseRequest $order, string $reference, bool $confirmDuplicate = false): Order
    {
        $type = $order instanceof DataPurchaseRequest ? 'data' : 'airtime';
        $read = function (Fields $data, ResponseInterface $response) use ($type, $order, $reference): ?Order {
            $bought = Purchase::fromFields($data)->transaction;
            // Of an old order only the last digits of the phone number are shown, after stars.
            $isMine = str_ends_with($order->phoneNumber, ltrim($bought->phoneNumber ?? '', '*'));
            $waits = Sender::wholeNumber($response->getHeaderLine('x-estimated-delivery'));
            return $isMine && $this->isOf($bought, $type, $reference) ? new Order($bought, self::isReplay($response), $waits) : null;
        };
        $headers = $confirmDuplicate ? ['X-Confirm-Duplicate' => 'true'] : [];
        return $this->place("/vtu/$type/purchase", $type, $order->toArray(), $reference, $read, $headers);
    }

    /** Verifies a person by NIN or BVN. It is charged if a record is found. */
    public function verify(NinVerifyRequest|BvnVerifyRequest $check, string $reference): Check
    {
        return $check instanceof NinVerifyRequest
            ? $this->check('/identity/nin/verify', 'nin_verification', $check->toArray(), $reference, NinVerification::fromFields(...))
            : $this->check('/identity/bvn/verify', 'bvn_verification', $check->toArray(), $reference, BvnVerification::fromFields(...));
    }

    /** Finds a person's NIN by phone number. It needs a key with the permission `identity:retrieve`. */
    public function retrieveNin(RetrieveRequest $check, string $reference): Check
    {
        return $this->check('/identity/nin/retrieve', 'nin_retrieval', $check->toArray(), $reference, NinRetrieval::fromFields(...));
    }

    /** Finds a person's BVN by phone number. It needs a key with the permission `identity:retrieve`. */
    public function retrieveBvn(RetrieveRequest $check, string $reference): Check
    {
        return $this->check('/identity/bvn/retrieve', 'bvn_retrieval', $check->toArray(), $reference, BvnRetrieval::fromFields(...));
    }

    /** Networks and data plans. Keep them for as long as your app needs, at most an hour. */
    public function catalog(): Catalog
    {
        return $this->sender->send(new Request('GET', '/vtu/data', Catalog::fromFields(...)), $this->timeout);
    }

    /** The prepaid balance. */
    public function wallet(): WalletWallet
    {
        return $this->sender->send(new Request('GET', '/wallet', Wallet::fromFields(...)), $this->timeout)->wallet;
    }

    /**
     * One transaction, by the service's reference or yours. A ServiceException with the code `not_found` means that there is
     * none so far: a request that is under way can still make one.
     */
    public function transaction(string $reference): Transaction
    {
        return $this->lookup($reference, $this->timeout);
    }

    /**
     * A page of your transactions, newest first.
     *
     * @param array<string, string> $query `status`, `type`, `from`, `to`, and as `cursor` the `nextCursor` of the page before
     */
    public function transactions(array $query = []): TransactionPage
    {
        $read = function (Fields $data) use ($query): ?TransactionPage {
            $page = TransactionPage::fromFields($data);
            // The page of another list, or the one before: its cursor would be followed for ever.
            $isMine = $page->nextCursor === null || $page->nextCursor !== ($query['cursor'] ?? null);
            foreach ($page->transactions as $each) {
                $isListed = ($query['status'] ?? $each->status) === $each->status && ($query['type'] ?? $each->type) === $each->type;
                $isMine = $isMine && $isListed && $this->isReadable($each);
            }
            return $isMine ? $page : null;
        };
        return $this->sender->send(new Request('GET', '/transactions?' . http_build_query($query), $read), $this->timeout);
    }

    /**
     * Looks a transaction up until it is `success` or `failed`.
     *
     * @throws WaitEndedException
     */
    public function wait(string $reference, float $timeout = 120.0): Transaction
    {
        [$deadline, $transaction] = [$this->clock->now() + $timeout, null];
        for ($poll = self::FIRST_POLL_S; ; $poll = min($poll * 1.5, self::POLL_S_MAX)) {
            $cause = null;
            try {
                $transaction = $this->lookup($reference, max($deadline - $this->clock->now(), self::LAST_STEP_S));
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
        }
    }

    /**
     * Gives an order up: no request with this reference places it from now on, also none that is still on its way. `failed` if
     * the order was not placed or failed before, else `success` or `processing` as it is.
     *
     * @param string $type of the order: `data`, `airtime`, `nin_verification`, `bvn_verification`, `nin_retrieval` or `bvn_retrieval`
     */
    public function cancel(string $reference, string $type): Transaction
    {
        return $this->cancelWithin($reference, $type, $this->timeout);
    }

    /** @param \Closure(Fields): (NinVerification|BvnVerification|NinRetrieval|BvnRetrieval) $parse
     *  @param array<string, mixed> $check */
    private function check(string $path, string $type, array $check, string $reference, \Closure $parse): Check
    {
        $read = function (Fields $data, ResponseInterface $response) use ($type, $reference, $parse): ?Check {
            $checked = $parse($data);
            $isMine = $this->isOf($checked->transaction, $type, $reference);
            return $isMine ? new Check($checked->transaction, self::isReplay($response), $checked->result) : null;
        };
        // Only the same request gets the result, for 10 minutes: a lookup does not show it. So it is sent again.
        $isPreliminary = static fn (Check $check): bool => $check->transaction->status === 'processing' && $check->result === null;
        return $this->place($path, $type, $check, $reference, $read, [], $isPreliminary);
    }

    /**
     * @template T of object
     * @param array<string, mixed> $fields
     * @param \Closure(Fields, ResponseInterface): ?T $read
     * @param array<string, string> $headers
     * @param ?\Closure(T): bool $isPreliminary
     * @return T
     */
    private function place(string $path, string $type, array $fields, string $reference, \Closure $read, array $headers, ?\Closure $isPreliminary = null): object
    {
        $body = json_encode([...$fields, 'reference' => self::checked($reference)], JSON_THROW_ON_ERROR);
        $request = new Request('POST', $path, $read, $body, $headers, $reference, $isPreliminary);
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
            $found = $this->cancelWithin($reference, $type, $left());
        } catch (AirtimeException) {
            throw $unknown;
        }
        // Another request than the refused one may have placed the order: a replay is its answer.
        return $found->errorCode === 'order_cancelled' ? throw $refusal->withTransaction($found->reference) : $this->sender->send($request, $left());
    }

    /**
     * A refusal that the same order meets again. It decides nothing by itself: a copy that something on the way sends later can
     * still be carried out, for example once the wallet is funded. So the order is cancelled, and then has failed. One of the
     * reference itself is left to the app: another order has it, or it holds the person's number.
     */
    private static function isLasting(ServiceException $refusal): bool
    {
        return in_array($refusal->status, [400, 422], true) && $refusal->errorCode !== 'reference_reused' && !isset($refusal->fields['reference']);
    }

    private function lookup(string $reference, float $timeout): Transaction
    {
        $path = '/transactions/' . rawurlencode(self::checked($reference));
        return $this->sender->send(new Request('GET', $path, $this->reader($reference)), $timeout);
    }

    private function cancelWithin(string $reference, string $type, float $timeout): Transaction
    {
        $body = json_encode((new CancelRequest(self::checked($reference), $type))->toArray(), JSON_THROW_ON_ERROR);
        return $this->sender->send(new Request('POST', '/transactions/cancel', $this->reader($reference), $body), $timeout);
    }

    /** @return \Closure(Fields): ?Transaction */
    private function reader(string $reference): \Closure
    {
        return function (Fields $data) use ($reference): ?Transaction {
            $found = TransactionLookup::fromFields($data)->transaction;
            return in_array($reference, [$found->reference, $found->callerReference], true) && $this->isReadable($found) ? $found : null;
        };
    }

    /**
     * A status that this release does not know is no answer: an app that compares with `success` would take it for `failed`.
     * Nor is a transaction of the other mode: a simulated success delivers nothing.
     */
    private function isReadable(Transaction|PurchasedTransaction|IdentityTransaction $transaction): bool
    {
        $isTest = str_starts_with($transaction->reference, 'TEST_');
        return in_array($transaction->status, ['processing', 'success', 'failed'], true) && $isTest === str_starts_with($this->apiKey, 'test_');
    }

    private function isOf(PurchasedTransaction|IdentityTransaction $transaction, string $type, string $reference): bool
    {
        return $transaction->callerReference === $reference && $transaction->type === $type && $this->isReadable($transaction);
    }

    private static function isReplay(ResponseInterface $response): bool
    {
        return $response->getHeaderLine('idempotent-replayed') === 'true';
    }

    private static function checked(string $reference): string
    {
        // In the path of a lookup, a URL takes . and .. for folders.
        return preg_match('/^(?!\.{1,2}$)[\w.:-]{1,100}$/D', $reference) === 1 ? $reference
            : throw new \InvalidArgumentException('reference must be 1 to 100 of the characters A-Z a-z 0-9 . _ : - and not . or ..');
    }
}
