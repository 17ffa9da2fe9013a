# Written by npm run openapi from docs/openapi.json.
"""The operations of the service, as methods of each kind of client."""

from __future__ import annotations

from . import models
from ._client import AsyncClient, BlockingClient, run
from ._rule import cancel, checked, get, place


class AirtimeClient(BlockingClient):
    """A client of the service. One for each API key is enough for a process; threads can share it."""

    def list_catalog(self) -> models.Catalog:
        """List active networks and data plans."""
        return run(get(self, "/vtu/data", models.Catalog))

    def buy_data(self, order: models.DataPurchaseRequest, *, reference: str, confirm_duplicate: bool = False) -> models.Purchase:
        """Buy a data bundle. In live mode the price is debited from the wallet first. `processing` means that the outcome is not known yet: do not order again, but wait for the `transaction.updated` webhook or look the transaction up. Needs a key with the permission `vtu`."""
        return run(place(self, "/vtu/data/purchase", models.Purchase, "data", order, reference, confirm_duplicate))

    def buy_airtime(self, order: models.AirtimePurchaseRequest, *, reference: str, confirm_duplicate: bool = False) -> models.Purchase:
        """Buy airtime. In live mode the price is debited from the wallet first. `processing` means that the outcome is not known yet: do not order again, but wait for the `transaction.updated` webhook or look the transaction up. Needs a key with the permission `vtu`."""
        return run(place(self, "/vtu/airtime/purchase", models.Purchase, "airtime", order, reference, confirm_duplicate))

    def verify_nin(self, order: models.NinVerifyRequest, *, reference: str) -> models.NinVerification:
        """Verify a NIN. The account must be entitled to basic or advanced checks. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity`."""
        return run(place(self, "/identity/nin/verify", models.NinVerification, "nin_verification", order, reference))

    def retrieve_nin(self, order: models.RetrieveRequest, *, reference: str) -> models.NinRetrieval:
        """Retrieve NIN details by phone number. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity:retrieve`."""
        return run(place(self, "/identity/nin/retrieve", models.NinRetrieval, "nin_retrieval", order, reference))

    def verify_bvn(self, order: models.BvnVerifyRequest, *, reference: str) -> models.BvnVerification:
        """Verify a BVN. The account must be entitled to basic or advanced checks. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity`."""
        return run(place(self, "/identity/bvn/verify", models.BvnVerification, "bvn_verification", order, reference))

    def retrieve_bvn(self, order: models.RetrieveRequest, *, reference: str) -> models.BvnRetrieval:
        """Retrieve BVN details by phone number. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity:retrieve`."""
        return run(place(self, "/identity/bvn/retrieve", models.BvnRetrieval, "bvn_retrieval", order, reference))

    def get_wallet(self) -> models.WalletWallet:
        """Read the prepaid wallet. Needs a key with the permission `read`."""
        return run(get(self, "/wallet", models.Wallet)).wallet

    def get_transaction(self, reference: str) -> models.Transaction:
        """Look up a transaction by the service's reference or the caller's. Needs a key with the permission `read`."""
        return run(get(self, f"/transactions/{checked(reference)}", models.TransactionLookup, reference=reference)).transaction

    def list_transactions(self, *, status: models.TransactionStatus | None = None, type: models.TransactionType | None = None, from_: str | None = None, to: str | None = None, cursor: str | None = None) -> models.TransactionPage:
        """List transactions, newest first. A transaction is in the list some moments after it was made. Whether an order exists is found by its reference. Needs a key with the permission `read`."""
        return run(get(self, "/transactions", models.TransactionPage, {"status": status, "type": type, "from": from_, "to": to, "cursor": cursor}))

    def cancel_order(self, reference: models.Reference, type: models.TransactionType) -> models.Transaction:
        """Cancel an order that is not placed. Makes sure that no request with this `reference` places an order from now on, also no copy of an earlier request that arrives late. If no order has the `reference`, it is recorded as `failed`, `order_cancelled`, and nothing was charged. An order that was placed is not changed: its `status` is its current one. A lookup that finds nothing cannot say that an order stays unplaced; this can. Needs a key with the permission `vtu` or `identity` or `identity:retrieve`."""
        return run(cancel(self, "/transactions/cancel", models.TransactionLookup, models.CancelRequest(reference=reference, type=type))).transaction


class AsyncAirtimeClient(AsyncClient):
    """The same for asyncio and trio. If a call that places an order is cancelled, the order is not decided."""

    async def list_catalog(self) -> models.Catalog:
        """List active networks and data plans."""
        return await get(self, "/vtu/data", models.Catalog)

    async def buy_data(self, order: models.DataPurchaseRequest, *, reference: str, confirm_duplicate: bool = False) -> models.Purchase:
        """Buy a data bundle. In live mode the price is debited from the wallet first. `processing` means that the outcome is not known yet: do not order again, but wait for the `transaction.updated` webhook or look the transaction up. Needs a key with the permission `vtu`."""
        return await place(self, "/vtu/data/purchase", models.Purchase, "data", order, reference, confirm_duplicate)

    async def buy_airtime(self, order: models.AirtimePurchaseRequest, *, reference: str, confirm_duplicate: bool = False) -> models.Purchase:
        """Buy airtime. In live mode the price is debited from the wallet first. `processing` means that the outcome is not known yet: do not order again, but wait for the `transaction.updated` webhook or look the transaction up. Needs a key with the permission `vtu`."""
        return await place(self, "/vtu/airtime/purchase", models.Purchase, "airtime", order, reference, confirm_duplicate)

    async def verify_nin(self, order: models.NinVerifyRequest, *, reference: str) -> models.NinVerification:
        """Verify a NIN. The account must be entitled to basic or advanced checks. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity`."""
        return await place(self, "/identity/nin/verify", models.NinVerification, "nin_verification", order, reference)

    async def retrieve_nin(self, order: models.RetrieveRequest, *, reference: str) -> models.NinRetrieval:
        """Retrieve NIN details by phone number. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity:retrieve`."""
        return await place(self, "/identity/nin/retrieve", models.NinRetrieval, "nin_retrieval", order, reference)

    async def verify_bvn(self, order: models.BvnVerifyRequest, *, reference: str) -> models.BvnVerification:
        """Verify a BVN. The account must be entitled to basic or advanced checks. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity`."""
        return await place(self, "/identity/bvn/verify", models.BvnVerification, "bvn_verification", order, reference)

    async def retrieve_bvn(self, order: models.RetrieveRequest, *, reference: str) -> models.BvnRetrieval:
        """Retrieve BVN details by phone number. Charged only if a record is found. With a `reference` the same request gets its result again for 10 minutes without another charge. Needs a key with the permission `identity:retrieve`."""
        return await place(self, "/identity/bvn/retrieve", models.BvnRetrieval, "bvn_retrieval", order, reference)

    async def get_wallet(self) -> models.WalletWallet:
        """Read the prepaid wallet. Needs a key with the permission `read`."""
        return (await get(self, "/wallet", models.Wallet)).wallet

    async def get_transaction(self, reference: str) -> models.Transaction:
        """Look up a transaction by the service's reference or the caller's. Needs a key with the permission `read`."""
        return (await get(self, f"/transactions/{checked(reference)}", models.TransactionLookup, reference=reference)).transaction

    async def list_transactions(self, *, status: models.TransactionStatus | None = None, type: models.TransactionType | None = None, from_: str | None = None, to: str | None = None, cursor: str | None = None) -> models.TransactionPage:
        """List transactions, newest first. A transaction is in the list some moments after it was made. Whether an order exists is found by its reference. Needs a key with the permission `read`."""
        return await get(self, "/transactions", models.TransactionPage, {"status": status, "type": type, "from": from_, "to": to, "cursor": cursor})

    async def cancel_order(self, reference: models.Reference, type: models.TransactionType) -> models.Transaction:
        """Cancel an order that is not placed. Makes sure that no request with this `reference` places an order from now on, also no copy of an earlier request that arrives late. If no order has the `reference`, it is recorded as `failed`, `order_cancelled`, and nothing was charged. An order that was placed is not changed: its `status` is its current one. A lookup that finds nothing cannot say that an order stays unplaced; this can. Needs a key with the permission `vtu` or `identity` or `identity:retrieve`."""
        return (await cancel(self, "/transactions/cancel", models.TransactionLookup, models.CancelRequest(reference=reference, type=type))).transaction
