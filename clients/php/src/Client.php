<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService;

use AirtimeService\Model\{AirtimePurchaseRequest, BvnRetrieval, BvnVerification, BvnVerifyRequest, CancelRequest, Catalog, DataPurchaseRequest, NinRetrieval, NinVerification, NinVerifyRequest, Purchase, RetrieveRequest, Transaction, TransactionLookup, TransactionPage, Wallet, WalletWallet};

/** A client of the service. Every order has a reference, and is charged and delivered once, however often it is sent. */
final class Client extends BaseClient
{
    /** List active networks and data plans. */
    public function listCatalog(): Catalog
    {
        return $this->get('/vtu/data', Catalog::fromFields(...));
    }

    /** Buy a data bundle. In live mode the price is debited from the wallet first. `processing` means that the outcome is not known yet: do not order again, but wait for the `transaction.updated` webhook or look the transaction up. Needs a key with the permission `vtu`. */
    public function buyData(#[\SensitiveParameter] DataPurchaseRequest $order, string $reference, bool $confirmDuplicate = false): Purchase
    {
        return $this->place('/vtu/data/purchase', Purchase::fromFields(...), 'data', $order->toArray(), $reference, $confirmDuplicate);
    }

    /** Buy airtime. In live mode the price is debited from the wallet first. `processing` means that the outcome is not known yet: do not order again, but wait for the `transaction.updated` webhook or look the transaction up. Needs a key with the permission `vtu`. */
    public function buyAirtime(#[\SensitiveParameter] AirtimePurchaseRequest $order, string $reference, bool $confirmDuplicate = false): Purchase
    {
        return $this->place('/vtu/airtime/purchase', Purchase::fromFields(...), 'airtime', $order->toArray(), $reference, $confirmDuplicate);
    }

    /** Verify a NIN. The account must be entitled to basic or advanced checks. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity`. */
    public function verifyNin(#[\SensitiveParameter] NinVerifyRequest $order, string $reference): NinVerification
    {
        return $this->place('/identity/nin/verify', NinVerification::fromFields(...), 'nin_verification', $order->toArray(), $reference);
    }

    /** Retrieve NIN details by phone number. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity:retrieve`. */
    public function retrieveNin(#[\SensitiveParameter] RetrieveRequest $order, string $reference): NinRetrieval
    {
        return $this->place('/identity/nin/retrieve', NinRetrieval::fromFields(...), 'nin_retrieval', $order->toArray(), $reference);
    }

    /** Verify a BVN. The account must be entitled to basic or advanced checks. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity`. */
    public function verifyBvn(#[\SensitiveParameter] BvnVerifyRequest $order, string $reference): BvnVerification
    {
        return $this->place('/identity/bvn/verify', BvnVerification::fromFields(...), 'bvn_verification', $order->toArray(), $reference);
    }

    /** Retrieve BVN details by phone number. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity:retrieve`. */
    public function retrieveBvn(#[\SensitiveParameter] RetrieveRequest $order, string $reference): BvnRetrieval
    {
        return $this->place('/identity/bvn/retrieve', BvnRetrieval::fromFields(...), 'bvn_retrieval', $order->toArray(), $reference);
    }

    /** Read the prepaid wallet. Needs a key with the permission `read`. */
    public function getWallet(): WalletWallet
    {
        return $this->get('/wallet', Wallet::fromFields(...))->wallet;
    }

    /** Look up a transaction by the service's reference or the caller's. Needs a key with the permission `read`. */
    public function getTransaction(string $reference): Transaction
    {
        return $this->get('/transactions/' . self::checked($reference), TransactionLookup::fromFields(...), reference: $reference)->transaction;
    }

    /** List transactions, newest first. A transaction is in the list some moments after it was made. Whether an order exists is found by its reference. Needs a key with the permission `read`. */
    public function listTransactions(?string $status = null, ?string $type = null, ?string $from = null, ?string $to = null, ?string $cursor = null): TransactionPage
    {
        return $this->get('/transactions', TransactionPage::fromFields(...), ['status' => $status, 'type' => $type, 'from' => $from, 'to' => $to, 'cursor' => $cursor]);
    }

    /** Cancel an order that is not placed. Makes sure that no request with this `reference` places an order from now on, also no copy of an earlier request that arrives late. If no order has the `reference`, it is recorded as `failed`, `order_cancelled`, and nothing was charged. An order that was placed is not changed: its `status` is its current one. A lookup that finds nothing cannot say that an order stays unplaced; this can. Needs a key with the permission `vtu` or `identity` or `identity:retrieve`. */
    public function cancelOrder(string $reference, string $type): Transaction
    {
        return $this->cancel('/transactions/cancel', TransactionLookup::fromFields(...), new CancelRequest($reference, $type))->transaction;
    }
}
