import { expect, test } from "vitest";
import { subscriptionWrites } from "../../../../shared/access/subscription-item.ts";
import { subscriptionPk, subscriptionsTo } from "../../../../shared/ledger/schema.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const LOW = "wallet.low";
const NEAR = "limit.near";

const account = (choices: Readonly<Record<string, readonly string[]>>, status = "active") => ({
  ...{ account_id: "acc_1", status },
  endpoints: Object.entries(choices).map(([id, events]) => ({ id, events })),
});
const both = account({ 1: ["transaction.updated", LOW, NEAR], 2: [LOW] });
const closed = { ...both, status: "closed" };
const one = account({ 1: [LOW] });

const itemsOf = (...[before, after]: readonly [typeof both, typeof both]) =>
  subscriptionWrites({ ledgerTable: "ledger", clock: () => NOON_MS }, before, after).map(({ Put }) => Put?.Item);

test.each([
  ["a choice that stays changes nothing", both, both, []],
  ["a choice of another endpoint begins", one, account({ 1: [LOW], 2: [LOW] }), ["begins 2 wallet.low"]],
  ["another choice ends the first", one, account({ 1: [NEAR] }), ["begins 1 limit.near", "ends 1 wallet.low"]],
  ["a removed endpoint ends its choices", both, account({ 2: [LOW] }), ["ends 1 limit.near", "ends 1 wallet.low"]],
  ["a closed account ends all", both, closed, ["ends 1 limit.near", "ends 1 wallet.low", "ends 2 wallet.low"]],
  ["a reopened one begins all", closed, both, ["begins 1 limit.near", "begins 1 wallet.low", "begins 2 wallet.low"]],
])("subscriptions: %s", (_case, before, after, expected) => {
  const changes = itemsOf(before, after).map(
    (item) => `${item?.open === undefined ? "ends" : "begins"} ${item?.endpoint} ${item?.event}`,
  );
  expect(changes.toSorted()).toEqual(expected);
});

test("a subscription is listed from the time of its choice until its end", () => {
  const now = isoTime(NOON_MS);
  const item = {
    ...{ pk: subscriptionPk(LOW, { accountId: "acc_1", endpoint: "1" }), account_id: "acc_1" },
    ...{ endpoint: "1", event: LOW, updated_at: now },
  };
  expect(itemsOf(account({}), one)).toEqual([{ ...item, open: subscriptionsTo(LOW), listed_at: now }]);
  expect(itemsOf(one, account({}))).toEqual([item]);
});
