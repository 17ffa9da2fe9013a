import { expect, test } from "vitest";
import { priceListPk } from "../../../../shared/ledger/schema.ts";
import { priceListWrites } from "../../../../shared/prices/price-list.ts";

test("a price list is written with each change of it, and with no other change of its account", () => {
  const account = (version: number) => ({ account_id: "acc_1", price_list: { version, rules: [] } });
  const none = { account_id: "acc_1" };
  const Item = { pk: priceListPk("acc_1"), account_id: "acc_1", version: 2, rules: [] };
  const written = [{ Put: { TableName: "ledger", Item } }];
  expect(priceListWrites("ledger", account(1), account(2))).toEqual(written);
  expect(priceListWrites("ledger", none, account(2))).toEqual(written);
  expect(priceListWrites("ledger", account(2), account(2))).toEqual([]);
  expect(priceListWrites("ledger", none, none)).toEqual([]);
});
