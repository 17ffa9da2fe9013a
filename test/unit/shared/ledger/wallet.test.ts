import { expect, test } from "vitest";
import { emptyWallet, ordersOnDay } from "../../../../shared/ledger/wallet.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

test("the orders of a day are counted by kind, and those of another day are not", () => {
  const wallet = { ...emptyWallet("acc_1", NOON_MS), quota_day: 7, quota_used_vtu: 3 };
  expect([ordersOnDay(wallet, "vtu", 7), ordersOnDay(wallet, "identity", 7), ordersOnDay(wallet, "vtu", 8)]).toEqual([
    ...[3, 0, 0],
  ]);
});
