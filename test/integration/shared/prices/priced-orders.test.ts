import { expect, test } from "vitest";
import { changePriceRules } from "../../../../shared/access/accounts.ts";
import { successEnvelope } from "../../../../shared/contract/envelope.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { findByOwnReference } from "../../../../shared/ledger/find-transactions.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import type { PriceRule } from "../../../../shared/prices/price-rule.ts";
import { serviceForTests, type TestService, transactionOf } from "../../../builders/service/service.ts";

/** Goal: catalog, debit and response show an account its own price, the upstream gets the face value, replays keep the price. */
const service = await serviceForTests();

const percentOf = (kind: PriceRule["kind"], percent: number): PriceRule => ({
  id: `pr_${kind}`,
  kind,
  from: isoTime(Date.now() - 1_000),
  change: { by: "percent", percent },
});
const setRules = (accountId: string, ...rules: readonly PriceRule[]) =>
  changePriceRules(service.accounts, accountId, () => rules);
const stored = async (answer: Awaited<ReturnType<TestService["call"]>>) =>
  findByOwnReference(service.ledger, String(transactionOf(answer).reference));

test("an airtime order is debited at the account's price, sent with its face value, and replayed at its old price", async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  await setRules(caller.accountId, percentOf("airtime", -2));
  const buy = (reference: string) => {
    const body = { network: "mtn", phone_number: "08031234567", amount: 100, reference };
    return service.call("POST", "/vtu/airtime/purchase", { key: caller.key, body });
  };
  const answer = await buy("priced-1");
  expect(transactionOf(answer)).toMatchObject({
    status: "success",
    amount: 98,
    description: "MTN airtime of NGN 100.00 for 08031234567",
  });
  expect(await caller.balance()).toBe(902);
  expect(service.simulator.state.requests.at(-1)?.body).toMatchObject({ amount: 100 });
  expect(await stored(answer)).toMatchObject({
    amount_kobo: 98_00,
    face_kobo: 100_00,
    upstream_amount_kobo: 100_00,
    cost_kobo: 97_00,
    price_rule: "pr_airtime",
  });
  await setRules(caller.accountId, percentOf("airtime", -1));
  const replay = await buy("priced-1");
  expect(replay.headers.get("idempotent-replayed")).toBe("true");
  expect(transactionOf(replay).amount).toBe(98);
  expect(await caller.balance()).toBe(902);
  expect(transactionOf(await buy("priced-2")).amount).toBe(99);
});

test("an account's catalog has its prices, with a tag of its own, and another account's the face values", async () => {
  const [caller, other] = [await service.newCaller(), await service.newCaller()];
  const list = (key: string, etag = "") =>
    fetch(`${service.baseUrl}/vtu/data`, { headers: { authorization: `Bearer ${key}`, "if-none-match": etag } });
  const before = await list(caller.key);
  const tag = before.headers.get("etag") ?? "";
  expect((await list(caller.key, tag)).status).toBe(304);
  await setRules(caller.accountId, percentOf("data", -4));
  const priced = await list(caller.key, tag);
  expect(priced.status).toBe(200);
  const price = async (answer: Response) =>
    successEnvelope(routes.listCatalog.data).parse(await answer.json()).data.data_plans[0]?.price;
  expect([await price(before), await price(priced)]).toEqual([500, 480]);
  expect((await list(caller.key, priced.headers.get("etag") ?? "")).status).toBe(304);
  expect((await list(other.key, tag)).status).toBe(304);
  const order = { network_id: 1, plan_id: 101, phone_number: "08031234567", expected_price: 480 };
  const bought = await service.call("POST", "/vtu/data/purchase", { key: caller.key, body: order });
  expect(transactionOf(bought).amount).toBe(480);
  expect(await stored(bought)).toMatchObject({ face_kobo: 500_00, cost_kobo: 480_00, price_rule: "pr_data" });
});

test("a check is debited at the account's price", async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  await setRules(caller.accountId, percentOf("nin_verification", 10));
  const body = { nin: "12345678901", is_consent: true, mode: "basic" };
  const answer = await service.call("POST", "/identity/nin/verify", { key: caller.key, body });
  expect(answer.body.data).toMatchObject({ transaction: { amount: 165, status: "success" } });
  expect(await caller.balance()).toBe(835);
});
